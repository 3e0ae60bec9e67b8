// SPDX-License-Identifier: Apache-2.0
#include "topologies/node_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <limits>

namespace amsp {
namespace {

// Fewest hops first; among these the widest links (the term stays below one hop).
struct EdgeWeight {
  double weight = 1;
  std::int32_t link = -1;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                    EdgeWeight>;

// NCCL goes through at most one other GPU of a mesh (its path type NVB).
constexpr std::size_t kLongestMeshRoute = 2;

class ShortestRoutes {
 public:
  // Over the links for which `use` is true.
  template <class Use>
  ShortestRoutes(std::size_t vertices, const std::vector<Link>& links, Use use)
      : graph_(vertices), links_(links) {
    double widest = 0;
    for (const Link& link : links) widest = std::max(widest, link.capacity.value());
    for (std::size_t i = 0; i < links.size(); ++i) {
      const Link& link = links[i];
      if (!use(link)) continue;
      const double narrow = 1 - link.capacity.value() / widest;  // 0 … 1
      boost::add_edge(link.from.position(), link.to.position(),
                      {1 + 0.01 * narrow, static_cast<std::int32_t>(i)}, graph_);
    }
  }

  void start(VertexId from) {
    const std::size_t n = boost::num_vertices(graph_);
    by_.assign(n, -1);
    distance_.assign(n, std::numeric_limits<double>::max());
    struct Record : boost::default_dijkstra_visitor {
      std::vector<std::int32_t>* by;
      void edge_relaxed(const Graph::edge_descriptor& edge, const Graph& graph) const {
        (*by)[boost::target(edge, graph)] = graph[edge].link;
      }
    } record;
    record.by = &by_;
    boost::dijkstra_shortest_paths(graph_, from.position(),
                                   boost::weight_map(boost::get(&EdgeWeight::weight, graph_))
                                       .distance_map(distance_.data())
                                       .visitor(record));
    from_ = from;
  }

  // Empty when there is none.
  [[nodiscard]] NodeTemplate::Route to(VertexId vertex) const {
    NodeTemplate::Route route;
    while (vertex != from_) {
      const std::int32_t link = by_[vertex.position()];
      if (link < 0) return {};
      route.push_back(LinkId(link));
      vertex = links_[static_cast<std::size_t>(link)].from;
    }
    std::reverse(route.begin(), route.end());
    return route;
  }

