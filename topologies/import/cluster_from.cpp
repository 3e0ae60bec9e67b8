// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/units_text.hpp"
#include "topologies/gpu_architecture.hpp"
#include "topologies/import/device_groups.hpp"
#include "topologies/import/gpu_names.hpp"
#include "topologies/import/import.hpp"
#include "topologies/import/nvlink_domain.hpp"
#include "topologies/import/switch_links.hpp"

namespace amsp {
namespace {

// Defaults, as in the shipped clusters (docs/model/10-topology.md): half of NCCL's smallest
// constant for GPU to GPU over NVLink; PCIe, NIC and switch in the order of product briefs.
constexpr Seconds kNvlinkHop = microseconds(0.3);
constexpr Seconds kPcieHop = microseconds(0.15);
constexpr Seconds kNicLatency = microseconds(0.3);
constexpr Seconds kSwitchHop = microseconds(0.13);
constexpr Bandwidth kSocketRate = gigabytes_per_second(10);

class Builder {
 public:
  Builder(const MachineFacts& facts, const ImportOptions& options)
      : facts_(facts), options_(options), groups_(facts) {
    cluster_.name = options.name.empty() ? "imported" : options.name;
    cluster_.nodes = options.nodes;
    cluster_.sources.push_back("imported from " + facts.source);
    cluster_.assumptions = facts.notes;
  }

  ClusterSpec build() {
    choose_gpu();
    node().gpus = static_cast<int>(facts_.gpus.size());
    add_intra();
    add_pcie();
    add_nics();
    add_fabric();
    join_trays();
    cluster_.description =
        fmt::format("{} of {} {}, {}", counted(cluster_.nodes, "node"), node().gpus,
                    node().gpu.name, counted(node().nics.size(), "NIC"));
    return parse_cluster(JsonValue::parse_text(amsp::to_json(cluster_), facts_.source));
  }

 private:
  NodeSpec& node() { return cluster_.node; }
  void assume(std::string text) { cluster_.assumptions.push_back(std::move(text)); }

  void choose_gpu() {
    if (!options_.gpu.empty()) {
      type_ = find_gpu_type(options_.gpu, {"command line", "--gpu"});
    } else {
      const GpuGuess guess = guess_gpu_type(facts_);
      type_ = find_gpu_type(guess.type);
      if (!guess.because.empty()) assume(said_as_assumption(guess));
      const bool mixed = std::any_of(facts_.gpus.begin(), facts_.gpus.end(), [&](const GpuFact& g) {
        return g.type != facts_.gpus.front().type ||
               g.architecture != facts_.gpus.front().architecture;
      });
      if (mixed) assume("the GPUs are of several types; all are taken to be of the first's");
    }
    node().gpu = type_.spec;
  }

  void add_intra() {
    IntraNodeSpec& intra = node().intra;
    const int links = nvlinks_per_gpu(facts_);
    if (links <= 0 || node().gpus < 2) {
      intra.kind = IntraNodeKind::pcie;
      if (links < 0 && node().gpus > 1 && type_.nvlinks > 0) add_unseen_nvlinks();
      const bool named = !options_.gpu.empty() || facts_.gpus.front().type;
      if (links == 0 && node().gpus > 1 && type_.nvlinks > 0 && named && !bridged())
        assume(
            fmt::format("the files show no NVLink, {} has {}: GPUs are joined by PCIe alone; if "
                        "this is the output of nvidia-smi topo -mp, take that of topo -m",
                        type_.spec.name, type_.nvlinks));
      return;
    }
    const Bandwidth rate = link_rate(links);
    intra.latency = kNvlinkHop;
    if (through_switch(facts_)) {
      intra.kind = IntraNodeKind::nvswitch;
      intra.gpu_rate = rate * links;
      add_slower_gpus(rate);
      return;
    }
    intra.kind = IntraNodeKind::nvlink_mesh;
    intra.mesh_link_rate = rate;
    for (std::string& note : odd_mesh_pairs(facts_)) assume(std::move(note));
    add_mesh();
  }

