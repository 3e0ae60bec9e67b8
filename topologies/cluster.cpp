// SPDX-License-Identifier: Apache-2.0
#include "topologies/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/file.hpp"
#include "base/units_text.hpp"
#include "topologies/cluster_names.hpp"
#include "topologies/fabric.hpp"
#include "topologies/fastest_links.hpp"
#include "topologies/node_template.hpp"

namespace amsp {
namespace {

constexpr int kMaxGpusPerNode = 1024;
constexpr int kMaxNodes = 1 << 20;
// Links are numbered with 32 bits and take 32 bytes each: 4 GiB for the largest cluster.
constexpr std::int64_t kMaxLinks = std::int64_t{1} << 27;

int as_int(const JsonValue& json, std::int64_t low, std::int64_t high) {
  return static_cast<int>(json.as_integer(low, high));
}

Bandwidth positive_rate(const JsonValue& json, Bandwidth most = kFastestLink) {
  const Bandwidth rate = json.as_bandwidth();
  if (rate <= Bandwidth(0)) json.fail("a rate must be positive");
  if (rate > most)
    json.fail(fmt::format("\"{}\" is more than any such link has; at most {}", json.as_string(),
                          human(most)));
  return rate;
}

Seconds latency(const JsonValue& parent, std::string_view key) {
  const JsonValue json = parent.at(key);
  const Seconds value = json.as_seconds();
  if (value < Seconds(0)) json.fail("a latency must not be negative");
  return value;
}

std::vector<std::string> optional_strings(const JsonValue& json, std::string_view key) {
  std::vector<std::string> strings;
  if (const auto list = json.find(key))
    for (const JsonValue& item : list->items()) strings.push_back(item.as_string());
  return strings;
}

std::vector<int> integers(const JsonValue& json, std::int64_t low, std::int64_t high) {
  std::vector<int> values;
  for (const JsonValue& item : json.items()) values.push_back(as_int(item, low, high));
  return values;
}

// One value for each GPU slot.
std::vector<int> per_gpu(const JsonValue& json, int gpus, std::int64_t low, std::int64_t high) {
  std::vector<int> values = integers(json, low, high);
  if (static_cast<int>(values.size()) != gpus)
    json.fail(fmt::format("has {} values; the node has {} GPUs", values.size(), gpus));
  return values;
}

// "0-3": 2, with 0 <= a < b < gpus.
std::pair<int, int> mesh_pair(const JsonValue& value, const std::string& key, int gpus) {
  int a = -1;
  int b = -1;
  int used = 0;
  const bool read = std::sscanf(key.c_str(), "%d-%d%n", &a, &b, &used) == 2 &&
                    used == static_cast<int>(key.size()) && fmt::format("{}-{}", a, b) == key;
  if (!read || a < 0 || a >= b || b >= gpus)
    value.fail(fmt::format("\"{}\" is not a pair of GPU slots; write \"A-B\" with 0 <= A < B < {}",
                           key, gpus));
  return {a, b};
}

// NVLinks of the GPU that has most of them.
int most_mesh_links(const IntraNodeSpec& intra, int gpus) {
  std::vector<int> total(static_cast<std::size_t>(gpus), 0);
  for (const auto& [pair, count] : intra.mesh_links) {
    total[static_cast<std::size_t>(pair.first)] += count;
    total[static_cast<std::size_t>(pair.second)] += count;
  }
  return *std::max_element(total.begin(), total.end());
}

// "3": "275 GB/s", less than `gpu_rate`.
void parse_slower_gpus(const JsonValue& json, int gpus, IntraNodeSpec& intra) {
  for (const auto& [key, value] : json.members()) {
    int slot = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), slot);
    if (error != std::errc() || fmt::format("{}", slot) != key || slot < 0 || slot >= gpus)
      value.fail(fmt::format("\"{}\" is not a GPU slot; write 0 to {}", key, gpus - 1));
    const Bandwidth rate = value.as_bandwidth();
    if (rate < Bandwidth(0) || !(rate < intra.gpu_rate))
      value.fail(fmt::format("\"{}\" is not slower than \"gpu_rate\"; at least 0, less than {}",
                             value.as_string(), human(intra.gpu_rate)));
    intra.slower_gpus[slot] = rate;
  }
  if (static_cast<int>(intra.slower_gpus.size()) == gpus)
    json.fail("names every GPU; lower \"gpu_rate\" to that of the fastest instead");
}

