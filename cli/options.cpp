// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "base/error.hpp"
#include "base/output_path.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"

namespace amsp {
namespace {

constexpr const char* kVersion = "amsp " AMSP_VERSION;

std::string text(std::string_view view) { return std::string(view); }

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// CLI11 says which argument it did not expect; we add the nearest that exists.
std::string parse_error_text(const CLI::App& app, const std::vector<std::string>& arguments,
                             const CLI::ParseError& error) {
  const auto parsed = app.get_subcommands();
  const CLI::App& where = parsed.empty() ? app : *parsed.front();
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    for (const std::string& argument : where.remaining(true)) {
      if (argument.rfind("--", 0) == 0)
        return unknown_name("option", argument.substr(0, argument.find('=')), option_names(where));
      return "unexpected argument \"" + argument + "\"; see amsp " + where.get_name() + " --help";
    }
  if (parsed.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (!arguments.empty() && arguments.front().rfind('-', 0) != 0)
      return unknown_name("command", arguments.front(), names);
    if (!arguments.empty()) return unknown_name("option", arguments.front(), option_names(app));
    return "which command? See amsp --help";
  }
  return message;
}

// CLI11's own range check lets "nan" pass.
std::function<std::string(const std::string&)> between(double low, double high) {
  return [low, high](const std::string& found) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(found.c_str(), &end);
    const bool number = end != found.c_str() && *end == '\0';
    if (number && value >= low && value <= high) return "";
    std::ostringstream message;
    message << "must be a number from " << low << " to " << high << ", but is \"" << found << '"';
    return message.str();
  };
}

std::string first_flag(std::string_view flags) { return text(flags.substr(0, flags.find(','))); }

// A check for CLI11 from one that throws.
template <class Check>
std::function<std::string(const std::string&)> refusal_of(Check check) {
  return [check](const std::string& found) -> std::string {
    try {
      check(found);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
}

template <class Run>
int guarded(Run run) {
  try {
    return run();
  } catch (const CheckFailed& failed) {
    std::fprintf(stderr, "amsp: %s\n", failed.what());
    return 1;
  } catch (const InputError& error) {
    std::fprintf(stderr, "amsp: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "amsp: internal error: %s\n", error.what());
    return 3;
  }
}

}  // namespace

void Options::positional(std::string_view name, std::string_view help, std::string& value) {
  declared_.push_back({{}, text(name), text(help), {}, false, false});
  app_.add_option(text(name), value, text(help))->required();
}
void Options::positional(std::string_view name, std::string_view help, std::string& value,
                         std::vector<std::string> accepted) {
  positional(name, help, value);
  declared_.back().accepted = accepted;
  app_.get_option(text(name))->check([accepted](const std::string& found) -> std::string {
    const bool known = std::find(accepted.begin(), accepted.end(), found) != accepted.end();
    return known ? "" : unknown_name("value", found, accepted);
  });
}
void Options::optional_positional(std::string_view name, std::string_view help,
                                  std::string& value) {
  declared_.push_back({{}, text(name), text(help), {}, true, false});
  app_.add_option(text(name), value, text(help));
}
void Options::positionals(std::string_view name, std::string_view help,
                          std::vector<std::string>& values) {
  declared_.push_back({{}, text(name), text(help), {}, false, true});
  app_.add_option(text(name), values, text(help))->required();
}
void Options::optional_positionals(std::string_view name, std::string_view help,
                                   std::vector<std::string>& values) {
  declared_.push_back({{}, text(name), text(help), {}, true, true});
  app_.add_option(text(name), values, text(help));
}
void Options::option(std::string_view flags, std::string_view value_name, std::string_view help,
                     std::string& value) {
  declare(flags, value_name, help);
  app_.add_option(text(flags), value, text(help))
      ->capture_default_str()
      ->type_name(text(value_name))
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}
void Options::option(std::string_view flags, std::string_view value_name, std::string_view help,
                     std::optional<std::string>& value) {
  declare(flags, value_name, help);
  app_.add_option(text(flags), value, text(help))->type_name(text(value_name));
}
// Options are checked when all of them are parsed: the folders are known then.
std::function<std::string(const std::string&)> Options::output_file_check() const {
  return refusal_of([folders = folders_](const std::string& file) {
    std::vector<std::filesystem::path> made;
    for (const CLI::Option* const folder : *folders)
      made.insert(made.end(), folder->results().begin(), folder->results().end());
    check_output_file(file, made);
  });
}
void Options::output_file(std::string_view flags, std::string_view value_name,
                          std::string_view help, std::string& value) {
  option(flags, value_name, help, value);
  app_.get_option(first_flag(flags))->check(output_file_check());
}
void Options::output_file(std::string_view flags, std::string_view value_name,
                          std::string_view help, std::optional<std::string>& value) {
  option(flags, value_name, help, value);
  app_.get_option(first_flag(flags))->check(output_file_check());
}
void Options::output_folder(std::string_view flags, std::string_view value_name,
                            std::string_view help, std::string& value) {
  option(flags, value_name, help, value);
  CLI::Option* const option = app_.get_option(first_flag(flags));
  option->check(refusal_of(check_output_folder));
  folders_->push_back(option);
}
void Options::integer(std::string_view flags, std::string_view value_name, std::string_view help,
                      long long& value, long long low, long long high) {
  declare(flags, value_name, help);
  app_.add_option(text(flags), value, text(help))
      ->capture_default_str()
      ->type_name(text(value_name))
      ->check(CLI::Range(low, high));
}
void Options::integer(std::string_view flags, std::string_view value_name, std::string_view help,
                      std::optional<long long>& value, long long low, long long high) {
  declare(flags, value_name, help);
  app_.add_option(text(flags), value, text(help))
      ->capture_default_str()
      ->type_name(text(value_name))
      ->check(CLI::Range(low, high));
}
void Options::number(std::string_view flags, std::string_view value_name, std::string_view help,
                     double& value, double low, double high) {
  declare(flags, value_name, help);
  app_.add_option(text(flags), value, text(help))
      ->capture_default_str()
      ->type_name(text(value_name))
      ->check(between(low, high));
}
void Options::number(std::string_view flags, std::string_view value_name, std::string_view help,
                     std::optional<double>& value, double low, double high) {
  declare(flags, value_name, help);
  app_.add_option(text(flags), value, text(help))
      ->type_name(text(value_name))
      ->check(between(low, high));
}
void Options::choice(std::string_view flags, std::string_view value_name, std::string_view help,
                     std::string& value, std::vector<std::string> accepted) {
  const auto check = [accepted, name = text(flags)](const std::string& found) -> std::string {
    for (const std::string& word : accepted)
      if (word == found) return "";
    return unknown_name("value", found, accepted);
  };
  declare(flags, value_name, help);
  declared_.back().accepted = accepted;
  app_.add_option(text(flags), value, text(help))
      ->capture_default_str()
      ->type_name(text(value_name))
      ->check(check);
}
void Options::repeated(std::string_view flags, std::string_view value_name, std::string_view help,
                       std::vector<std::string>& values) {
  declare(flags, value_name, help);
  declared_.back().repeatable = true;
  app_.add_option(text(flags), values, text(help))
      ->capture_default_str()
      ->type_name(text(value_name))
      ->allow_extra_args(false);
}
void Options::flag(std::string_view flags, std::string_view help, bool& value) {
  declare(flags, "", help);
  app_.add_flag(text(flags), value, text(help));
}

void Options::declare(std::string_view flags, std::string_view value_name, std::string_view help) {
  OptionDeclaration declaration{{}, text(value_name), text(help)};
  for (std::size_t from = 0; from <= flags.size();) {
    const std::size_t comma = std::min(flags.find(',', from), flags.size());
    declaration.flags.push_back(text(flags.substr(from, comma - from)));
    from = comma + 1;
  }
  declared_.push_back(std::move(declaration));
}

namespace {

// What every command takes.
struct CommonFlags {
  bool quiet = false, verbose = false;
  void declare(Options& options) {
    options.flag("-q,--quiet", "say nothing on stderr but errors", quiet);
    options.flag("-v,--verbose", "say more on stderr", verbose);
  }
  void apply() const {
    if (quiet && verbose) throw InputError("--quiet and --verbose contradict each other");
    if (quiet) set_verbosity(Verbosity::quiet);
    if (verbose) set_verbosity(Verbosity::verbose);
  }
};

}  // namespace

std::vector<CommandDeclaration> declared_commands() {
  std::vector<CommandDeclaration> result;
  for (const auto& command : all_commands()) {
    CLI::App app;
    Options options(app);
    command->declare(options);
    CommonFlags common;
    common.declare(options);
    result.push_back({text(command->name()), text(command->description()), text(command->details()),
                      options.declared(), text(command->example())});
  }
  return result;
}

int run_program(int argc, char** argv) {
  CLI::App app{
      "amsp: how should the model states of this training job be sharded on that cluster, "
      "and how fast will it run?",
      "amsp"};
  app.set_version_flag("--version", kVersion, "print the version");
  app.require_subcommand(1);
  const auto commands = all_commands();
  CommonFlags common;
  int status = 0;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(text(command->name()), text(command->description()));
    sub->group(text(command->group()));
    sub->footer(text(command->details()) + (command->details().empty() ? "" : "\n") +
                "Example: " + text(command->example()));
    Options options(*sub);
    command->declare(options);
    common.declare(options);
    sub->callback([&status, &command, &common] {
      status = guarded([&] {
        common.apply();
        return command->run();
      });
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success);  // help and version
    return 0;
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    std::fprintf(stderr, "amsp: %s\n", parse_error_text(app, arguments, error).c_str());
    return 2;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "amsp: standard output cannot be written\n");
    return 2;
  }
  return status;
}

}  // namespace amsp
