// SPDX-License-Identifier: Apache-2.0
#include "topologies/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "topologies/gpu_json.hpp"
#include "topologies/network_measures.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

std::string join(const std::vector<int>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

std::string fabric_line(const FabricSpec& fabric) {
  if (fabric.kind == FabricKind::none) return "none (one node)";
  std::string line(name_of(fabric.kind));
  if (fabric.kind == FabricKind::single_switch) return line;
  line += fmt::format(", {} nodes a {}, oversubscription {}", fabric.nodes_per_leaf,
                      fabric.kind == FabricKind::rail_optimized ? "rail group" : "leaf",
                      fabric.oversubscription);
  if (fabric.kind == FabricKind::fat_tree)
    line += fmt::format(", {} leaves a pod, {} above", fabric.leaves_per_pod,
                        fabric.core_oversubscription);
  if (fabric.spreading == Spreading::ecmp)
    return line + fmt::format(", ECMP over {} paths (seed {})", fabric.spines, fabric.ecmp_seed);
  return line + ", ideal spreading";
}

std::string intra_line(const NodeSpec& node) {
  std::string line = fmt::format("{}, {} per GPU and direction (data sheet)",
                                 name_of(node.intra.kind), human(node.intra.gpu_rate));
  if (node.intra.multicast) line += ", with multicast (NVLS)";
  for (const auto& [slot, rate] : node.intra.slower_gpus)
    line += rate > Bandwidth(0) ? fmt::format("; GPU {}: {}", slot, human(rate))
                                : fmt::format("; GPU {}: only PCIe", slot);
  return line;
}

std::string gpu_line(const GpuSpec& gpu) {
  std::string line = fmt::format("{}: {}, memory at {}, {} SMs or CUs;", gpu.name,
                                 human(gpu.memory), human(gpu.hbm), gpu.multiprocessors);
  for (const auto& [dtype, rate] : gpu.peak)
    line += fmt::format(" {} {}", name_of(dtype), human(rate));
  for (const auto& [dtype, rate] : gpu.achievable)
    line += fmt::format("; best {} product measured {}", name_of(dtype), human(rate));
  if (gpu.attention)
    line += fmt::format("; attention measured forward {}, backward {}",
                        human(gpu.attention->forward), human(gpu.attention->backward));
  return line;
}

// Sockets of the GPU slots, and their PCIe switches where there are any.
std::string places_line(const NodeSpec& node) {
  std::vector<int> sockets, switches;
  for (int slot = 0; slot < node.gpus; ++slot) {
    sockets.push_back(node.socket_of_slot(slot));
    switches.push_back(node.switch_of_slot(slot));
  }
  std::string line = fmt::format("GPU sockets {}", join(sockets));
  const auto direct = std::count(switches.begin(), switches.end(), -1);
  if (direct == node.gpus && !node.switch_socket.empty())
    return line + "; PCIe switches of NICs only, GPUs directly at their sockets\n";
  if (node.switch_socket.empty()) return line + "\n";
  std::vector<std::string> names;
  for (const int name : switches) names.push_back(name < 0 ? "-" : fmt::format("{}", name));
  line += fmt::format("; PCIe switches {}", fmt::join(names, ","));
  return line + (direct > 0 ? " (-: directly at the socket)\n" : "\n");
}

void append_nics(const NodeSpec& node, std::string& out) {
  for (const NicSpec& nic : node.nics) {
    out += fmt::format("  {:<12} {:>10}", nic.name, human(nic.rate));
    if (!nic.gpus.empty()) out += fmt::format("  nearest GPUs {}", join(nic.gpus));
    if (nic.pcie_switch >= 0) out += fmt::format("  PCIe switch {}", nic.pcie_switch);
    out += fmt::format("  socket {}\n", nic.socket);
  }
}

void append_list(std::string_view title, const std::vector<std::string>& lines, std::string& out) {
  if (lines.empty()) return;
  out += fmt::format("{}\n", title);
  for (const std::string& line : lines) out += fmt::format("  - {}\n", line);
}

Json intra_json(const NodeSpec& node) {
  Json json = {{"kind", name_of(node.intra.kind)},
               {"gpu_rate", to_text(node.intra.gpu_rate)},
               {"multicast", node.intra.multicast}};
  for (const auto& [slot, rate] : node.intra.slower_gpus)
    json["slower_gpus"][fmt::format("{}", slot)] = to_text(rate);
  for (const auto& [pair, count] : node.intra.mesh_links)
    json["links"][fmt::format("{}-{}", pair.first, pair.second)] = count;
  if (node.pcie_rate > Bandwidth(0)) json["pcie_rate"] = to_text(node.pcie_rate);
  json["gpu_sockets"] = Json::array();
  json["gpu_switches"] = Json::array();
  for (int slot = 0; slot < node.gpus; ++slot) {
    json["gpu_sockets"].push_back(node.socket_of_slot(slot));
    json["gpu_switches"].push_back(node.switch_of_slot(slot));
  }
  return json;
}

Json nic_json(const NicSpec& nic) {
  return {{"name", nic.name},
          {"rate", to_text(nic.rate)},
          {"gpus", nic.gpus},
          {"socket", nic.socket},
          {"switch", nic.pcie_switch}};
}

Json cluster_json(const ClusterSpec& cluster) {
  Json nics = Json::array();
  for (const NicSpec& nic : cluster.node.nics) nics.push_back(nic_json(nic));
  return {{"name", cluster.name},
          {"nodes", cluster.nodes},
          {"gpus", cluster.gpus()},
          {"gpus_per_node", cluster.node.gpus},
          {"gpu", gpu_json(cluster.node.gpu)},
          {"intra", intra_json(cluster.node)},
          {"nics", nics},
          {"fabric", fabric_line(cluster.fabric)}};
}

const char* shape_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
      return "box, style=filled, fillcolor=palegreen";
    case VertexKind::nic:
      return "box, style=filled, fillcolor=lightblue";
    case VertexKind::nvswitch:
      return "hexagon, style=filled, fillcolor=gold";
    case VertexKind::pcie_switch:
      return "ellipse";
    case VertexKind::cpu:
      return "octagon";
    default:
      return "diamond, style=filled, fillcolor=lightgray";
  }
}

}  // namespace

