// SPDX-License-Identifier: Apache-2.0
// Published results that predictions are compared with (docs/reproduction.md: the one that is
// fitted to).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.hpp"

namespace amsp {

struct ReferenceRow {
  std::string source;     // "Fig. 12", "Table V", "text"
  std::string system;     // "AMSP", "DeepSpeed-ZeRO-1"
  std::string model;      // "LLaMA-7B"
  int gpus = 0;           // 0: not stated
  int micro_batches = 0;  // 0: not stated
  std::string overlap;    // Table V: "agrs+ar+bcast" …
  std::string metric;     // "TGS", "MFU"
  double value = 0;
  std::string confidence;  // VERBATIM, SECONDHAND, INFERRED
};

// The shipped table, checked line by line.
std::vector<ReferenceRow> load_reference();

// The end-to-end value of a system, model and scale: Fig. 12 before derived before text.
std::optional<double> reference_value(const std::vector<ReferenceRow>& rows,
                                      const ReferenceKey& key, int gpus, std::string_view metric);

}  // namespace amsp
