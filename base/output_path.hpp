// SPDX-License-Identifier: Apache-2.0
// Where results go and where inputs lie: found out before a long run, not after it.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

// Throw InputError, naming the path as given, when a file could not be written there, or files
// into that folder. The folder of a file must exist, or be or lie in one that is `made` before the
// file is written; a folder of results is made with those above.
void check_output_file(const std::filesystem::path& file,
                       const std::vector<std::filesystem::path>& made = {});
void check_output_folder(const std::filesystem::path& folder);

// What a file says of another file is relative to its own folder. Names ("dgx-h100") and absolute
// paths stay as they are; "./my.json", "dir/x.json" and "x.json" are paths.
std::string beside(const std::filesystem::path& file, std::string_view name_or_path);

}  // namespace amsp
