// SPDX-License-Identifier: Apache-2.0
#include "base/write_target.hpp"

#include <charconv>

#include "base/error.hpp"

namespace amsp {
namespace fs = std::filesystem;
namespace {

// Linux follows as many (MAXSYMLINKS).
constexpr int kMostLinks = 40;

// N of "/proc/self/fd/N", by whichever name.
std::optional<int> own_descriptor(const fs::path& link) {
  std::error_code error;
  if (!fs::equivalent(link.parent_path(), "/proc/self/fd", error)) return std::nullopt;
  const std::string name = link.filename().string();
  int number = -1;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failed != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

WriteTarget write_target(const fs::path& file) {
  std::error_code error;
  WriteTarget target{file, std::nullopt, false};
  for (int links = 0; fs::is_symlink(fs::symlink_status(target.file, error)); ++links) {
    if (links == kMostLinks)
      throw InputError({file.string(), ""}, "cannot be written: its symbolic links go round");
    target.descriptor = own_descriptor(target.file);
    target.in_place = target.descriptor.has_value();
    if (target.in_place) return target;
    const fs::path next = fs::read_symlink(target.file, error);
    if (error) break;
    target.file = target.file.parent_path() / next;  // an absolute one replaces all
  }
  const fs::file_status status = fs::status(target.file, error);
  target.in_place = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  return target;
}

}  // namespace amsp