  void add_slower_gpus(Bandwidth link_rate) {
    SwitchLinks links = switch_links(facts_);
    for (std::string& note : links.notes) assume(std::move(note));
    std::map<int, Bandwidth>& slower = node().intra.slower_gpus;
    bool all_on_switch = true;
    for (std::size_t gpu = 0; gpu < links.of_gpu.size(); ++gpu) {
      const int own = links.of_gpu[gpu];
      if (own < 0 || own >= links.usual) continue;
      slower[static_cast<int>(gpu)] = link_rate * own;
      all_on_switch = all_on_switch && own > 0;
    }
    if (links.usual < type_.nvlinks)
      assume(fmt::format("the files show {} per GPU, {} has {}: as many as shown are taken",
                         counted(links.usual, "NVLink"), type_.spec.name, type_.nvlinks));
    if (!slower.empty() && options_.nodes > 1)
      assume(
          fmt::format("all {} are taken to have the slower GPUs of this one; for one of many, "
                      "import a sound machine and simulate with --degrade",
                      counted(options_.nodes, "machine")));
    if (all_on_switch)
      assume_reduction();
    else
      assume("NVLS is taken to be off: NCCL needs all GPUs on the NVSwitch for it");
  }

  // Cards that have NVLink only where a bridge is plugged on.
  [[nodiscard]] bool bridged() const { return type_.nvlinks == 0 || has_bridges_only(type_); }

  // A file of PCI devices says nothing of NVLink, but GPUs of this type have it.
  void add_unseen_nvlinks() {
    IntraNodeSpec& intra = node().intra;
    if (bridged() || node().gpus < 4) {
      assume("no NVLink in the files; none is taken to be there");
      return;
    }
    intra.latency = kNvlinkHop;
    intra.kind = IntraNodeKind::nvswitch;
    intra.gpu_rate = type_.nvlink_rate * type_.nvlinks;
    assume(
        fmt::format("the files do not show NVLink; {} has {}, taken to lead to an "
                    "NVSwitch; the output of nvidia-smi topo -m would say",
                    type_.spec.name, counted(type_.nvlinks, "link")));
    assume_reduction();
  }

  // No file says what the switch can do.
  void assume_reduction() {
    node().intra.multicast = reduces_in_switch(type_, node().gpus);
    if (node().intra.multicast) assume("the NVSwitch is taken to reduce and multicast (NVLS)");
  }

  Bandwidth link_rate(int links) {
    if (type_.nvlinks > 0) {
      if (links > type_.nvlinks)
        assume(
            fmt::format("{} NVLinks per GPU are more than the {} of {}; its rate per link is "
                        "used",
                        links, type_.nvlinks, type_.spec.name));
      return type_.nvlink_rate;
    }
    assume(
        fmt::format("{} has no NVLink in the catalogue but the files show {}: 25 GB/s "
                    "each is taken",
                    type_.spec.name, counted(links, "link")));
    return gigabytes_per_second(25);
  }

  void add_mesh() {
    const int n = node().gpus;
    std::vector<std::pair<int, int>> unknown;
    std::vector<int> total(static_cast<std::size_t>(n), 0);
    for (int a = 0; a < n; ++a)
      for (int b = a + 1; b < n; ++b) {
        const int links =
            facts_.gpu_gpu[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)].nvlinks;
        if (links < 0) unknown.emplace_back(a, b);
        if (links <= 0) continue;
        node().intra.mesh_links[{a, b}] = links;
        total[static_cast<std::size_t>(a)] += links;
        total[static_cast<std::size_t>(b)] += links;
      }
    const int most = *std::max_element(total.begin(), total.end());
    // A cut matrix: the links that two GPUs lack may lie between them.
    for (const std::pair<int, int>& pair : unknown) {
      const int missing = most - std::max(total[static_cast<std::size_t>(pair.first)],
                                          total[static_cast<std::size_t>(pair.second)]);
      const bool fill = missing > 0 && is_only_gap_of_both(pair, unknown);
      if (fill) node().intra.mesh_links[pair] = missing;
      assume(fmt::format("GPU{}-GPU{} is not in the file; taken to be {}", pair.first, pair.second,
                         fill ? fmt::format("NV{}, so that both have {} NVLinks", missing, most)
                              : "without NVLink"));
    }
  }

  static bool is_only_gap_of_both(const std::pair<int, int>& pair,
                                  const std::vector<std::pair<int, int>>& gaps) {
    return std::count_if(gaps.begin(), gaps.end(), [&pair](const std::pair<int, int>& other) {
             return other.first == pair.first || other.second == pair.first ||
                    other.first == pair.second || other.second == pair.second;
           }) == 1;
  }

