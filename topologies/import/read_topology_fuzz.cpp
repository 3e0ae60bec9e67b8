// SPDX-License-Identifier: Apache-2.0
// The whole way of an imported file, graph XML and two files together included, to the cluster.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "topologies/import/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  // A zero byte parts two files of one machine.
  const std::size_t end = all.find('\0');
  try {
    amsp::Imported imported;
    amsp::read_topology_text(all.substr(0, end), "a", imported);
    if (end != std::string_view::npos) amsp::read_topology_text(all.substr(end + 1), "b", imported);
    amsp::to_json(imported);
    amsp::to_table(imported);
    amsp::ImportOptions options;
    options.gpu = "a100-sxm4-80gb";
    if (imported.machine) amsp::to_json(amsp::cluster_from(*imported.machine, options));
  } catch (const amsp::InputError&) {
  }
  return 0;
}
