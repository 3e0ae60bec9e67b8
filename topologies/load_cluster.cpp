// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/file.hpp"
#include "base/output_path.hpp"
#include "topologies/cluster.hpp"
#include "topologies/import/import.hpp"

namespace amsp {
namespace {

// A file that amsp import reads is no cluster file, but near to one.
void refuse_topology(const std::filesystem::path& file) {
  const std::string kind = kind_of_topology(read_file(file));
  if (kind.empty()) return;
  const std::string way =
      kind == "NCCL graph XML"
          ? "it lists channels, no devices"
          : fmt::format("\"amsp import {} -o cluster.json\" makes one from it", file.string());
  throw InputError({file.string(), ""}, fmt::format("is {}, not a cluster file; {}", kind, way));
}

}  // namespace

ClusterSpec load_cluster(std::string_view name_or_path) {
  const auto file = resolve_data("cluster", "topologies", name_or_path);
  JsonValue json = [&file] {
    try {
      return JsonValue::parse_file(file);
    } catch (const InputError&) {
      refuse_topology(file);
      throw;
    }
  }();
  ClusterSpec cluster = parse_cluster(json);
  cluster.calibration = beside(file, cluster.calibration);
  return cluster;
}

}  // namespace amsp
