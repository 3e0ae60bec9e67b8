// SPDX-License-Identifier: Apache-2.0
#include "base/output_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/write_target.hpp"

namespace amsp {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw InputError({path.string(), ""}, "cannot be written: " + why);
}

// Only an attempt tells (read-only file systems, quotas, /proc).
void try_file_in(const fs::path& folder, const fs::path& asked) {
  const std::string probe = (folder / fmt::format(".amsp-{}.part", ::getpid())).string();
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) refuse(asked, fmt::format("in {}: {}", folder.string(), std::strerror(errno)));
  ::close(file);
  ::unlink(probe.c_str());
}

// The nearest folder that exists must take files.
void check_parent(const fs::path& folder, const fs::path& asked) {
  std::error_code error;
  fs::path at = folder.empty() ? fs::path(".") : folder;
  while (!fs::exists(at, error)) {
    if (fs::is_symlink(fs::symlink_status(at, error)))
      refuse(asked, fmt::format("{} is a link to nothing", at.string()));
    const fs::path up = at.parent_path();
    if (up == at) break;
    at = up.empty() ? fs::path(".") : up;
  }
  if (!fs::is_directory(at, error))
    refuse(asked, fmt::format("{} is a file, not a folder", at.string()));
  try_file_in(at, asked);
}

// Absolute, behind links as far as it exists, without a last "/".
fs::path whole(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path found = fs::weakly_canonical(absolute, error);
  if (error) found = absolute.lexically_normal();
  return found.has_filename() ? found : found.parent_path();
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  const fs::path in = whole(inner), out = whole(outer);
  return std::mismatch(out.begin(), out.end(), in.begin(), in.end()).first == out.end();
}

}  // namespace

void check_output_file(const fs::path& file, const std::vector<fs::path>& made) {
  std::error_code error;
  if (file.empty()) throw InputError("an empty text is not the name of a file");
  const WriteTarget target = write_target(file);
  if (target.in_place) return;
  if (fs::is_directory(target.file, error) || !file.has_filename())
    refuse(file, "is a folder, not a file");
  const fs::path folder = target.file.parent_path();
  check_parent(folder, file);
  const bool will_be = std::any_of(made.begin(), made.end(),
                                   [&](const fs::path& one) { return lies_in(folder, one); });
  if (!folder.empty() && !will_be && !fs::exists(folder, error))
    refuse(file, fmt::format("there is no folder {}; make it first", folder.string()));
}

void check_output_folder(const fs::path& folder) {
  if (folder.empty()) throw InputError("an empty text is not the name of a folder");
  check_parent(folder, folder);
}

std::string beside(const fs::path& file, std::string_view name_or_path) {
  const fs::path path(name_or_path);
  const bool is_path = path.has_parent_path() || path.extension() == ".json";
  if (!is_path || path.is_absolute() || !file.has_parent_path()) return std::string(name_or_path);
  return (file.parent_path() / path).lexically_normal().string();
}

}  // namespace amsp
