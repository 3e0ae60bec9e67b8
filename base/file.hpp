// SPDX-License-Identifier: Apache-2.0
// Files: whole reads with a clear error, writes that are complete or absent (temporary file and
// rename; behind symbolic links; pipes and open files in place), SHA-256, where shipped data lies.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

// Throws InputError when the file is missing, a folder, not readable to its end or above 1 GiB.
std::string read_file(const std::filesystem::path& file);

// Writes atomically, making parent folders. Throws InputError when that is not possible.
void write_file(const std::filesystem::path& file, std::string_view content);

// Hex digest of the content (as sha256sum prints it).
std::string sha256(std::string_view content);

// Shipped data: $AMSP_DATA, else ../share/amsp beside the program's folder, else the source tree
// that it was built from, else <prefix>/share/amsp. `kind` is a folder of it: "topologies",
// "workloads/models", "scenarios" …
std::filesystem::path data_folder(std::string_view kind);

// Names (file stems) of the shipped *.json files of a kind, sorted.
std::vector<std::string> data_names(std::string_view kind);

// A name ("dgx-h100") or a path ("./my.json", "dir/x.json", anything that exists) to a file.
// Throws InputError that names the nearest shipped name. `what` is e.g. "cluster".
std::filesystem::path resolve_data(std::string_view what, std::string_view kind,
                                   std::string_view name_or_path);

}  // namespace amsp
