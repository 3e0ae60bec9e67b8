// SPDX-License-Identifier: Apache-2.0
// Shell completion and the man page, made from what the commands declare.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace amsp {

std::string bash_completion(const std::vector<CommandDeclaration>& commands);
std::string zsh_completion(const std::vector<CommandDeclaration>& commands);
std::string man_page(const std::vector<CommandDeclaration>& commands);

// The shipped names that a value of this name may be ("CLUSTER": "dgx-h100" …); empty: a file.
std::vector<std::string> names_for(std::string_view value_name);

}  // namespace amsp
