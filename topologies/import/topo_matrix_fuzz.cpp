// SPDX-License-Identifier: Apache-2.0
// nvidia-smi topo -m: whatever comes in, it is read or refused, and what is read makes a cluster.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "topologies/import/import.hpp"
#include "topologies/import/topo_matrix.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    amsp::cluster_from(amsp::parse_topo_matrix(text, "input"), {});
  } catch (const amsp::InputError&) {
    // Refused with a message: as it should be.
  }
  return 0;
}
