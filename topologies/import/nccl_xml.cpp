// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/nccl_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "topologies/gpu_spec.hpp"
#include "topologies/import/gpu_names.hpp"
#include "topologies/import/pci_speed.hpp"
#include "topologies/import/xml_document.hpp"

namespace amsp {
namespace {

constexpr int kDeepest = 32;               // PCIe trees have a handful of levels
constexpr std::size_t kMostDevices = 512;  // as in matrices

// A GPU or NIC with its way down from the CPU.
struct Placed {
  std::vector<int> path;  // positions of the pci elements, from the CPU down
  int cpu = -1;
  int pci = -1;  // of the device itself
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// PCI class codes: 0x03 display (GPU; 0x0380 AMD), 0x12 accelerator (AMD), 0x02 network.
bool is_gpu_class(std::string_view code) {
  return code.starts_with("0x03") || code.starts_with("0x12");
}
bool is_nic_class(std::string_view code) { return code.starts_with("0x02"); }

class TreeReader {
 public:
  MachineFacts read(std::string_view text, std::string_view file) {
    XmlText xml;
    load_xml(text, file, xml);
    facts_.source = file;
    odd_.set_file(file);
    facts_.notes = xml.notes;
    walk(xml.document, Placed{}, 0);
    if (facts_.gpus.empty())
      throw InputError({std::string(file), ""},
                       elements_ > 0 ? "the topology holds no GPU"
                                     : "no element of an NCCL topology (system, cpu, pci, gpu, "
                                       "nic, net) found");
    facts_.resize(facts_.gpus.size(), facts_.nics.size());
    relate();
    link();
    if (!xml.notes.empty()) forget_cut_links();
    note_oddities();
    return std::move(facts_);
  }

 private:
  void walk(const pugi::xml_node& parent, const Placed& above, int depth) {
    if (depth > kDeepest) return;
    for (const pugi::xml_node& child : parent.children()) {
      const std::string_view name = child.name();
      Placed here = above;
      if (name == "cpu") {
        here.cpu = take_cpu(child);
      } else if (name == "pci") {
        take_pci(child, here);
      } else if (name == "gpu") {
        take_gpu(child, here);
      } else if (name == "net") {
        take_net(child, here);
      } else if (name != "system" && name != "nic") {
        continue;
      }
      ++elements_;
      walk(child, here, depth + 1);
    }
  }

  int take_cpu(const pugi::xml_node& cpu) {
    const std::string numa = cpu.attribute("numaid").as_string("");
    // In dumps of several hosts each has its own NUMA node 0.
    const std::string host = cpu.attribute("host_hash").as_string("");
    hosts_[host] = true;
    cpu_numa_.push_back(host.empty() || hosts_.size() == 1 ? numa : host + "/" + numa);
    const CpuType type =
        cpu_type(cpu.attribute("arch").as_string(""), cpu.attribute("vendor").as_string(""),
                 odd_.integer(cpu, "familyid", 0, 1 << 20, 0, 0),
                 odd_.integer(cpu, "modelid", 0, 1 << 20, 0, 0));
    if (!facts_.socket_rate) facts_.socket_rate = type.socket_rate;
    if (facts_.cpu.empty()) facts_.cpu = type.name;
    return static_cast<int>(cpu_numa_.size()) - 1;
  }

  void take_pci(const pugi::xml_node& pci, Placed& here) {
    here.pci = pci_count_++;
    here.path.push_back(here.pci);
    check_link(pci);
    const std::string code = lower(pci.attribute("class").as_string(""));
    // System files of clouds hold only PCI devices; their class says what they are.
    const bool has_gpu = pci.child("gpu");
    const bool has_net = pci.child("nic") || pci.child("net");
    const bool leaf = !pci.child("pci");
    if (!has_gpu && !has_net && leaf && is_gpu_class(code)) take_gpu(pci, here);
    if (!has_net && !has_gpu && leaf && is_nic_class(code)) add_nic(here, "", std::nullopt);
  }

