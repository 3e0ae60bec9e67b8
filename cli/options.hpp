// SPDX-License-Identifier: Apache-2.0
// Declares the options of a command. A thin face of CLI11, so that its heavy header is compiled
// once (options.cpp); the same declarations feed help, completion and the man page.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace amsp {

// What was declared, for completion and the man page.
struct OptionDeclaration {
  std::vector<std::string> flags;  // "-o", "--output"; empty for a positional argument
  std::string value_name;          // "DIR"; empty for a flag; the name of a positional argument
  std::string help;
  std::vector<std::string> accepted = {};  // the values of a choice
  bool optional = true;                    // a positional argument that may be left out
  bool repeatable = false;
};

class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}
  [[nodiscard]] const std::vector<OptionDeclaration>& declared() const { return declared_; }

  // Positional arguments, e.g. positional("SCENARIO", "name or path", scenario).
  void positional(std::string_view name, std::string_view help, std::string& value);
  void positional(std::string_view name, std::string_view help, std::string& value,
                  std::vector<std::string> accepted);
  void optional_positional(std::string_view name, std::string_view help, std::string& value);
  void positionals(std::string_view name, std::string_view help, std::vector<std::string>& values);
  void optional_positionals(std::string_view name, std::string_view help,
                            std::vector<std::string>& values);
  // Options, e.g. option("-o,--output", "DIR", "where results go", directory). Quantities are read
  // as text and parsed by base/units_text.hpp, so that they need their unit.
  void option(std::string_view flags, std::string_view value_name, std::string_view help,
              std::string& value);
  void option(std::string_view flags, std::string_view value_name, std::string_view help,
              std::optional<std::string>& value);
  // Where results go: refused at once when nothing could be written there. The folder of a file
  // need not exist where it is, or lies in, the command's own output folder.
  void output_file(std::string_view flags, std::string_view value_name, std::string_view help,
                   std::string& value);
  void output_file(std::string_view flags, std::string_view value_name, std::string_view help,
                   std::optional<std::string>& value);
  void output_folder(std::string_view flags, std::string_view value_name, std::string_view help,
                     std::string& value);
  void integer(std::string_view flags, std::string_view value_name, std::string_view help,
               long long& value, long long low, long long high);
  void integer(std::string_view flags, std::string_view value_name, std::string_view help,
               std::optional<long long>& value, long long low, long long high);
  void number(std::string_view flags, std::string_view value_name, std::string_view help,
              double& value, double low, double high);
  void number(std::string_view flags, std::string_view value_name, std::string_view help,
              std::optional<double>& value, double low, double high);
  void choice(std::string_view flags, std::string_view value_name, std::string_view help,
              std::string& value, std::vector<std::string> accepted);
  void repeated(std::string_view flags, std::string_view value_name, std::string_view help,
                std::vector<std::string>& values);
  void flag(std::string_view flags, std::string_view help, bool& value);

 private:
  void declare(std::string_view flags, std::string_view value_name, std::string_view help);
  [[nodiscard]] std::function<std::string(const std::string&)> output_file_check() const;

  CLI::App& app_;
  std::shared_ptr<std::vector<const CLI::Option*>> folders_ =
      std::make_shared<std::vector<const CLI::Option*>>();
  std::vector<OptionDeclaration> declared_;
};

}  // namespace amsp
