// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/topo_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "topologies/import/gpu_names.hpp"
#include "topologies/import/plain_text.hpp"
#include "topologies/import/topo_table.hpp"

namespace amsp {
namespace {

Relation relation_of(std::string_view word) {
  if (word == "X") return {PathKind::self, 0};
  if (word == "PIX" || word == "PSB") return {PathKind::pix, 0};
  if (word == "PXB") return {PathKind::pxb, 0};
  if (word == "PHB") return {PathKind::phb, 0};
  if (word == "NODE") return {PathKind::node, 0};
  if (word == "SYS" || word == "SOC") return {PathKind::sys, 0};
  if (!word.starts_with("NV")) return {};  // N/A, C2C: says nothing of PCIe
  int links = 0;
  std::from_chars(word.data() + 2, word.data() + word.size(), links);
  return {PathKind::unknown, links};
}

std::string shown(const Relation& relation) {
  return relation.nvlinks > 0 ? fmt::format("NV{}", relation.nvlinks)
                              : std::string(name_of(relation.path));
}

// Which GPU or NIC a column or row label is.
struct Device {
  bool gpu = false;
  std::size_t index = 0;
};

class MatrixReader {
 public:
  MatrixReader(const TopoTable& table, std::string_view file) : table_(table) {
    facts_.source = file;
    facts_.notes = table.notes;
  }

  MachineFacts read() {
    add_devices();
    facts_.resize(facts_.gpus.size(), facts_.nics.size());
    for (const TopoRow& row : table_.rows) take(row);
    fill_from_transposed();
    note_missing_rows();
    note_gaps();
    return std::move(facts_);
  }

 private:
  void add_devices() {
    std::vector<std::string> labels = table_.columns;
    for (const TopoRow& row : table_.rows) labels.push_back(row.label);
    for (const std::string& label : labels) {
      if (device_.contains(label)) continue;
      const bool gpu = is_gpu_label(label);
      device_[label] = {gpu, gpu ? facts_.gpus.size() : facts_.nics.size()};
      if (gpu) {
        facts_.gpus.emplace_back().label = label;
      } else {
        NicFact& nic = facts_.nics.emplace_back();
        nic.label = label;
        const auto name = table_.legend.find(label);
        nic.device = name == table_.legend.end() ? label : name->second;
      }
    }
  }

  void take(const TopoRow& row) {
    const Device from = device_.at(row.label);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Device to = device_.at(table_.columns[i]);
      const Relation relation = relation_of(row.cells[i]);
      // Drivers before 2018 said SOC.
      if (row.cells[i] == "SOC") facts_.default_type = "k80";
      if ((relation.path == PathKind::self) != (row.label == table_.columns[i])) {
        if (relation.path == PathKind::self) misplaced_ += " " + row.label;
        continue;
      }
      set(from, to, relation);
    }
    if (row.cells.size() < table_.columns.size())
      facts_.notes.push_back(fmt::format("{}: line {}: the row of {} has {} of {} cells",
                                         facts_.source, row.line, row.label, row.cells.size(),
                                         table_.columns.size()));
    if (from.gpu) take_tail(row, facts_.gpus[from.index]);
  }

  void set(Device from, Device to, Relation relation) {
    if (from.gpu && to.gpu) {
      facts_.gpu_gpu[from.index][to.index] = relation;
      known_[{from.index, to.index}] = true;
    } else if (from.gpu) {
      facts_.gpu_nic[from.index][to.index] = relation.path;
    } else if (to.gpu) {
      PathKind& path = facts_.gpu_nic[to.index][from.index];
      if (path != PathKind::unknown && path != relation.path && relation.path != PathKind::unknown)
        facts_.notes.push_back(
            fmt::format("{} to {} is {} in one direction and {} in the other; "
                        "the GPU's row is taken",
                        facts_.gpus[to.index].label, facts_.nics[from.index].label, name_of(path),
                        name_of(relation.path)));
      if (path == PathKind::unknown) path = relation.path;
    } else {
      facts_.nic_nic[from.index][to.index] = relation.path;
    }
  }

  // In the order of the header's columns; old drivers print CPU affinity alone.
  void take_tail(const TopoRow& row, GpuFact& gpu) {
    std::vector<std::string> columns = table_.tail_columns;
    if (columns.empty()) columns = {"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"};
    for (std::size_t i = 0; i < std::min(columns.size(), row.tail.size()); ++i) {
      const std::string value = row.tail[i] == "N/A" ? "" : row.tail[i];
      if (columns[i] == "CPU Affinity") gpu.cpus = value;
      if (columns[i] == "NUMA Affinity") gpu.numa = value;
      if (columns[i] == "GPU NUMA ID") gpu.gpu_numa = value;
    }
  }

