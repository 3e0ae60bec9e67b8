// SPDX-License-Identifier: Apache-2.0
// A subcommand of amsp: one file in cli/commands/, which defines
// `std::unique_ptr<Command> command_STEM()` (cmake/layer.cmake collects them).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace amsp {

class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;        // one line
  [[nodiscard]] virtual std::string_view details() const { return ""; }  // shown by --help
  [[nodiscard]] virtual std::string_view group() const = 0;    // its heading in amsp --help
  [[nodiscard]] virtual std::string_view example() const = 0;  // a command line, shown by --help
  virtual void declare(Options& options) = 0;
  // Results to stdout, progress to stderr; returns the exit status (0, or 1 when a check failed).
  virtual int run() = 0;
};

std::vector<std::unique_ptr<Command>> all_commands();

// Every command with what it declares (and the flags that all of them take).
struct CommandDeclaration {
  std::string name, description, details;
  std::vector<OptionDeclaration> options;
  std::string example = {};
};
std::vector<CommandDeclaration> declared_commands();

// Parses the command line, runs one command, turns exceptions into messages and exit statuses.
int run_program(int argc, char** argv);

}  // namespace amsp
