// SPDX-License-Identifier: Apache-2.0
// Where a write to a path ends up: behind its symbolic links, or in what is already open.
#pragma once
#include <filesystem>
#include <optional>

namespace amsp {

struct WriteTarget {
  std::filesystem::path file;     // behind all symbolic links; need not exist
  std::optional<int> descriptor;  // of this process: "/dev/stdout", "/dev/fd/3"
  bool in_place = false;          // a device, a pipe, a descriptor: never replaced by another file
};

// Throws InputError when the links go round.
WriteTarget write_target(const std::filesystem::path& file);

}  // namespace amsp
