// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/write_target.hpp"

namespace amsp {
namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 30;
  std::error_code error;
  if (fs::is_directory(file, error))
    throw InputError({file.string(), ""}, "is a folder, not a file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw InputError({file.string(), ""}, std::string("cannot be read: ") + std::strerror(errno));
  if (fs::is_regular_file(file, error) && fs::file_size(file, error) > kLargest)
    throw InputError({file.string(), ""}, "larger than 1 GiB");
  std::string content;
  std::vector<char> block(std::size_t{1} << 18);
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    content.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (content.size() > kLargest) throw InputError({file.string(), ""}, "larger than 1 GiB");
  }
  if (stream.bad())
    throw InputError({file.string(), ""},
                     std::string("cannot be read to its end: ") + std::strerror(errno));
  return content;
}

namespace {

// `asked`: what the user called it, for messages.
void write_all(const fs::path& file, const fs::path& asked, std::string_view content) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream)
    throw InputError({asked.string(), ""},
                     std::string("cannot be written: ") + std::strerror(errno));
}

// What is open already takes the text behind what was written to it.
void write_descriptor(int descriptor, const fs::path& asked, std::string_view content) {
  std::fflush(nullptr);
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw InputError({asked.string(), ""},
                       std::string("cannot be written: ") + std::strerror(errno));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A temporary file beside the target, then a rename.
void replace_file(const fs::path& target, const fs::path& asked, std::string_view content) {
  std::error_code error;
  const fs::path temporary = target.string() + fmt::format(".{}.part", ::getpid());
  try {
    write_all(temporary, asked, content);
  } catch (...) {
    fs::remove(temporary, error);
    throw;
  }
  fs::rename(temporary, target, error);
  if (error) {
    const std::string why = error.message();
    fs::remove(temporary, error);
    throw InputError({asked.string(), ""}, "cannot be written: " + why);
  }
}

}  // namespace

void write_file(const fs::path& file, std::string_view content) {
  std::error_code error;
  const WriteTarget target = write_target(file);
  if (target.descriptor) return write_descriptor(*target.descriptor, file, content);
  if (target.in_place) return write_all(target.file, file, content);
  if (fs::is_directory(target.file, error))
    throw InputError({file.string(), ""}, "is a folder, cannot be written as a file");
  error.clear();  // the query above reports a missing file
  const fs::path folder = target.file.parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error)
    throw InputError({file.string(), ""}, fmt::format("its folder {} cannot be made: {}",
                                                      folder.string(), error.message()));
  replace_file(target.file, file, content);
}

std::string sha256(std::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(content.data(), content.size(), digest.data(), &length, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

namespace {

// This program's file; without /proc (a bare chroot), as it was started.
fs::path own_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!self.empty()) return self;
  const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return started == nullptr ? fs::path() : fs::canonical(started, error);
}

}  // namespace

fs::path data_folder(std::string_view kind) {
  std::error_code error;
  if (const char* set = std::getenv("AMSP_DATA"); set != nullptr && *set != '\0')
    return fs::path(set) / kind;
  // An installed program uses what was installed with it, also where it was built. Programs of
  // others that link our libraries find the folder of the installation or of the Debian package.
  for (const fs::path& folder : {own_program().parent_path().parent_path() / "share/amsp",
                                 fs::path(AMSP_SOURCE_DATA), fs::path(AMSP_INSTALLED_DATA)})
    if (fs::is_directory(folder / kind, error)) return folder / kind;
  return fs::path("/usr/share/amsp") / kind;
}

std::vector<std::string> data_names(std::string_view kind) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_folder(kind), error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path resolve_data(std::string_view what, std::string_view kind, std::string_view name_or_path) {
  std::error_code error;
  const fs::path path(name_or_path);
  const bool looks_like_path = path.has_parent_path() || path.extension() == ".json";
  if (looks_like_path || fs::is_regular_file(path, error)) {
    if (!fs::exists(path, error))
      throw InputError({path.string(), ""}, fmt::format("no such {} file", what));
    return path;
  }
  const fs::path shipped = data_folder(kind) / fmt::format("{}.json", name_or_path);
  if (fs::exists(shipped, error)) return shipped;
  if (fs::is_directory(path, error))
    throw InputError({path.string(), ""}, "is a folder, not a file");
  if (!fs::is_directory(shipped.parent_path(), error))
    throw InputError(fmt::format(
        "unknown {} \"{}\": there is no shipped data in {} (AMSP_DATA may name another folder)",
        what, name_or_path, shipped.parent_path().string()));
  throw InputError(unknown_name(what, name_or_path, data_names(kind)) + ", or the path of a file");
}

}  // namespace amsp