 private:
  Graph graph_;
  const std::vector<Link>& links_;
  VertexId from_;
  std::vector<std::int32_t> by_;
  std::vector<double> distance_;
};

std::size_t position(int row, int columns, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

}  // namespace

NodeTemplate::NodeTemplate(const NodeSpec& node, const Achievable& share,
                           const AchievableRates& rates)
    : gpus_(node.gpus), nics_(static_cast<std::int32_t>(node.nics.size())) {
  add_vertices(node);
  const bool measured = rates.gpu_intra > Bandwidth(0);
  // What was measured on all GPUs is the pace of the slowest.
  const Bandwidth of_fastest = rates.gpu_intra * (node.intra.gpu_rate / node.slowest_port());
  const Bandwidth gpu_rate =
      measured ? std::max(rates.gpu_intra, std::min(of_fastest, node.intra.gpu_rate))
               : node.intra.gpu_rate * share.intra;
  if (node.intra.kind != IntraNodeKind::pcie) add_nvlinks(node, gpu_rate);
  if (node.pcie_rate > Bandwidth(0)) {
    // What was measured through PCIe shows what its links carry at least.
    const bool only_pcie = node.intra.kind == IntraNodeKind::pcie;
    add_pcie(node, std::max(rates.nic, only_pcie ? rates.gpu_intra : Bandwidth(0)),
             node.pcie_rate * share.intra);
  }
  find_routes();
  route_through_neighbours();
  check_routes(node);
}

void NodeTemplate::add_vertices(const NodeSpec& node) {
  const auto add = [this](VertexKind kind, int count) {
    for (int i = 0; i < count; ++i) vertices.push_back({kind, NodeId(0), i});
  };
  add(VertexKind::gpu, node.gpus);
  if (node.intra.kind == IntraNodeKind::nvswitch) add(VertexKind::nvswitch, 1);
  const bool pcie = node.pcie_rate > Bandwidth(0);
  first_switch_ = static_cast<std::int32_t>(vertices.size());
  if (pcie) add(VertexKind::pcie_switch, static_cast<int>(node.switch_socket.size()));
  first_cpu_ = static_cast<std::int32_t>(vertices.size());
  if (pcie) add(VertexKind::cpu, node.sockets());
  first_nic_ = static_cast<std::int32_t>(vertices.size());
  add(VertexKind::nic, nics_);
}

void NodeTemplate::add_pair(std::int32_t a, std::int32_t b, LinkKind kind, Bandwidth rate,
                            Seconds latency) {
  links.push_back({VertexId(a), VertexId(b), kind, rate, latency});
  links.push_back({VertexId(b), VertexId(a), kind, rate, latency});
}

void NodeTemplate::add_nvlinks(const NodeSpec& node, Bandwidth gpu_rate) {
  const IntraNodeSpec& intra = node.intra;
  if (intra.kind == IntraNodeKind::nvswitch) {
    for (std::int32_t gpu = 0; gpu < gpus_; ++gpu) {
      const auto slower = intra.slower_gpus.find(gpu);
      const Bandwidth own = slower == intra.slower_gpus.end() ? intra.gpu_rate : slower->second;
      if (own > Bandwidth(0))
        add_pair(gpu, gpus_, LinkKind::nvlink, gpu_rate * (own / intra.gpu_rate), intra.latency);
    }
    return;
  }
  const Bandwidth one_link = intra.mesh_link_rate * (gpu_rate / intra.gpu_rate);
  for (const auto& [pair, count] : intra.mesh_links)
    add_pair(pair.first, pair.second, LinkKind::nvlink, one_link * count, intra.latency);
}

// `floor`: no link on the way is slower than a rate that was measured through it.
void NodeTemplate::add_pcie(const NodeSpec& node, Bandwidth floor, Bandwidth default_rate) {
  const Bandwidth rate = std::max(default_rate, std::min(floor, node.pcie_rate));
  const auto above = [this](int pcie_switch, int socket) {
    return pcie_switch >= 0 ? first_switch_ + pcie_switch : first_cpu_ + socket;
  };
  for (std::int32_t gpu = 0; gpu < gpus_; ++gpu)
    add_pair(gpu, above(node.switch_of_slot(gpu), node.socket_of_slot(gpu)), LinkKind::pcie, rate,
             node.pcie_latency);
  for (std::size_t i = 0; i < node.switch_socket.size(); ++i)
    add_pair(first_switch_ + static_cast<std::int32_t>(i), first_cpu_ + node.switch_socket[i],
             LinkKind::pcie, rate, node.pcie_latency);
  // Without a rate the sockets are not joined (Grace CPUs of an NVLink domain).
  for (std::int32_t a = 0; a < node.sockets() && node.socket_rate > Bandwidth(0); ++a)
    for (std::int32_t b = a + 1; b < node.sockets(); ++b)
      add_pair(first_cpu_ + a, first_cpu_ + b, LinkKind::socket,
               std::max(node.socket_rate, std::min(floor, node.pcie_rate)), node.pcie_latency);
  for (std::int32_t i = 0; i < nics_; ++i) {
    const NicSpec& nic = node.nics[static_cast<std::size_t>(i)];
    add_pair(first_nic_ + i, above(nic.pcie_switch, nic.socket), LinkKind::pcie, rate,
             node.pcie_latency);
  }
  for (int gpu = 0; gpu < gpus_; ++gpu)
    for (const NicSpec& nic : node.nics) {
      const bool named = std::find(nic.gpus.begin(), nic.gpus.end(), gpu) != nic.gpus.end();
      const int own_switch = node.switch_of_slot(gpu);
      const bool together = own_switch >= 0 && own_switch == nic.pcie_switch;
      distance_.push_back(named || together ? 0 : node.socket_of_slot(gpu) == nic.socket ? 1 : 2);
    }
}

void NodeTemplate::find_routes() {
  const std::size_t n = vertices.size();
  ShortestRoutes nvlink(n, links, [](const Link& link) { return link.kind == LinkKind::nvlink; });
  ShortestRoutes pcie(n, links, [](const Link& link) { return link.kind != LinkKind::nvlink; });
  for (int from = 0; from < gpus_; ++from) {
    nvlink.start(VertexId(from));
    pcie.start(VertexId(from));
    for (int to = 0; to < gpus_; ++to) {
      Route route = nvlink.to(VertexId(to));
      if (route.empty() || route.size() > kLongestMeshRoute) route = pcie.to(VertexId(to));
      gpu_to_gpu_.push_back(std::move(route));
    }
    for (int nic = 0; nic < nics_; ++nic) gpu_to_nic_.push_back(pcie.to(nic_vertex(nic)));
  }
  for (int nic = 0; nic < nics_; ++nic) {
    pcie.start(nic_vertex(nic));
    for (int to = 0; to < gpus_; ++to) nic_to_gpu_.push_back(pcie.to(VertexId(to)));
  }
}

// Where no PCIe path leads from a GPU to a NIC, over NVLink to a GPU that has one (NCCL's PXN).
void NodeTemplate::route_through_neighbours() {
  const auto joined = [](Route first, const Route& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const std::vector<Route> to_nic = gpu_to_nic_;
  const std::vector<Route> from_nic = nic_to_gpu_;
  for (int gpu = 0; gpu < gpus_; ++gpu)
    for (int nic = 0; nic < nics_; ++nic) {
      if (!to_nic[position(gpu, nics_, nic)].empty()) continue;
      Route& out = gpu_to_nic_[position(gpu, nics_, nic)];
      for (int via = 0; via < gpus_ && out.empty(); ++via) {
        const Route& rest = to_nic[position(via, nics_, nic)];
        if (rest.empty() || gpu_to_gpu(gpu, via).empty()) continue;
        out = joined(gpu_to_gpu(gpu, via), rest);
        nic_to_gpu_[position(nic, gpus_, gpu)] =
            joined(from_nic[position(nic, gpus_, via)], gpu_to_gpu(via, gpu));
      }
    }
}

void NodeTemplate::check_routes(const NodeSpec& node) const {
  const auto refuse = [](const std::string& from, const std::string& to) {
    throw InputError(fmt::format("no path from {} to {} inside a node", from, to));
  };
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    for (int to = 0; to < gpus_; ++to)
      if (gpu != to && gpu_to_gpu(gpu, to).empty())
        refuse(fmt::format("GPU {}", gpu), fmt::format("GPU {}", to));
    for (int nic = 0; nic < nics_; ++nic)
      if (gpu_to_nic(gpu, nic).empty())
        refuse(fmt::format("GPU {}", gpu),
               fmt::format("NIC \"{}\"", node.nics[static_cast<std::size_t>(nic)].name));
  }
}

const NodeTemplate::Route& NodeTemplate::gpu_to_gpu(int from, int to) const {
  return gpu_to_gpu_[position(from, gpus_, to)];
}

const NodeTemplate::Route& NodeTemplate::gpu_to_nic(int gpu, int nic) const {
  return gpu_to_nic_[position(gpu, nics_, nic)];
}

const NodeTemplate::Route& NodeTemplate::nic_to_gpu(int nic, int gpu) const {
  return nic_to_gpu_[position(nic, gpus_, gpu)];
}

int NodeTemplate::nic_distance(int slot, int nic) const {
  return distance_[position(slot, nics_, nic)];
}

}  // namespace amsp