IntraNodeSpec parse_intra(const JsonValue& json, int gpus) {
  IntraNodeSpec intra;
  intra.kind = static_cast<IntraNodeKind>(
      json.at("kind").as_one_of("kind of intra-node network", names_of_intra_kinds()));
  if (intra.kind == IntraNodeKind::nvswitch) {
    json.accept_keys({"kind", "gpu_rate", "latency", "multicast", "slower_gpus"});
    intra.gpu_rate = positive_rate(json.at("gpu_rate"));
    intra.latency = latency(json, "latency");
    if (const auto slower = json.find("slower_gpus")) parse_slower_gpus(*slower, gpus, intra);
    if (const auto multicast = json.find("multicast")) intra.multicast = multicast->as_bool();
  } else if (intra.kind == IntraNodeKind::nvlink_mesh) {
    json.accept_keys({"kind", "latency", "link_rate", "links"});
    intra.latency = latency(json, "latency");
    intra.mesh_link_rate = positive_rate(json.at("link_rate"));
    for (const auto& [key, value] : json.at("links").members())
      intra.mesh_links[mesh_pair(value, key, gpus)] = as_int(value, 1, 1000);
    if (intra.mesh_links.empty()) json.at("links").fail("names no link; use kind \"pcie\"");
    intra.gpu_rate = intra.mesh_link_rate * most_mesh_links(intra, gpus);
  } else {
    json.accept_keys({"kind"});
  }
  return intra;
}

void parse_pcie(const JsonValue& json, NodeSpec& node) {
  json.accept_keys({"rate", "latency", "gpu_switch", "switch_socket"});
  node.pcie_rate = positive_rate(json.at("rate"));
  node.pcie_latency = latency(json, "latency");
  if (const auto sockets = json.find("switch_socket"))
    node.switch_socket = integers(*sockets, 0, kMaxGpusPerNode);
  const int switches = static_cast<int>(node.switch_socket.size());
  if (const auto list = json.find("gpu_switch"))
    node.gpu_switch = per_gpu(*list, node.gpus, -1, switches - 1);
}

void parse_sockets(const JsonValue& json, NodeSpec& node) {
  json.accept_keys({"gpu_socket", "rate"});
  if (const auto list = json.find("gpu_socket"))
    node.gpu_socket = per_gpu(*list, node.gpus, 0, kMaxGpusPerNode);
  if (const auto rate = json.find("rate")) node.socket_rate = positive_rate(*rate);
}

NicSpec parse_nic(const JsonValue& json, const NodeSpec& node) {
  json.accept_keys({"name", "rate", "gpus", "socket", "switch"});
  NicSpec nic;
  nic.name = json.at("name").as_string();
  nic.rate = positive_rate(json.at("rate"), kFastestNic);
  if (const auto gpus = json.find("gpus")) nic.gpus = integers(*gpus, 0, node.gpus - 1);
  const int switches = static_cast<int>(node.switch_socket.size());
  if (const auto number = json.find("switch")) {
    nic.pcie_switch = as_int(*number, 0, switches - 1);
    nic.socket = node.switch_socket[static_cast<std::size_t>(nic.pcie_switch)];
  }
  if (const auto socket = json.find("socket")) {
    nic.socket = as_int(*socket, 0, kMaxGpusPerNode);
    const int of_switch = nic.pcie_switch < 0
                              ? nic.socket
                              : node.switch_socket[static_cast<std::size_t>(nic.pcie_switch)];
    if (nic.socket != of_switch)
      socket->fail(fmt::format("the NIC's switch {} is on socket {}", nic.pcie_switch, of_switch));
  }
  return nic;
}

