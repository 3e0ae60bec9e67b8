// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "topologies/import/gpu_names.hpp"
#include "topologies/import/import.hpp"
#include "topologies/import/switch_links.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

std::string word_of(const Relation& relation) {
  if (relation.nvlinks > 0) return fmt::format("NV{}", relation.nvlinks);
  return std::string(name_of(relation.path));
}

std::string name_of_nic(const NicFact& nic) {
  return nic.device == nic.label ? nic.label : fmt::format("{} ({})", nic.label, nic.device);
}

// Key and number. Behind a switch each pair shows the links that lead there; direct links add up.
// Nothing where the files do not show NVLinks.
std::optional<std::pair<const char*, int>> links_of(const MachineFacts& facts, std::size_t gpu) {
  if (through_switch(facts)) {
    const int links = switch_links(facts).of_gpu[gpu];
    if (links < 0) return std::nullopt;
    return std::pair{"nvlinks_to_switch", links};
  }
  int links = 0;
  bool known = false;
  for (std::size_t other = 0; other < facts.gpus.size(); ++other) {
    if (other == gpu) continue;
    known = known || facts.gpu_gpu[gpu][other].nvlinks >= 0;
    links += std::max(0, facts.gpu_gpu[gpu][other].nvlinks);
  }
  if (!known) return std::nullopt;
  return std::pair{"nvlinks_to_gpus", links};
}

Json gpu_json(const MachineFacts& facts, std::size_t i) {
  const GpuFact& gpu = facts.gpus[i];
  Json json = {{"label", gpu.label}};
  if (gpu.type) json["type"] = *gpu.type;
  if (!gpu.architecture.empty()) json["architecture"] = gpu.architecture;
  if (gpu.multiprocessors > 0) json["multiprocessors"] = gpu.multiprocessors;
  if (!gpu.cpus.empty()) json["cpu_affinity"] = gpu.cpus;
  if (!gpu.numa.empty()) json["numa_affinity"] = gpu.numa;
  if (!gpu.gpu_numa.empty()) json["gpu_numa_id"] = gpu.gpu_numa;
  if (gpu.pcie_rate) json["pcie_rate"] = to_text(*gpu.pcie_rate);
  if (const auto links = links_of(facts, i)) json[links->first] = links->second;
  Json gpus = Json::object();
  for (std::size_t j = 0; j < facts.gpus.size(); ++j)
    gpus[facts.gpus[j].label] = word_of(facts.gpu_gpu[i][j]);
  Json nics = Json::object();
  for (std::size_t j = 0; j < facts.nics.size(); ++j)
    nics[facts.nics[j].label] = name_of(facts.gpu_nic[i][j]);
  json["gpus"] = gpus;
  json["nics"] = nics;
  return json;
}

Json machine_json(const MachineFacts& facts) {
  Json json = {{"source", facts.source},
               {"gpu_count", facts.gpus.size()},
               {"nic_count", facts.nics.size()},
               {"nvswitch", facts.nvswitch}};
  if (!facts.cpu.empty()) json["cpu"] = facts.cpu;
  json["gpus"] = Json::array();
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) json["gpus"].push_back(gpu_json(facts, i));
  json["nics"] = Json::array();
  for (std::size_t i = 0; i < facts.nics.size(); ++i) {
    Json nic = {{"label", facts.nics[i].label}, {"device", facts.nics[i].device}};
    if (facts.nics[i].rate) nic["rate"] = to_text(*facts.nics[i].rate);
    if (!facts.nics[i].numa.empty()) nic["numa_affinity"] = facts.nics[i].numa;
    for (std::size_t j = 0; j < facts.nics.size(); ++j)
      nic["nics"][facts.nics[j].label] = name_of(facts.nic_nic[i][j]);
    json["nics"].push_back(nic);
  }
  json["notes"] = facts.notes;
  return json;
}

Json graphs_json(const std::string& file, const NcclGraphs& graphs) {
  Json list = Json::array();
  for (const ImportedGraph& graph : graphs.graphs)
    list.push_back({{"id", graph.id},
                    {"pattern", graph.pattern},
                    {"pattern_name", graph.pattern_name},
                    {"channels", graph.channels},
                    {"rate_intra", to_text(graph.intra)},
                    {"rate_inter", to_text(graph.inter)},
                    {"type_intra", graph.type_intra},
                    {"type_inter", graph.type_inter},
                    {"orders", graph.orders}});
  return {{"source", file}, {"graphs", list}, {"notes", graphs.notes}};
}

std::string machine_table(const MachineFacts& facts) {
  std::string out =
      fmt::format("{}: {}, {}{}\n", facts.source, counted(facts.gpus.size(), "GPU"),
                  counted(facts.nics.size(), "NIC"), facts.nvswitch ? ", NVSwitch" : "");
  out += fmt::format("{:<10}", "");
  for (const GpuFact& gpu : facts.gpus) out += fmt::format(" {:>6}", gpu.label);
  for (const NicFact& nic : facts.nics) out += fmt::format(" {:>7}", nic.label);
  out += "  CPUs / NUMA\n";
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    out += fmt::format("{:<10}", facts.gpus[i].label);
    for (const Relation& relation : facts.gpu_gpu[i])
      out += fmt::format(" {:>6}", word_of(relation));
    for (const PathKind path : facts.gpu_nic[i]) out += fmt::format(" {:>7}", name_of(path));
    out += fmt::format("  {} / {}\n", facts.gpus[i].cpus.empty() ? "?" : facts.gpus[i].cpus,
                       facts.gpus[i].numa.empty() ? "?" : facts.gpus[i].numa);
  }
  for (const NicFact& nic : facts.nics)
    out += fmt::format("{:<28} {}\n", name_of_nic(nic), nic.rate ? human(*nic.rate) : "rate ?");
  for (const std::string& note : facts.notes) out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace

std::string to_json(const Imported& imported) {
  Json json = Json::object();
  if (imported.machine) json["machine"] = machine_json(*imported.machine);
  if (!imported.graphs.empty()) json["graph_files"] = Json::array();
  for (const auto& [file, graphs] : imported.graphs)
    json["graph_files"].push_back(graphs_json(file, graphs));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_table(const Imported& imported) {
  std::string out;
  if (imported.machine) out += machine_table(*imported.machine);
  for (const auto& [file, graphs] : imported.graphs)
    out += fmt::format("{}: NCCL graphs (rates per channel and direction)\n{}", file,
                       describe(graphs));
  return out;
}

}  // namespace amsp
