// SPDX-License-Identifier: Apache-2.0
// Reads NCCL's graph XML (NCCL_GRAPH_DUMP_FILE): the channels that NCCL's search found.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"

namespace amsp {

struct ImportedGraph {
  int id = -1;      // 0 ring, 1 tree, 2 CollNet, 3 NVLS …
  int pattern = 0;  // NCCL_TOPO_PATTERN_*
  std::string pattern_name;
  int channels = 0;                    // stated
  Bandwidth intra, inter;              // per channel, inside a node and across
  std::string type_intra, type_inter;  // worst path: "NVL", "PIX" …
  std::vector<std::string> orders;     // of each channel listed: "net0 gpu0 gpu1 net0"
};

struct NcclGraphs {
  std::vector<ImportedGraph> graphs;
  std::vector<std::string> notes;
};

// Throws InputError when the text holds no <graph> element.
NcclGraphs parse_nccl_graphs(std::string_view text, std::string_view file);
std::string describe(const NcclGraphs& graphs);  // a table for people

}  // namespace amsp
