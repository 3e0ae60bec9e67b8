// SPDX-License-Identifier: Apache-2.0
// From topology files of one machine to a cluster of such machines.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "topologies/cluster.hpp"
#include "topologies/import/machine_facts.hpp"
#include "topologies/import/nccl_graph.hpp"

namespace amsp {

struct ImportOptions {
  std::string name;                   // of the cluster; "" = "imported"
  int nodes = 1;                      // machines; nodes of the cluster unless some are joined
  std::string gpu;                    // catalogue name; "" = from the files, else a default
  std::optional<Bandwidth> nic_rate;  // for NICs whose rate no file states
  std::optional<int> nics;            // so many NICs where the files show none
  std::optional<int> nvlink_domain;   // so many machines on one NVSwitch are one node; 1 = none is
};

// What the files hold. At least one of the two is there.
struct Imported {
  std::optional<MachineFacts> machine;
  std::vector<std::pair<std::string, NcclGraphs>> graphs;  // by file
};

// Reads matrices, topology XML and graph XML, several of one machine together. Throws InputError
// (file and reason) for a file that is none of them.
Imported read_topology_files(const std::vector<std::filesystem::path>& files);
// One file's text: adds to `imported`.
void read_topology_text(std::string_view text, const std::string& file, Imported& imported);

// "a matrix of nvidia-smi topo -m", "NCCL topology XML" …; empty when it is none of these.
std::string kind_of_topology(std::string_view text);

// Every default that is taken, and every oddity of the files, becomes one of the cluster's
// `assumptions`. Throws InputError for an unknown GPU name, nodes > 1 without NICs, or machines
// that no NVSwitch joins.
ClusterSpec cluster_from(const MachineFacts& facts, const ImportOptions& options);

std::string to_json(const Imported& imported);  // what was read, before any default
std::string to_table(const Imported& imported);

}  // namespace amsp
