// SPDX-License-Identifier: Apache-2.0
// The cluster file: read and printed to the same value, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "topologies/cluster.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const amsp::ClusterSpec cluster =
        amsp::parse_cluster(amsp::JsonValue::parse_text(text, "input"));
    const amsp::ClusterSpec again =
        amsp::parse_cluster(amsp::JsonValue::parse_text(amsp::to_json(cluster), "printed"));
    if (!(again == cluster)) std::abort();
  } catch (const amsp::InputError&) {
    // Refused with a message: as it should be.
  }
  return 0;
}
