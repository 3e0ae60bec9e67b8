// SPDX-License-Identifier: Apache-2.0
// The names of the cluster file's enumerations, in the order of their values.
#pragma once
#include <string>
#include <vector>

namespace amsp {

const std::vector<std::string>& names_of_intra_kinds();
const std::vector<std::string>& names_of_fabrics();
const std::vector<std::string>& names_of_spreadings();

}  // namespace amsp