  void add_pcie() {
    node().pcie_latency = kPcieHop;
    node().pcie_rate = pcie_rate();
    for (const GpuFact& gpu : facts_.gpus) {
      const std::size_t i = static_cast<std::size_t>(&gpu - facts_.gpus.data());
      node().gpu_socket.push_back(groups_.socket_of_gpu(i));
    }
    node().switch_socket = groups_.switch_sockets();
    if (!node().switch_socket.empty())
      for (std::size_t i = 0; i < facts_.gpus.size(); ++i)
        node().gpu_switch.push_back(groups_.switch_of_gpu(i));
    if (groups_.sockets() > 1) join_sockets();
    for (const std::string& note : groups_.notes()) assume(note);
  }

  void join_sockets() {
    const std::string_view cpu = cpu_of_superchip(type_);
    Bandwidth& rate = node().socket_rate;
    // NCCL's figure for "Arm" is of any such CPU, not of Grace.
    if (!cpu.empty() && (facts_.cpu.empty() || facts_.cpu == "Arm")) {
      rate = std::max(rate_of_nics(), facts_.socket_rate.value_or(kSocketRate));
      assume(
          fmt::format("the CPU is {}, as {} implies; the rate between its sockets is not "
                      "known: {}, so that it is no slower than the NICs of a socket",
                      cpu, type_.spec.name, human(rate)));
      return;
    }
    rate = facts_.socket_rate.value_or(kSocketRate);
    assume(facts_.socket_rate
               ? fmt::format("sockets (NUMA nodes) joined at {}, NCCL's figure for {}", human(rate),
                             facts_.cpu)
               : fmt::format("the CPU type is not known: sockets (NUMA nodes) joined at {}, "
                             "NCCL's figure for Intel Skylake",
                             human(rate)));
  }

  // Of all NICs of the socket that has most.
  Bandwidth rate_of_nics() {
    std::vector<Bandwidth> sum(static_cast<std::size_t>(groups_.sockets()));
    for (std::size_t i = 0; i < facts_.nics.size(); ++i) {
      Bandwidth& socket = sum[static_cast<std::size_t>(groups_.socket_of_nic(i))];
      socket = socket + facts_.nics[i].rate.value_or(default_nic_rate());
    }
    for (int i = 0; facts_.nics.empty() && i < options_.nics.value_or(0); ++i) {
      Bandwidth& socket = sum[static_cast<std::size_t>(i % groups_.sockets())];
      socket = socket + default_nic_rate();
    }
    return *std::max_element(sum.begin(), sum.end());
  }

  Bandwidth pcie_rate() {
    const Bandwidth usual = type_.pcie_rate;
    std::optional<Bandwidth> slowest;
    for (const GpuFact& gpu : facts_.gpus)
      if (gpu.pcie_rate && (!slowest || *gpu.pcie_rate < *slowest)) slowest = gpu.pcie_rate;
    if (!slowest) {
      assume(
          fmt::format("the PCIe rate is not in the files: {} per direction, from the data sheet "
                      "of {}",
                      human(usual), type_.spec.name));
      return usual;
    }
    // Links of virtual machines and of sleeping GPUs show a fraction of their speed.
    if (*slowest < usual * 0.49) {
      assume(
          fmt::format("the files state {} of PCIe, less than half of what {} has: taken for a "
                      "virtual or sleeping link, {} used",
                      human(*slowest), type_.spec.name, human(usual)));
      return usual;
    }
    return *slowest;
  }

  Bandwidth default_nic_rate() { return options_.nic_rate.value_or(usual_nic_rate(type_)); }

