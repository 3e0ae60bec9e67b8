// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <fmt/format.h>

#include <array>

#include "base/file.hpp"
#include "base/shell_text.hpp"
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

struct NamedData {
  std::string_view value_name;
  std::string_view folder;
};
constexpr std::array kNamedData{
    NamedData{"SCENARIO", "scenarios"}, NamedData{"CLUSTER", "topologies"},
    NamedData{"MODEL", "workloads/models"}, NamedData{"CALIBRATION", "calibrate/data"}};

constexpr std::string_view kStrategy = "STRATEGY";  // its names are code, not files

bool has_names(std::string_view value_name) {
  if (value_name == kStrategy) return true;
  for (const NamedData& data : kNamedData)
    if (data.value_name == value_name) return true;
  return false;
}

bool is_positional(const OptionDeclaration& option) { return option.flags.empty(); }

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

// What completes a value: a bash command that fills COMPREPLY.
std::string bash_value(const OptionDeclaration& option) {
  if (!option.accepted.empty())
    return fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))",
                       shell_quoted(joined(option.accepted, " ")));
  if (has_names(option.value_name)) return fmt::format("_amsp_names {}", option.value_name);
  if (option.value_name == "DIR") return "COMPREPLY=($(compgen -d -- \"$word\"))";
  if (option.value_name == "FILE" || is_positional(option))
    return "COMPREPLY=($(compgen -f -- \"$word\"))";
  return "COMPREPLY=()";
}

std::string bash_command(const CommandDeclaration& command) {
  std::vector<std::string> flags{"--help"};
  std::string values, positional = "      COMPREPLY=()\n";
  bool first = true;
  for (const OptionDeclaration& option : command.options) {
    if (is_positional(option)) {
      if (first) positional = "      " + bash_value(option) + "\n";
      first = false;
      continue;
    }
    flags.insert(flags.end(), option.flags.begin(), option.flags.end());
    if (!option.value_name.empty())
      values +=
          fmt::format("        {}) {}; return ;;\n", joined(option.flags, "|"), bash_value(option));
  }
  std::string text = fmt::format("    {})\n", command.name);
  if (!values.empty()) text += "      case $before in\n" + values + "      esac\n";
  return text +
         fmt::format(
             "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W {} -- \"$word\")); "
             "return; fi\n",
             shell_quoted(joined(flags, " "))) +
         positional + "      ;;\n";
}

// _arguments describes an option as '(-o --output)'{-o,--output}'[help]:DIR:_files -/'.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const OptionDeclaration& option) {
  if (!option.accepted.empty()) return "(" + joined(option.accepted, " ") + ")";
  if (has_names(option.value_name)) return "_amsp_names " + option.value_name;
  if (option.value_name == "DIR") return "_files -/";
  if (option.value_name == "FILE" || is_positional(option)) return "_files";
  return " ";
}

std::string zsh_option(const OptionDeclaration& option) {
  const std::string value =
      option.value_name.empty()
          ? ""
          : fmt::format(":{}:{}", zsh_text(option.value_name), zsh_action(option));
  if (is_positional(option))
    return shell_quoted((option.repeatable ? "*" : option.optional ? ":" : "") + value);
  const std::string described = fmt::format("[{}]{}", zsh_text(option.help), value);
  if (option.repeatable) return shell_quoted("*" + option.flags.back() + described);
  if (option.flags.size() == 1) return shell_quoted(option.flags.front() + described);
  return shell_quoted("(" + joined(option.flags, " ") + ")") + "{" + joined(option.flags, ",") +
         "}" + shell_quoted(described);
}

}  // namespace

std::vector<std::string> names_for(std::string_view value_name) {
  for (const NamedData& data : kNamedData)
    if (data.value_name == value_name) return data_names(data.folder);
  std::vector<std::string> names;
  if (value_name == kStrategy)
    for (const StrategyPreset* preset : strategy_presets()) names.emplace_back(preset->name());
  return names;
}

std::string bash_completion(const std::vector<CommandDeclaration>& commands) {
  std::string names, cases;
  for (const CommandDeclaration& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += bash_command(command);
  }
  return fmt::format(
      "# bash completion of amsp; made by: amsp completion bash\n"
      "_amsp_names() {{\n"
      "  COMPREPLY=($(compgen -W \"$(amsp completion names \"$1\" 2>/dev/null)\" -- \"$word\")\n"
      "             $(compgen -f -X '!*.json' -- \"$word\"))\n"
      "}}\n"
      "_amsp() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "}}\n"
      "complete -o filenames -F _amsp amsp\n",
      names, cases);
}

std::string zsh_completion(const std::vector<CommandDeclaration>& commands) {
  std::string names, cases;
  for (const CommandDeclaration& command : commands) {
    std::string description = zsh_text(command.description);
    names += "    " + shell_quoted(command.name + ":" + description) + "\n";
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionDeclaration& option : command.options)
      cases += " \\\n        " + zsh_option(option);
    cases += " \\\n        '--help[print help]'\n      ;;\n";
  }
  return fmt::format(
      "#compdef amsp\n"
      "# zsh completion of amsp; made by: amsp completion zsh\n"
      "_amsp_names() {{\n"
      "  local -a names\n"
      "  names=(${{(f)\"$(amsp completion names $1 2>/dev/null)\"}})\n"
      "  _alternative \"names:name:(($names))\" 'files:file:_files -g \"*.json\"'\n"
      "}}\n"
      "_amsp() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "  local name=$words[2]\n"
      "  shift words; ((CURRENT--))\n"
      "  case $name in\n{}  esac\n"
      "}}\n"
      "_amsp \"$@\"\n",
      names, cases);
}

}  // namespace amsp