  // Rows that are cut or missing are known from the other device's row.
  void fill_from_transposed() {
    const std::size_t n = facts_.gpus.size();
    std::vector<std::string> asymmetric;
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        const bool mine = known_.contains({a, b});
        const bool theirs = known_.contains({b, a});
        if (!mine && theirs) facts_.gpu_gpu[a][b] = facts_.gpu_gpu[b][a];
        const Relation& x = facts_.gpu_gpu[a][b];
        const Relation& y = facts_.gpu_gpu[b][a];
        if (a < b && mine && theirs && (x.nvlinks != y.nvlinks || x.path != y.path)) {
          asymmetric.push_back(fmt::format("{0} to {1} is {2} and back {3}", facts_.gpus[a].label,
                                           facts_.gpus[b].label, shown(x), shown(y)));
          facts_.gpu_gpu[b][a] = x;
        }
      }
    if (asymmetric.size() == 1)
      facts_.notes.push_back(asymmetric.front() + "; the upper row is taken");
    else if (!asymmetric.empty())
      facts_.notes.push_back(fmt::format("{} ({} more alike); the upper row is taken",
                                         asymmetric.front(),
                                         counted(asymmetric.size() - 1, "pair")));
    for (std::size_t a = 0; a < facts_.nics.size(); ++a)
      for (std::size_t b = 0; b < facts_.nics.size(); ++b)
        if (facts_.nic_nic[a][b] == PathKind::unknown) facts_.nic_nic[a][b] = facts_.nic_nic[b][a];
  }

  // GPUs that the driver leaves out (MIG, drained): the others are numbered through.
  void note_gaps() {
    for (std::size_t i = 0; i < facts_.gpus.size(); ++i) {
      if (facts_.gpus[i].label == fmt::format("GPU{}", i)) continue;
      facts_.notes.push_back(
          fmt::format("the GPUs are not numbered through (position {} holds {}): numbered anew", i,
                      facts_.gpus[i].label));
      return;
    }
  }

  void note_missing_rows() {
    std::string missing;
    for (const std::string& label : table_.columns) {
      const bool found = std::any_of(table_.rows.begin(), table_.rows.end(),
                                     [&](const TopoRow& row) { return row.label == label; });
      if (!found) missing += " " + label;
    }
    if (!missing.empty())
      facts_.notes.push_back(
          fmt::format("no row for{}: the text is cut; what other rows say of "
                      "them is used",
                      missing));
    if (!misplaced_.empty())
      facts_.notes.push_back(
          fmt::format("X stands outside the diagonal in the row of{}; that "
                      "cell is not used",
                      misplaced_));
  }

  const TopoTable& table_;
  MachineFacts facts_;
  std::map<std::string, Device> device_;
  std::map<std::pair<std::size_t, std::size_t>, bool> known_;
  std::string misplaced_;
};

bool has_gpu_row(const TopoTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const TopoRow& row) { return is_gpu_label(row.label); });
}

// "  MIG 3g.40gb     Device  0: (UUID: MIG-…)" of nvidia-smi -L.
std::size_t mig_instances(std::string_view text) {
  if (text.find("MIG ") == std::string_view::npos) return 0;
  const std::vector<std::string> lines = plain_lines(text);
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
        const auto words = words_of(line);
        return words.size() > 2 && words[0] == "MIG" && words[2] == "Device";
      }));
}

}  // namespace

bool has_topo_matrix(std::string_view text) { return has_gpu_row(read_topo_table(text)); }

MachineFacts parse_topo_matrix(std::string_view text, std::string_view file) {
  const TopoTable table = read_topo_table(text);
  if (!has_gpu_row(table))
    throw InputError({std::string(file), ""},
                     table.columns.empty()
                         ? "no matrix of nvidia-smi topo -m found (a header GPU0 GPU1 … and rows "
                           "GPU0 X …)"
                         : "the matrix has a header but no row of a GPU; give the whole output of "
                           "nvidia-smi topo -m");
  if (!table.foreign.empty()) {
    const ForeignCell& cell = table.foreign.front();
    throw InputError(
        {std::string(file), fmt::format("line {}", cell.line)},
        fmt::format("row {}, column {}: \"{}\" is no path; accepted: X, NV1 to NV64, PIX, "
                    "PXB, PHB, NODE, SYS, C2C, N/A (old drivers: PSB, SOC)",
                    cell.row, cell.column, cell.word));
  }
  MachineFacts facts = MatrixReader(table, file).read();
  // Environment reports name the type beside the matrix.
  if (const auto type = gpu_type_in_text(text, facts.notes))
    for (GpuFact& gpu : facts.gpus) gpu.type = type;
  if (const std::size_t instances = mig_instances(text); instances > 0)
    facts.notes.push_back(
        fmt::format("the file lists {}; the matrix is of whole GPUs, and so is the "
                    "cluster: a job on an instance has a part of one, without NVLink",
                    counted(instances, "MIG instance")));
  return facts;
}

}  // namespace amsp