void check_node(const JsonValue& json, const NodeSpec& node) {
  const bool needs_pcie = !node.nics.empty() || node.intra.kind == IntraNodeKind::pcie;
  if (needs_pcie && node.pcie_rate <= Bandwidth(0))
    json.fail("NICs, and GPUs without NVLink, need \"pcie\" with its rate");
  for (std::size_t i = 0; i < node.nics.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (node.nics[i].name == node.nics[j].name)
        json.at("nics").fail(fmt::format("two NICs are named \"{}\"", node.nics[i].name));
}

NodeSpec parse_node(const JsonValue& json) {
  json.accept_keys({"gpus", "gpu", "intra", "pcie", "sockets", "nics"});
  NodeSpec node;
  node.gpus = as_int(json.at("gpus"), 1, kMaxGpusPerNode);
  node.gpu = parse_gpu(json.at("gpu"));
  node.intra = parse_intra(json.at("intra"), node.gpus);
  if (const auto pcie = json.find("pcie")) parse_pcie(*pcie, node);
  if (const auto sockets = json.find("sockets")) parse_sockets(*sockets, node);
  if (const auto nics = json.find("nics"))
    for (const JsonValue& nic : nics->items()) node.nics.push_back(parse_nic(nic, node));
  check_node(json, node);
  if (node.intra.kind == IntraNodeKind::pcie) {
    node.intra.gpu_rate = node.pcie_rate;
    node.intra.latency = node.pcie_latency;
  }
  return node;
}

void parse_spreading(const JsonValue& json, FabricSpec& fabric) {
  if (const auto spines = json.find("spines")) fabric.spines = as_int(*spines, 0, 4096);
  if (const auto spreading = json.find("spreading"))
    fabric.spreading =
        static_cast<Spreading>(spreading->as_one_of("spreading", names_of_spreadings()));
  if (const auto seed = json.find("ecmp_seed"))
    fabric.ecmp_seed =
        static_cast<std::uint64_t>(seed->as_integer(0, std::numeric_limits<std::int64_t>::max()));
  if (fabric.spreading == Spreading::ecmp && fabric.spines < 1)
    json.fail("spreading \"ecmp\" needs the number of \"spines\" to spread over");
}

// Switches of `radix` ports: as many nodes under a leaf as the oversubscription leaves ports for,
// the other ports up; a pod has as many leaves as its spines have ports down (half of them).
void size_by_radix(const JsonValue& json, int nics, FabricSpec& fabric) {
  const JsonValue value = json.at("radix");
  const int radix = as_int(value, 2, 4096);
  // 64 ports at 0.6 : 1 are 24 down, also where rounding makes 23.999….
  const double share_down = fabric.oversubscription / (1 + fabric.oversubscription);
  const int down =
      std::clamp(static_cast<int>(std::floor(radix * share_down + 1e-9)), 1, radix - 1);
  const int ports = fabric.kind == FabricKind::rail_optimized ? 1 : nics;
  if (ports < 1 || down < ports)
    value.fail(fmt::format("{} ports down do not hold the {} NICs of a node", down, ports));
  fabric.nodes_per_leaf = down / ports;
  fabric.spines = radix - down;
  if (fabric.kind == FabricKind::fat_tree) fabric.leaves_per_pod = std::max(1, radix / 2);
}

void parse_tree(const JsonValue& json, int nics, FabricSpec& fabric) {
  std::vector<std::string> keys{"kind",   "hop_latency", "nic_latency", "nodes_per_leaf",  "radix",
                                "spines", "spreading",   "ecmp_seed",   "oversubscription"};
  const bool pods = fabric.kind == FabricKind::fat_tree;
  if (pods) keys.insert(keys.end(), {"leaves_per_pod", "core_oversubscription"});
  json.accept_keys(keys);
  if (const auto ratio = json.find("oversubscription"))
    fabric.oversubscription = ratio->as_number(0.01, 1000);
  if (json.find("radix")) {
    for (const char* sized : {"nodes_per_leaf", "leaves_per_pod", "spines"})
      if (const auto both = json.find(sized)) both->fail("\"radix\" says this already");
    size_by_radix(json, nics, fabric);
  } else {
    fabric.nodes_per_leaf = as_int(json.at("nodes_per_leaf"), 1, kMaxNodes);
    if (pods) fabric.leaves_per_pod = as_int(json.at("leaves_per_pod"), 1, kMaxNodes);
  }
  parse_spreading(json, fabric);
  if (const auto ratio = json.find("core_oversubscription"))
    fabric.core_oversubscription = ratio->as_number(0.01, 1000);
}

FabricSpec parse_fabric(const JsonValue& json, int nics) {
  FabricSpec fabric;
  fabric.kind =
      static_cast<FabricKind>(json.at("kind").as_one_of("kind of fabric", names_of_fabrics()));
  if (fabric.kind == FabricKind::none) {
    json.accept_keys({"kind"});
    return fabric;
  }
  fabric.hop_latency = latency(json, "hop_latency");
  fabric.nic_latency = latency(json, "nic_latency");
  if (fabric.kind == FabricKind::single_switch)
    json.accept_keys({"kind", "hop_latency", "nic_latency"});
  else
    parse_tree(json, nics, fabric);
  return fabric;
}

double share(const JsonValue& json, std::string_view key, double otherwise) {
  const auto value = json.find(key);
  if (!value) return otherwise;
  const double number = value->as_number(0, 1);
  if (number <= 0) value->fail("a share of the data-sheet rate lies in (0, 1]");
  return number;
}

// What building a cluster would need that is too much; empty when it can be built. Throws
// InputError when devices of a node have no path between them.
std::string too_large(const ClusterSpec& cluster) {
  const NodeTemplate node(cluster.node, cluster.achievable, {});
  const std::size_t ports =
      cluster.fabric.kind == FabricKind::none ? 0 : 2 * cluster.node.nics.size();
  const std::int64_t links = cluster.nodes * static_cast<std::int64_t>(node.links.size() + ports) +
                             size_of_fabric(cluster).links();
  if (links <= kMaxLinks) return "";
  return fmt::format("{} nodes and their fabric need {} links; at most {}", cluster.nodes, links,
                     kMaxLinks);
}

void check_cluster(const JsonValue& json, const ClusterSpec& cluster) {
  if (cluster.fabric.kind == FabricKind::none && cluster.nodes > 1)
    json.at("fabric").fail(
        fmt::format("{} nodes need a fabric; \"none\" is for one node", cluster.nodes));
  if (cluster.nodes > 1 && cluster.node.nics.empty())
    json.at("node").fail(fmt::format("{} nodes need NICs", cluster.nodes));
  if (static_cast<std::int64_t>(cluster.nodes) * cluster.node.gpus > (1 << 24))
    json.at("nodes").fail("more than 16777216 GPUs");
  std::string too_much;
  try {
    too_much = too_large(cluster);
  } catch (const InputError& error) {
    json.at("node").fail(error.what());
  }
  if (!too_much.empty()) json.at("nodes").fail(too_much);
}

}  // namespace

