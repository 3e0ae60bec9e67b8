// SPDX-License-Identifier: Apache-2.0
// The matrix as a table of words: which columns it has and which cells each row gave.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

struct TopoRow {
  std::string label;
  std::size_t line = 0;            // 1-based
  std::vector<std::string> cells;  // may be fewer than there are columns
  std::vector<std::string> tail;   // CPU affinity, NUMA affinity, GPU NUMA ID
};

// A word where a path belongs.
struct ForeignCell {
  std::size_t line = 0;
  std::string row, column, word;
};

struct TopoTable {
  std::vector<std::string> columns;           // devices: GPU0 … NIC0 …
  std::vector<std::string> tail_columns;      // "CPU Affinity" …
  std::vector<TopoRow> rows;                  // in the order of the file, each label once
  std::map<std::string, std::string> legend;  // "NIC0" → "mlx5_0"
  std::vector<ForeignCell> foreign;           // cells that are no known path
  std::vector<std::string> notes;
  bool peer_access =
      false;  // the text holds a matrix of nvidia-smi topo -p2p, which is passed over
};

bool is_gpu_label(std::string_view word);  // GPU0
bool is_path_word(std::string_view word);  // X, SYS, NODE, PHB, PXB, PIX, SOC, NV1 … NV64, N/A
bool is_peer_access_row(const std::vector<std::string_view>& words);  // GPU0 X OK, GPU1 GNS X
TopoTable read_topo_table(std::string_view text);  // without columns when there is no matrix

}  // namespace amsp
