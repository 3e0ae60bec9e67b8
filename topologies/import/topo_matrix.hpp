// SPDX-License-Identifier: Apache-2.0
// Reads the matrix that `nvidia-smi topo -m` prints (docs/formats/import.md), of any driver and as
// it is found in the wild: prefixed, indented, commented out, coloured, cut.
#pragma once
#include <string_view>

#include "topologies/import/machine_facts.hpp"

namespace amsp {

// Whether the text holds such a matrix.
bool has_topo_matrix(std::string_view text);

// Throws InputError when there is no matrix with at least one GPU row.
MachineFacts parse_topo_matrix(std::string_view text, std::string_view file);

}  // namespace amsp