  void take_gpu(const pugi::xml_node& element, const Placed& here) {
    if (facts_.gpus.size() >= kMostDevices) return;
    const bool bare = std::string_view(element.name()) == "pci";
    const pugi::xml_node pci = bare ? element : element.parent();
    GpuFact gpu;
    gpu.label = fmt::format("GPU{}", facts_.gpus.size());
    gpu.numa = numa_of(here);
    gpu.bus = lower(pci.attribute("busid").as_string(""));
    gpu.pcie_rate = slot_rate(pci);
    gpu.type = gpu_type_of_device(lower(pci.attribute("device").as_string("")));
    const std::string gcn = gfx_name(element.attribute("gcn").as_string(""));
    const int sm = odd_.integer(element, "sm", 1, 100000, 0, 0);
    if (!gcn.empty()) {
      gpu.architecture = gcn;
      gpu.multiprocessors = sm;
    } else if (sm > 0) {
      gpu.architecture = fmt::format("sm_{}", sm);
    }
    check_architecture(gpu, lower(pci.attribute("device").as_string("")));
    partitions_ = partitions_ || element.attribute("mlopart");
    bare_ = bare_ || bare;
    by_bus_.emplace(lower(pci.attribute("busid").as_string("")), facts_.gpus.size());
    elements_of_gpu_.push_back(element);
    place_of_gpu_.push_back(here);
    facts_.gpus.push_back(std::move(gpu));
  }

  // A file that was put together by hand: the PCI device is one model, the `sm` of another.
  void check_architecture(const GpuFact& gpu, const std::string& device) {
    if (!gpu.type || gpu.architecture.empty()) return;
    const std::string own = find_gpu_type(*gpu.type).architecture;
    if (gpu.architecture != own)
      other_models_[fmt::format("PCI device {} is {} ({})", device, *gpu.type, own)]
                   [gpu.architecture] += " " + gpu.label;
  }

  // Virtual and sleeping links state nothing, or 0 lanes; those are no slips.
  void check_link(const pugi::xml_node& pci) {
    const std::string_view speed = pci.attribute("link_speed").as_string("");
    if (!speed.empty() && !lower(speed).starts_with("unknown") && !is_link_speed(speed))
      odd_.add(pci, "link_speed", "a rate such as \"16.0 GT/s PCIe\"");
    constexpr int unknown_lanes = 255;  // of Linux' sysfs, where the width is not known
    odd_.integer(pci, "link_width", 0, unknown_lanes, 0, 0);
  }

  void take_net(const pugi::xml_node& net, const Placed& here) {
    const std::string_view stated = net.attribute("speed").as_string("");
    const auto speed = number_of(net, "speed");  // Mb/s
    // Linux states -1 for a port without a link.
    if (!stated.empty() && stated != "-1" && (!speed || *speed < 0))
      odd_.add(net, "speed", "a rate in Mb/s such as 200000");
    std::optional<Bandwidth> rate;
    const std::string name = net.attribute("name").as_string("");
    // Ports that are down or virtual state 1, 10 or 100 Mb/s; no NIC that NCCL uses has so little.
    constexpr double slowest = 1000;
    if (speed && *speed >= slowest) rate = gigabits_per_second(*speed / 1000);
    if (speed && *speed > 0 && *speed < slowest)
      slow_ports_ += fmt::format(" {} ({} Mb/s)", name.empty() ? "a NIC" : name, *speed);
    add_nic(here, name, rate);
  }

  void add_nic(const Placed& here, std::string name, std::optional<Bandwidth> rate) {
    if (facts_.nics.size() >= kMostDevices) return;
    const auto taken = [&](const std::string& candidate) {
      return std::any_of(facts_.nics.begin(), facts_.nics.end(),
                         [&](const NicFact& nic) { return nic.device == candidate; });
    };
    if (name.empty()) name = fmt::format("nic{}", facts_.nics.size());
    std::string unique = name;
    for (int port = 2; taken(unique); ++port) unique = fmt::format("{}#{}", name, port);
    facts_.nics.push_back({unique, unique, numa_of(here), rate});
    place_of_nic_.push_back(here);
  }

