// SPDX-License-Identifier: Apache-2.0
// amsp import: a cluster from topology files of a machine.
#include "topologies/import/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/units_text.hpp"
#include "cli/command.hpp"
#include "topologies/fastest_links.hpp"

namespace amsp {
namespace {

class ImportCommand : public Command {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view description() const override {
    return "make a cluster from nvidia-smi topo -m and NCCL topology XML";
  }
  std::string_view group() const override { return "Inputs"; }
  std::string_view example() const override {
    return "amsp import topo.txt --nodes 16 --gpu h100-sxm5-80gb -o cluster.json";
  }
  std::string_view details() const override {
    return "FILE...: the output of nvidia-smi topo -m, NCCL topology XML (NCCL_TOPO_DUMP_FILE), "
           "NCCL graph XML (NCCL_GRAPH_DUMP_FILE, reported only); several files are taken to be of "
           "one machine.\n"
           "What the files do not say is filled with defaults; each is printed on stderr and kept "
           "in the file's \"assumptions\".";
  }
  void declare(Options& options) override {
    options.positionals("FILE", "topology files of one machine", files_);
    options.output_file("-o,--output", "FILE", "where the cluster goes (default: stdout)", output_);
    options.integer("--nodes", "N", "number of such machines (default: 1, or one domain)", nodes_,
                    1, 1 << 20);
    options.integer("--nvlink-domain", "N",
                    "so many machines share one NVSwitch and are one node (18 trays of an NVL72)",
                    nvlink_domain_, 1, 576);
    options.option("--gpu", "NAME", "GPU type, where the files do not name it", gpu_);
    options.option("--nic-rate", "RATE", "rate of NICs, where the files do not state it",
                   nic_rate_);
    options.integer("--nics", "N", "NICs of a node, where the files show none", nics_, 1, 256);
    options.option("--name", "NAME", "name of the cluster", name_);
    options.flag("--parse-only", "print what was read, before any default is taken", parse_only_);
    options.choice("--format", "FORMAT", "of --parse-only: table or json", format_,
                   {"table", "json"});
  }
  int run() override {
    const Imported imported =
        read_topology_files(std::vector<std::filesystem::path>(files_.begin(), files_.end()));
    if (parse_only_) {
      fmt::print("{}", format_ == "json" ? to_json(imported) : to_table(imported));
      return 0;
    }
    Imported graphs_only;
    graphs_only.graphs = imported.graphs;
    if (!imported.machine) return report_graphs(graphs_only);
    remark(to_table(graphs_only));
    const ClusterSpec cluster = cluster_from(*imported.machine, options());
    say_unused(*imported.machine);
    for (const std::string& assumption : cluster.assumptions)
      remark("assumed: " + assumption + "\n");
    if (output_) {
      write_file(*output_, to_json(cluster));
      note("wrote " + *output_);
    } else {
      fmt::print("{}", to_json(cluster));
    }
    return 0;
  }

 private:
  // What the files show goes before what the command line says.
  void say_unused(const MachineFacts& machine) const {
    const std::size_t shown = machine.nics.size();
    if (nics_ && shown > 0)
      note(fmt::format("--nics {} is not used: the files show {}", *nics_, shown));
    const bool all_rated = std::all_of(machine.nics.begin(), machine.nics.end(),
                                       [](const NicFact& nic) { return nic.rate.has_value(); });
    if (nic_rate_ && shown > 0 && all_rated)
      note("--nic-rate is not used: the files state the rate of each NIC");
  }

  // Channels are no description of a machine.
  int report_graphs(const Imported& graphs) const {
    fmt::print("{}", to_table(graphs));
    if (output_)
      throw InputError({files_.front(), ""},
                       "NCCL graph XML lists channels, not devices: no cluster is written; add the "
                       "output of nvidia-smi topo -m or topology XML (NCCL_TOPO_DUMP_FILE)");
    return 0;
  }

  [[nodiscard]] ImportOptions options() const {
    ImportOptions options;
    options.name = name_;
    if (nvlink_domain_) options.nvlink_domain = static_cast<int>(*nvlink_domain_);
    options.nodes = static_cast<int>(nodes_.value_or(nvlink_domain_.value_or(1)));
    options.gpu = gpu_;
    if (nic_rate_) {
      options.nic_rate = parse_bandwidth(*nic_rate_, {"command line", "--nic-rate"});
      if (!(*options.nic_rate > Bandwidth(0)) || *options.nic_rate > kFastestNic)
        throw InputError(
            {"command line", "--nic-rate"},
            fmt::format("\"{}\" is no rate of a NIC: more than 0, at most 10 Tb/s", *nic_rate_));
    }
    if (nics_) options.nics = static_cast<int>(*nics_);
    if (name_.empty() && output_) options.name = std::filesystem::path(*output_).stem().string();
    return options;
  }

  std::vector<std::string> files_;
  std::optional<std::string> output_;
  std::optional<long long> nodes_, nvlink_domain_;
  std::string gpu_;
  std::optional<std::string> nic_rate_;
  std::optional<long long> nics_;
  std::string name_;
  bool parse_only_ = false;
  std::string format_ = "table";
};

}  // namespace

std::unique_ptr<Command> command_import() { return std::make_unique<ImportCommand>(); }

}  // namespace amsp
