// SPDX-License-Identifier: Apache-2.0
// amsp doctor: what this machine has, and what is skipped for want of the rest.
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/machine_check.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

class DoctorCommand : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view description() const override {
    return "say what this machine has (GPUs, NCCL, tools) and what is skipped without it";
  }
  std::string_view group() const override { return "Pages and this program"; }
  std::string_view example() const override { return "amsp doctor"; }
  std::string_view details() const override {
    return "Nothing in the list is needed to plan, simulate or calibrate.";
  }
  void declare(Options& /*options*/) override {}
  int run() override {
    fmt::print("amsp {}, {} processors\n", AMSP_VERSION, ::sysconf(_SC_NPROCESSORS_ONLN));
    for (const char* kind : {"topologies", "workloads/models", "calibrate/data", "scenarios"})
      fmt::print("  {:<17} {} files in {}\n", kind, data_names(kind).size(),
                 data_folder(kind).string());
    Table table({{"", "", Align::left},
                 {"what", "", Align::left},
                 {"found", "", Align::left},
                 {"without it there is no", "", Align::left}});
    for (const MachineCheck& check : check_machine())
      table.add_row({check.present ? "ok" : "--", check.what, check.found,
                     check.present ? " " : check.without});
    fmt::print("\n{}", table_text(table));
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> command_doctor() { return std::make_unique<DoctorCommand>(); }

}  // namespace amsp
