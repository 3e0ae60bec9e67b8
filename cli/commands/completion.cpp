// SPDX-License-Identifier: Apache-2.0
// amsp completion: what shells and man want to know about amsp.
#include "cli/completion.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace amsp {
namespace {

class CompletionCommand : public Command {
 public:
  std::string_view name() const override { return "completion"; }
  std::string_view description() const override {
    return "print the completion script for bash or zsh, or the man page";
  }
  std::string_view group() const override { return "Pages and this program"; }
  std::string_view example() const override {
    return "amsp completion bash > ~/.local/share/bash-completion/completions/amsp";
  }
  std::string_view details() const override {
    return "Or at once: source <(amsp completion bash). \"amsp completion names SCENARIO\" prints "
           "the names that the scripts offer.";
  }
  void declare(Options& options) override {
    options.positional("WHAT", "what to print", what_, {"bash", "zsh", "man", "names"});
    options.optional_positional("VALUE", "names: SCENARIO, CLUSTER, MODEL, STRATEGY or CALIBRATION",
                                value_);
  }
  int run() override {
    if (what_ == "bash")
      fmt::print("{}", bash_completion(declared_commands()));
    else if (what_ == "zsh")
      fmt::print("{}", zsh_completion(declared_commands()));
    else if (what_ == "man")
      fmt::print("{}", man_page(declared_commands()));
    else
      for (const std::string& name : names_for(value_)) fmt::print("{}\n", name);
    return 0;
  }

 private:
  std::string what_, value_;
};

}  // namespace

std::unique_ptr<Command> command_completion() { return std::make_unique<CompletionCommand>(); }

}  // namespace amsp