  void add_nics() {
    std::vector<std::string> unknown;
    for (std::size_t i = 0; i < facts_.nics.size(); ++i) {
      NicSpec nic;
      nic.name = facts_.nics[i].device;
      nic.rate = facts_.nics[i].rate.value_or(default_nic_rate());
      nic.socket = groups_.socket_of_nic(i);
      nic.pcie_switch = groups_.switch_of_nic(i);
      nic.gpus = groups_.gpus_nearest_to(i);
      if (!facts_.nics[i].rate) unknown.push_back(nic.name);
      node().nics.push_back(std::move(nic));
    }
    if (!unknown.empty() && options_.nic_rate)
      cluster_.sources.push_back(fmt::format("--nic-rate: {} has {}", fmt::join(unknown, ", "),
                                             human_bits(*options_.nic_rate)));
    else if (!unknown.empty())
      assume(fmt::format("the rate of {} is not in the files: {}, set it with --nic-rate",
                         fmt::join(unknown, ", "), human_bits(default_nic_rate())));
    if (facts_.nics.empty()) invent_nics();
  }

  void invent_nics() {
    const int count = options_.nics.value_or(0);
    for (int i = 0; i < count; ++i)
      node().nics.push_back(
          {fmt::format("nic{}", i), default_nic_rate(), {}, i % groups_.sockets(), -1});
    if (count > 0) {
      cluster_.sources.push_back(fmt::format("--nics: {} of {} each{}", count,
                                             human_bits(default_nic_rate()),
                                             trays() > 1 ? " on each machine" : ""));
      assume(count == 1 ? "the NIC that was asked for is on the first socket"
                        : fmt::format("the {} NICs that were asked for are spread over the sockets",
                                      count));
      if (!options_.nic_rate)
        assume(fmt::format("the rate of these NICs: {} each, set it with --nic-rate",
                           human_bits(default_nic_rate())));
    } else {
      assume("no NIC in the files: the cluster is one node; add NICs with --nics");
    }
    if (count == 0 && options_.nodes > trays())
      throw InputError({facts_.source, ""}, fmt::format("shows no NIC, which {} need; add some "
                                                        "with --nics N --nic-rate RATE",
                                                        several_nodes()));
  }

  static std::string human_bits(Bandwidth rate) {
    return fmt::format("{} Gb/s", rate.value() * 8 / 1e9);
  }

  void add_fabric() {
    FabricSpec& fabric = cluster_.fabric;
    if (node().nics.empty()) {
      fabric.kind = FabricKind::none;
      return;
    }
    fabric.kind = FabricKind::single_switch;
    fabric.hop_latency = kSwitchHop;
    fabric.nic_latency = kNicLatency;
    assume(
        "the files do not show the fabric: one switch without contention; edit \"fabric\" for "
        "another");
    assume("latencies: NVLink hop 0.3 us, PCIe hop 0.15 us, NIC 0.3 us, switch 0.13 us");
  }

  // Machines that are one node.
  [[nodiscard]] int trays() const { return options_.nvlink_domain.value_or(1); }

  // "2 nodes", "2 nodes of 18 machines".
  [[nodiscard]] std::string several_nodes() const {
    const std::string nodes = counted((options_.nodes + trays() - 1) / trays(), "node");
    return trays() > 1 ? fmt::format("{} of {}", nodes, counted(trays(), "machine")) : nodes;
  }

  void join_trays() {
    if (trays() > 1) {
      if (options_.nodes % trays() != 0)
        throw InputError({"command line", "--nvlink-domain"},
                         fmt::format("{} (--nodes) cannot be parted into domains of {}",
                                     counted(options_.nodes, "machine"), trays()));
      node() = joined_by_nvswitch(node(), trays(), facts_.source, cluster_.assumptions);
      cluster_.nodes = options_.nodes / trays();
    } else if (!options_.nvlink_domain && is_tray(facts_, type_, node())) {
      assume(fmt::format(
          "a tray of an NVL72 rack by itself{}: that the trays of a rack share one NVLink domain "
          "is in no file of a tray; --nvlink-domain 18 makes one node of {}, and the "
          "shipped gb200-nvl72 is such racks",
          options_.nodes > 1
              ? fmt::format(", {} of them joined by their NICs alone", options_.nodes)
              : "",
          counted(18 * node().gpus, "GPU")));
    }
  }

  const MachineFacts& facts_;
  const ImportOptions& options_;
  DeviceGroups groups_;
  GpuType type_;
  ClusterSpec cluster_;
};

}  // namespace

ClusterSpec cluster_from(const MachineFacts& facts, const ImportOptions& options) {
  if (facts.gpus.empty()) throw InputError({facts.source, ""}, "holds no GPU");
  return Builder(facts, options).build();
}

}  // namespace amsp
