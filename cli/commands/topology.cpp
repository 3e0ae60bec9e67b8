// SPDX-License-Identifier: Apache-2.0
// amsp topology: what a cluster is made of, and its graph.
#include <fmt/format.h>

#include <cstdio>

#include "cli/command.hpp"
#include "topologies/describe.hpp"
#include "topologies/network.hpp"

namespace amsp {
namespace {

// The graph is built in full: this many take 2 s and 0.4 GB (measured on dgx-h100).
constexpr long long kMostGpus = 1 << 20;

class TopologyCommand : public Command {
 public:
  std::string_view name() const override { return "topology"; }
  std::string_view description() const override {
    return "describe a cluster: links, capacities, bisection bandwidth, distances";
  }
  std::string_view group() const override { return "Inputs"; }
  std::string_view example() const override { return "amsp topology dgx-h100"; }
  std::string_view details() const override {
    return "Formats: table (for people), json (the same figures), dot (the graph, for Graphviz; "
           "up to the given number of nodes is drawn).\n"
           "Capacities are achievable rates: data sheet x the cluster's achievable share.";
  }
  void declare(Options& options) override {
    options.positional("CLUSTER", "name (amsp list clusters) or path of a cluster file", cluster_);
    options.choice("--format", "FORMAT", "table, json or dot", format_, {"table", "json", "dot"});
    options.integer("--gpus", "N", "resize the cluster to so many GPUs", gpus_, 1, kMostGpus);
    options.integer("--draw-nodes", "N", "nodes that dot draws in full", draw_nodes_, 1, 64);
  }
  int run() override {
    ClusterSpec cluster = load_cluster(cluster_);
    if (gpus_) cluster = resized(std::move(cluster), static_cast<int>(*gpus_));
    const Network network(cluster);
    if (format_ == "dot")
      fmt::print("{}", describe_as_dot(network, static_cast<int>(draw_nodes_)));
    else if (format_ == "json")
      fmt::print("{}", describe_as_json(network));
    else
      fmt::print("{}", describe_as_table(network));
    return 0;
  }

 private:
  std::string cluster_;
  std::string format_ = "table";
  std::optional<long long> gpus_;
  long long draw_nodes_ = 2;
};

}  // namespace

std::unique_ptr<Command> command_topology() { return std::make_unique<TopologyCommand>(); }

}  // namespace amsp