std::string describe_as_table(const Network& network) {
  const ClusterSpec& cluster = network.cluster();
  std::string out = fmt::format("{}: {}\n", cluster.name, cluster.description);
  out += fmt::format("nodes       {} of {} GPUs = {} GPUs\n", cluster.nodes, cluster.node.gpus,
                     cluster.gpus());
  out += fmt::format("GPU         {}\n", gpu_line(cluster.node.gpu));
  out += fmt::format("inside      {}\n", intra_line(cluster.node));
  out += fmt::format("fabric      {}\n", fabric_line(cluster.fabric));
  const Bandwidth bisection = bisection_bandwidth(network);
  out += fmt::format("bisection   {} in one direction ({})\n", human(bisection),
                     cluster.nodes > 1 ? "half of the nodes to the other half" : "inside the node");
  out += fmt::format(
      "achievable  {:.0f} % of data-sheet rates inside, {:.0f} % of NICs, where "
      "nothing is measured\n",
      cluster.achievable.intra * 100, cluster.achievable.nic * 100);
  out += places_line(cluster.node);
  if (!cluster.node.nics.empty()) out += "NICs of a node (line rate)\n";
  append_nics(cluster.node, out);
  out += fmt::format("\n{:<8} {:<20} {:>9} {:>13}  {}\n", "kind", "from → to", "links", "capacity",
                     "for example");
  for (const LinkGroup& group : link_groups(network))
    out += fmt::format("{:<8} {:<20} {:>9} {:>13}  {}\n", name_of(group.kind),
                       fmt::format("{} → {}", name_of(group.from), name_of(group.to)), group.links,
                       human(group.capacity), network.name_of(group.example));
  out += fmt::format("\n{:<14} {:>8} {:>5} {:>9} {:>10} {:>13}\n", "GPU 0 to", "GPU", "hops",
                     "switches", "latency", "narrowest");
  for (const Distance& way : distances(network))
    out += fmt::format("{:<14} {:>8} {:>5} {:>9} {:>10} {:>13}\n", way.what, way.to.index, way.hops,
                       way.switches, human(way.latency), human(way.capacity));
  out += "\n";
  append_list("assumed", cluster.assumptions, out);
  append_list("sources", cluster.sources, out);
  return out;
}

std::string describe_as_json(const Network& network) {
  Json json = cluster_json(network.cluster());
  json["bisection_bandwidth"] = to_text(bisection_bandwidth(network));
  json["links"] = Json::array();
  for (const LinkGroup& group : link_groups(network))
    json["links"].push_back({{"kind", name_of(group.kind)},
                             {"from", name_of(group.from)},
                             {"to", name_of(group.to)},
                             {"count", group.links},
                             {"capacity", to_text(group.capacity)},
                             {"example", network.name_of(group.example)}});
  json["distances"] = Json::array();
  for (const Distance& way : distances(network))
    json["distances"].push_back({{"what", way.what},
                                 {"from_gpu", way.from.index},
                                 {"to_gpu", way.to.index},
                                 {"hops", way.hops},
                                 {"switches", way.switches},
                                 {"latency", to_text(way.latency)},
                                 {"capacity", to_text(way.capacity)}});
  json["achievable"] = {{"intra", network.cluster().achievable.intra},
                        {"nic", network.cluster().achievable.nic}};
  json["assumptions"] = network.cluster().assumptions;
  json["sources"] = network.cluster().sources;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string describe_as_dot(const Network& network, int nodes) {
  const auto& vertices = network.vertices();
  const auto drawn = [&](VertexId id) {
    const NodeId node = vertices[id.position()].node;
    return !node.valid() || node.index < nodes;
  };
  std::string out = fmt::format("// {} nodes; drawn in full: the first {}\n",
                                network.cluster().nodes, std::min(nodes, network.cluster().nodes));
  out += "graph cluster {\n  layout=dot; rankdir=BT; node [fontsize=10]; edge [fontsize=8];\n";
  int open = -1;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const VertexId id(i);
    if (!drawn(id)) continue;
    const int node = vertices[i].node.index;
    if (node != open) {
      if (open >= 0) out += "  }\n";
      if (node >= 0) out += fmt::format("  subgraph cluster_{0} {{ label=\"node {0}\";\n", node);
      open = node;
    }
    std::string label = network.name_of(id);
    if (node >= 0) label.erase(0, label.find('/') + 1);
    out += fmt::format("  v{} [label=\"{}\", shape={}];\n", i, label, shape_of(vertices[i].kind));
  }
  if (open >= 0) out += "  }\n";
  // Links come in pairs of equal capacity unless one direction was scaled: one edge for a pair.
  for (std::size_t i = 0; i + 1 < network.links().size(); i += 2) {
    const Link& link = network.links()[i];
    const Link& back = network.links()[i + 1];
    if (!drawn(link.from) || !drawn(link.to)) continue;
    std::string label = human(link.capacity);
    if (back.capacity != link.capacity) label += " / " + human(back.capacity);
    out += fmt::format("  v{} -- v{} [label=\"{}\"];\n", link.from.index, link.to.index, label);
  }
  return out + "}\n";
}

}  // namespace amsp
