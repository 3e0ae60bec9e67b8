// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "topologies/cluster.hpp"
#include "topologies/cluster_names.hpp"
#include "topologies/gpu_json.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

Json intra_json(const IntraNodeSpec& intra) {
  Json json = {{"kind", name_of(intra.kind)}};
  if (intra.kind == IntraNodeKind::pcie) return json;
  json["latency"] = to_text(intra.latency);
  if (intra.kind == IntraNodeKind::nvswitch) {
    json["gpu_rate"] = to_text(intra.gpu_rate);
    if (intra.multicast) json["multicast"] = true;
    for (const auto& [slot, rate] : intra.slower_gpus)
      json["slower_gpus"][fmt::format("{}", slot)] = to_text(rate);
    return json;
  }
  json["link_rate"] = to_text(intra.mesh_link_rate);
  Json links = Json::object();
  for (const auto& [pair, count] : intra.mesh_links)
    links[fmt::format("{}-{}", pair.first, pair.second)] = count;
  json["links"] = links;
  return json;
}

Json nic_json(const NicSpec& nic) {
  Json json = {{"name", nic.name}, {"rate", to_text(nic.rate)}};
  if (!nic.gpus.empty()) json["gpus"] = nic.gpus;
  if (nic.pcie_switch >= 0)
    json["switch"] = nic.pcie_switch;
  else
    json["socket"] = nic.socket;
  return json;
}

Json node_json(const NodeSpec& node) {
  Json json = {{"gpus", node.gpus}, {"gpu", gpu_json(node.gpu)}, {"intra", intra_json(node.intra)}};
  if (node.pcie_rate > Bandwidth(0)) {
    json["pcie"] = {{"rate", to_text(node.pcie_rate)}, {"latency", to_text(node.pcie_latency)}};
    if (!node.switch_socket.empty()) json["pcie"]["switch_socket"] = node.switch_socket;
    if (!node.gpu_switch.empty()) json["pcie"]["gpu_switch"] = node.gpu_switch;
  }
  if (!node.gpu_socket.empty()) json["sockets"]["gpu_socket"] = node.gpu_socket;
  if (node.socket_rate > Bandwidth(0)) json["sockets"]["rate"] = to_text(node.socket_rate);
  if (!node.nics.empty()) json["nics"] = Json::array();
  for (const NicSpec& nic : node.nics) json["nics"].push_back(nic_json(nic));
  return json;
}

Json fabric_json(const FabricSpec& fabric) {
  Json json = {{"kind", name_of(fabric.kind)}};
  if (fabric.kind == FabricKind::none) return json;
  json["hop_latency"] = to_text(fabric.hop_latency);
  json["nic_latency"] = to_text(fabric.nic_latency);
  if (fabric.kind == FabricKind::single_switch) return json;
  json["nodes_per_leaf"] = fabric.nodes_per_leaf;
  if (fabric.kind == FabricKind::fat_tree) json["leaves_per_pod"] = fabric.leaves_per_pod;
  json["oversubscription"] = fabric.oversubscription;
  if (fabric.kind == FabricKind::fat_tree)
    json["core_oversubscription"] = fabric.core_oversubscription;
  json["spines"] = fabric.spines;
  json["spreading"] = names_of_spreadings()[static_cast<std::size_t>(fabric.spreading)];
  json["ecmp_seed"] = fabric.ecmp_seed;
  return json;
}

}  // namespace

const std::vector<std::string>& names_of_intra_kinds() {
  static const std::vector<std::string> names{"nvswitch", "nvlink_mesh", "pcie"};
  return names;
}

const std::vector<std::string>& names_of_fabrics() {
  static const std::vector<std::string> names{"none", "single_switch", "leaf_spine", "fat_tree",
                                              "rail_optimized"};
  return names;
}

const std::vector<std::string>& names_of_spreadings() {
  static const std::vector<std::string> names{"ideal", "ecmp"};
  return names;
}

std::string_view name_of(IntraNodeKind kind) {
  return names_of_intra_kinds()[static_cast<std::size_t>(kind)];
}

std::string_view name_of(FabricKind kind) {
  return names_of_fabrics()[static_cast<std::size_t>(kind)];
}

std::string to_json(const ClusterSpec& cluster) {
  Json json = {{"name", cluster.name}};
  if (!cluster.description.empty()) json["description"] = cluster.description;
  if (!cluster.sources.empty()) json["sources"] = cluster.sources;
  if (!cluster.assumptions.empty()) json["assumptions"] = cluster.assumptions;
  json["nodes"] = cluster.nodes;
  json["node"] = node_json(cluster.node);
  json["fabric"] = fabric_json(cluster.fabric);
  json["achievable"] = {{"intra", cluster.achievable.intra}, {"nic", cluster.achievable.nic}};
  if (cluster.price_per_gpu_hour > 0) json["price_per_gpu_hour"] = cluster.price_per_gpu_hour;
  if (!cluster.calibration.empty()) json["calibration"] = cluster.calibration;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace amsp
