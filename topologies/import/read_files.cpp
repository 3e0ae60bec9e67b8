// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/file.hpp"
#include "topologies/import/import.hpp"
#include "topologies/import/nccl_xml.hpp"
#include "topologies/import/rewritten_text.hpp"
#include "topologies/import/topo_matrix.hpp"
#include "topologies/import/topo_table.hpp"

namespace amsp {
namespace {

bool has_element(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (!rest.starts_with(name)) continue;
    const char next = rest.size() > name.size() ? rest[name.size()] : '\0';
    if (!std::isalnum(static_cast<unsigned char>(next)) && next != '_') return true;
  }
  return false;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return has_element(text, name); });
}

// JSON of other kinds; empty when the text is none.
std::string json_kind(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return "";
  if (text[first] == '[') {  // mpirun marks lines with "[1,0]<stdout>:"
    const std::size_t item = text.find_first_not_of(" \t\r\n", first + 1);
    if (item == std::string_view::npos ||
        std::string_view("{[\"").find(text[item]) == std::string_view::npos)
      return "";
  }
  const auto has = [&](const char* key) { return text.find(key) != std::string_view::npos; };
  if (has("\"traceEvents\"") || (has("\"ph\"") && has("\"ts\"")))
    return "this is a Chrome trace (of a simulated step, Perfetto or a profiler), which shows no "
           "machine";
  if (has("\"fabric\"") && has("\"node\""))
    return "this is a cluster file already; give it to --cluster";
  if (has("busbw") || has("algbw") || has("bus_bw"))
    return "this looks like nccl-tests output in JSON (amsp calibrate reads that)";
  return text[first] == '{' || text.find('"') != std::string_view::npos ? "this is JSON" : "";
}

// What the text seems to be, for the message.
std::string seems(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "the file is empty";
  const auto zeros = std::count(text.begin(), text.end(), '\0');
  if (zeros > 0) return "the file is binary";
  if (const std::string json = json_kind(text); !json.empty()) return json;
  if (text.find("busbw") != std::string_view::npos)
    return "this looks like nccl-tests output (amsp calibrate reads that)";
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  if (has("ROCm System Management") || has("LINK TYPE TABLE") || has("Link Type between two GPUs"))
    return "this is the output of rocm-smi --showtopo or amd-smi topology, which is not read; take "
           "the XML that RCCL writes (NCCL_TOPO_DUMP_FILE=topo.xml) on the same machine";
  if (has("=== System : max"))
    return "this is NCCL's log of the tree that it found; take the tree itself "
           "(NCCL_TOPO_DUMP_FILE=topo.xml)";
  if (read_topo_table(text).peer_access)
    return "this is the output of nvidia-smi topo -p2p, which says who may reach whom; take topo "
           "-m";
  if (has("NVIDIA-SMI ") || has(" Link 0: "))
    return "this is nvidia-smi's list of GPUs or links; take nvidia-smi topo -m";
  if (text.find("GPU0") != std::string_view::npos)
    return "GPUs are named, but there is no row of a matrix (GPU0 X NV12 …)";
  return "nothing in it looks like one";
}

}  // namespace

void read_topology_text(std::string_view given, const std::string& file, Imported& imported) {
  const std::string printed = as_printed(given);
  const std::string_view text = printed.empty() ? given : std::string_view(printed);
  bool found = false;
  const auto add = [&](MachineFacts facts) {
    imported.machine = imported.machine ? merged(std::move(*imported.machine), facts) : facts;
    found = true;
  };
  if (has_any(text, {"graphs", "graph"})) {
    imported.graphs.emplace_back(file, parse_nccl_graphs(text, file));
    found = true;
  }
  if (has_any(text, {"system", "cpu", "pci", "gpu"}) && !found)
    add(parse_nccl_topology(text, file));
  else if (has_topo_matrix(text))
    add(parse_topo_matrix(text, file));
  if (!found)
    throw InputError({file, ""},
                     fmt::format("{}; accepted: the output of nvidia-smi topo -m, NCCL topology "
                                 "XML (NCCL_TOPO_DUMP_FILE), NCCL graph XML "
                                 "(NCCL_GRAPH_DUMP_FILE)",
                                 seems(text)));
}

std::string kind_of_topology(std::string_view text) {
  if (has_any(text, {"graphs", "graph"})) return "NCCL graph XML";
  if (has_any(text, {"system", "cpu", "pci", "gpu"})) return "NCCL topology XML";
  return has_topo_matrix(text) ? "a matrix of nvidia-smi topo -m" : "";
}

Imported read_topology_files(const std::vector<std::filesystem::path>& files) {
  if (files.empty()) throw InputError("no file to import");
  Imported imported;
  for (const std::filesystem::path& file : files)
    read_topology_text(read_file(file), file.string(), imported);
  return imported;
}

}  // namespace amsp
