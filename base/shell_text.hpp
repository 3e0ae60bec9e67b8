// SPDX-License-Identifier: Apache-2.0
// Text for a shell.
#pragma once
#include <string>
#include <string_view>

namespace amsp {

// One word in single quotes, for any POSIX shell and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace amsp
