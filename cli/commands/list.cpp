// SPDX-License-Identifier: Apache-2.0
// amsp list: the names that other commands accept.
#include "base/error.hpp"
#include "cli/command.hpp"

namespace amsp {
namespace {

class ListCommand : public Command {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view description() const override {
    return "list clusters, models, strategies, scenarios or collectives";
  }
  void declare(Options& options) override {
    options.positional("WHAT", "clusters, models, strategies, scenarios or collectives", what_);
  }
  int run() override {
    throw InputError(unknown_name(
        "list", what_, {"clusters", "models", "strategies", "scenarios", "collectives"}));
  }

 private:
  std::string what_;
};

}  // namespace

std::unique_ptr<Command> command_list() { return std::make_unique<ListCommand>(); }

}  // namespace amsp