int NodeSpec::switch_of_slot(int slot) const {
  return gpu_switch.empty() ? -1 : gpu_switch[static_cast<std::size_t>(slot)];
}

int NodeSpec::socket_of_slot(int slot) const {
  const int on_switch = switch_of_slot(slot);
  if (on_switch >= 0) return switch_socket[static_cast<std::size_t>(on_switch)];
  return gpu_socket.empty() ? 0 : gpu_socket[static_cast<std::size_t>(slot)];
}

int NodeSpec::sockets() const {
  int highest = 0;
  for (int slot = 0; slot < gpus; ++slot) highest = std::max(highest, socket_of_slot(slot));
  for (const int socket : switch_socket) highest = std::max(highest, socket);
  for (const NicSpec& nic : nics) highest = std::max(highest, nic.socket);
  return highest + 1;
}

Bandwidth NodeSpec::slowest_port() const {
  Bandwidth slowest = intra.gpu_rate;
  for (const auto& [slot, rate] : intra.slower_gpus)
    slowest = std::min(slowest, rate > Bandwidth(0) ? rate : pcie_rate);
  return slowest;
}

ClusterSpec parse_cluster(const JsonValue& json) {
  json.accept_keys({"name", "description", "sources", "assumptions", "nodes", "node", "fabric",
                    "achievable", "price_per_gpu_hour", "calibration"});
  ClusterSpec cluster;
  cluster.name = json.at("name").as_string();
  if (const auto text = json.find("description")) cluster.description = text->as_string();
  cluster.sources = optional_strings(json, "sources");
  cluster.assumptions = optional_strings(json, "assumptions");
  cluster.nodes = as_int(json.at("nodes"), 1, kMaxNodes);
  cluster.node = parse_node(json.at("node"));
  cluster.fabric = parse_fabric(json.at("fabric"), static_cast<int>(cluster.node.nics.size()));
  if (const auto achievable = json.find("achievable")) {
    achievable->accept_keys({"intra", "nic"});
    cluster.achievable.intra = share(*achievable, "intra", cluster.achievable.intra);
    cluster.achievable.nic = share(*achievable, "nic", cluster.achievable.nic);
  }
  if (const auto price = json.find("price_per_gpu_hour"))
    cluster.price_per_gpu_hour = price->as_number(0, 1e9);
  if (const auto name = json.find("calibration")) cluster.calibration = name->as_string();
  check_cluster(json, cluster);
  cluster.hash = sha256(to_json(cluster));
  return cluster;
}

ClusterSpec resized(ClusterSpec cluster, int gpus) {
  const int per_node = cluster.node.gpus;
  if (gpus < 1) throw InputError(fmt::format("{} GPUs: at least 1 is needed", gpus));
  if (gpus > per_node && gpus % per_node != 0)
    throw InputError(fmt::format("{} GPUs do not fill whole nodes of {}; nearest: {} or {}", gpus,
                                 per_node, gpus / per_node * per_node,
                                 (gpus / per_node + 1) * per_node));
  const int nodes = std::max(1, gpus / per_node);
  const bool can_grow = cluster.fabric.kind != FabricKind::none && !cluster.node.nics.empty();
  if (nodes > 1 && !can_grow)
    throw InputError(
        fmt::format("{} GPUs need {} nodes; cluster \"{}\" describes one node of {} "
                    "GPUs without a fabric",
                    gpus, nodes, cluster.name, per_node));
  cluster.nodes = nodes;
  if (const std::string too_much = too_large(cluster); !too_much.empty())
    throw InputError(fmt::format("{} GPUs of cluster \"{}\": {}", gpus, cluster.name, too_much));
  return cluster;
}

}  // namespace amsp