  // The slowest link on the way that states a credible one.
  static std::optional<Bandwidth> slot_rate(const pugi::xml_node& pci) {
    std::optional<Bandwidth> slowest;
    for (pugi::xml_node at = pci; std::string_view(at.name()) == "pci"; at = at.parent()) {
      const auto rate = pcie_rate(at.attribute("link_speed").as_string(""),
                                  integer_of(at, "link_width", 0, 64, 0));
      if (rate && (!slowest || *rate < *slowest)) slowest = rate;
    }
    return slowest;
  }

  [[nodiscard]] std::string numa_of(const Placed& here) const {
    return here.cpu < 0 ? "" : cpu_numa_[static_cast<std::size_t>(here.cpu)];
  }

  // PIX: the devices share the lowest bridge above both (or are one device); PXB: a higher one.
  static PathKind path_between(const Placed& a, const Placed& b) {
    std::size_t common = 0;
    while (common < a.path.size() && common < b.path.size() && a.path[common] == b.path[common])
      ++common;
    if (common > 0) {
      const std::size_t below = std::max(a.path.size(), b.path.size()) - common;
      return below <= 1 ? PathKind::pix : PathKind::pxb;
    }
    return a.cpu == b.cpu ? PathKind::phb : PathKind::sys;
  }

  void relate() {
    const std::size_t gpus = facts_.gpus.size();
    const std::size_t nics = facts_.nics.size();
    for (std::size_t a = 0; a < gpus; ++a) {
      for (std::size_t b = 0; b < gpus; ++b)
        if (a != b) facts_.gpu_gpu[a][b] = {path_between(place_of_gpu_[a], place_of_gpu_[b]), 0};
      for (std::size_t b = 0; b < nics; ++b)
        facts_.gpu_nic[a][b] = path_between(place_of_gpu_[a], place_of_nic_[b]);
    }
    for (std::size_t a = 0; a < nics; ++a)
      for (std::size_t b = 0; b < nics; ++b)
        if (a != b) facts_.nic_nic[a][b] = path_between(place_of_nic_[a], place_of_nic_[b]);
  }

  void link() {
    for (std::size_t gpu = 0; gpu < facts_.gpus.size(); ++gpu)
      for (const char* kind : {"nvlink", "xgmi"})
        for (const pugi::xml_node& element : elements_of_gpu_[gpu].children(kind))
          take_link(gpu, element);
    // Links are listed at both ends; one end may be missing.
    for (std::size_t a = 0; a < facts_.gpus.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        int& x = facts_.gpu_gpu[a][b].nvlinks;
        int& y = facts_.gpu_gpu[b][a].nvlinks;
        x = y = std::max(x, y);
      }
  }

  void take_link(std::size_t gpu, const pugi::xml_node& element) {
    const int count = odd_.integer(element, "count", 0, 1024, 1, 0);
    const std::string target = lower(element.attribute("target").as_string(""));
    if (target.find(':') == std::string::npos && element.attribute("target"))
      odd_.add(element, "target", "the PCI address of a device such as 0000:07:00.0");
    if (count == 0) return;
    const std::string code = lower(element.attribute("tclass").as_string(""));
    const auto peer = by_bus_.find(target);
    // 0x068000 is an NVSwitch; ffff… the address of a fabric that spans trays.
    if (peer == by_bus_.end() && (code == "0x068000" || target.starts_with("fffffff"))) {
      facts_.nvswitch = true;
      facts_.gpus[gpu].switch_links += count;
    } else if (peer == by_bus_.end()) {
      lost_links_ += fmt::format(" GPU{} ({} to {})", gpu, count, target);
    } else if (peer->second == gpu) {
      self_links_.emplace_back(gpu, count);
    } else {
      facts_.gpu_gpu[gpu][peer->second].nvlinks += count;
    }
  }

