// SPDX-License-Identifier: Apache-2.0
// NCCL topology and graph XML, and whatever is mistaken for them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "topologies/import/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    amsp::Imported imported;
    amsp::read_topology_text(text, "input", imported);
    amsp::to_table(imported);
    amsp::to_json(imported);
    if (imported.machine) amsp::cluster_from(*imported.machine, {});
  } catch (const amsp::InputError&) {
    // Refused with a message: as it should be.
  }
  return 0;
}