  // The file ends inside its last GPU: fewer links than the one before has are no lost links.
  void forget_cut_links() {
    if (facts_.gpus.size() < 2) return;
    GpuFact& last = facts_.gpus.back();
    if (last.switch_links >= facts_.gpus[facts_.gpus.size() - 2].switch_links) return;
    last.switch_links = 0;
    for (Relation& relation : facts_.gpu_gpu.back())
      if (relation.path != PathKind::self && relation.nvlinks == 0) relation.nvlinks = -1;
    for (std::size_t gpu = 0; gpu + 1 < facts_.gpus.size(); ++gpu)
      facts_.gpu_gpu[gpu].back().nvlinks = facts_.gpu_gpu.back()[gpu].nvlinks;
  }

  // Some cloud files link each GPU to itself: a bridge whose other end they do not know.
  void pair_self_links() {
    for (std::size_t i = 0; i + 1 < self_links_.size(); i += 2) {
      const auto [a, links] = self_links_[i];
      const std::size_t b = self_links_[i + 1].first;
      facts_.gpu_gpu[a][b].nvlinks = facts_.gpu_gpu[b][a].nvlinks = links;
    }
    facts_.notes.push_back(fmt::format(
        "{} with NVLinks that lead to the GPU itself; neighbours are taken to be bridged in "
        "pairs, in the order of the file",
        counted(self_links_.size(), "GPU")));
  }

  void note_oddities() {
    facts_.notes.insert(facts_.notes.end(), odd_.notes().begin(), odd_.notes().end());
    for (const auto& [model, stated] : other_models_)
      for (const auto& [architecture, gpus] : stated)
        facts_.notes.push_back(
            fmt::format("{}: {}, but the file states {} for{}; the PCI device is believed",
                        facts_.source, model, architecture, gpus));
    if (!self_links_.empty()) pair_self_links();
    if (!lost_links_.empty())
      facts_.notes.push_back(fmt::format(
          "NVLinks to devices that the file does not hold are left out:{}", lost_links_));
    if (!slow_ports_.empty())
      facts_.notes.push_back(
          fmt::format("rates of ports that are down or virtual are not believed:{}", slow_ports_));
    if (bare_)
      facts_.notes.push_back(
          "GPUs and NICs are told by their PCI class; NVLinks and NIC rates are "
          "not in the file");
    if (bare_)
      for (auto& row : facts_.gpu_gpu)
        for (Relation& relation : row)
          if (relation.path != PathKind::self) relation.nvlinks = -1;
    if (partitions_)
      facts_.notes.push_back("a GPU is split in memory partitions; each counts as a GPU");
    if (hosts_.size() > 1)
      facts_.notes.push_back(
          fmt::format("the file holds {} hosts in one NVLink domain; together "
                      "they count as one node",
                      hosts_.size()));
    if (cpu_numa_.empty()) facts_.notes.push_back("no CPU in the file (a fragment)");
  }

  MachineFacts facts_;
  OddValues odd_;
  std::vector<std::string> cpu_numa_;
  std::map<std::string, bool> hosts_;
  std::map<std::string, std::size_t> by_bus_;
  std::vector<pugi::xml_node> elements_of_gpu_;
  std::vector<Placed> place_of_gpu_, place_of_nic_;
  std::vector<std::pair<std::size_t, int>> self_links_;
  std::string lost_links_, slow_ports_;
  std::map<std::string, std::map<std::string, std::string>> other_models_;
  int pci_count_ = 0;
  int elements_ = 0;
  bool partitions_ = false;
  bool bare_ = false;
};

}  // namespace

MachineFacts parse_nccl_topology(std::string_view text, std::string_view file) {
  return TreeReader().read(text, file);
}

}  // namespace amsp
