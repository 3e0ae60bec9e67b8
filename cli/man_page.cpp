// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "cli/completion.hpp"

namespace amsp {
namespace {

// The code point that starts at `at` (UTF-8 of our own texts, so well formed); moves past it.
std::uint32_t code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(at) < 0xE0 ? 2 : byte(at) < 0xF0 ? 3 : 4;
  std::uint32_t code = byte(at) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6U) | (byte(at + i) & 0x3FU);
  at += length;
  return code;
}

// Text for troff: backslashes, hyphens that must stay hyphens, lines that begin like requests, and
// what is not ASCII by its code point (\[u2026]).
std::string roff(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) {
      result += fmt::format("\\[u{:04X}]", code_point(text, i));
      continue;
    }
    const char c = text[i++];
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string synopsis(const CommandDeclaration& command) {
  std::string text = fmt::format(".B amsp {}\n", roff(command.name));
  for (const OptionDeclaration& option : command.options) {
    if (!option.flags.empty()) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", roff(option.value_name),
                                         option.repeatable ? "\\|.\\|.\\|." : "");
    text += option.optional ? "[" + name + "]\n" : name + "\n";
  }
  return text + "[\\fIoptions\\fR]\n";
}

std::string option_text(const OptionDeclaration& option) {
  std::string names;
  for (const std::string& flag : option.flags)
    names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(flag));
  if (!option.value_name.empty())
    names += (names.empty() ? "" : " ") + fmt::format("\\fI{}\\fR", roff(option.value_name));
  std::string help = option.help;
  if (!option.accepted.empty()) {
    std::string words;
    for (const std::string& word : option.accepted) words += (words.empty() ? "" : ", ") + word;
    help += " (one of: " + words + ")";
  }
  if (option.repeatable) help += "; may be given several times";
  return fmt::format(".TP\n{}\n{}\n", names, roff(help));
}

std::string command_text(const CommandDeclaration& command) {
  std::string text = fmt::format(".SS {}\n{}.PP\n{}.\n", roff(command.name), synopsis(command),
                                 roff(command.description));
  if (!command.details.empty()) text += fmt::format(".PP\n{}\n", roff(command.details));
  if (!command.example.empty())
    text += fmt::format(".PP\nExample:\n.PP\n.EX\n{}\n.EE\n", roff(command.example));
  for (const OptionDeclaration& option : command.options) text += option_text(option);
  return text;
}

}  // namespace

std::string man_page(const std::vector<CommandDeclaration>& commands) {
  std::string text =
      ".\\\" Made by: amsp completion man\n"
      ".TH AMSP 1 \"\" \"amsp " AMSP_VERSION
      "\" \"User commands\"\n"
      ".SH NAME\n"
      "amsp \\- plan and simulate how a training job's model states are sharded on a cluster\n"
      ".SH SYNOPSIS\n.B amsp\n\\fIcommand\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\n"
      "amsp answers how the model states (parameters, gradients, optimizer states) of a training "
      "job should be sharded on a cluster, and how fast the job will run there. Results go to "
      "standard output, progress and messages to standard error.\n"
      ".SH COMMANDS\n";
  for (const CommandDeclaration& command : commands) text += command_text(command);
  return text +
         ".SH ENVIRONMENT\n"
         ".TP\n.B AMSP_DATA\nfolder of the shipped data, instead of the installed one\n"
         ".TP\n.B AMSP_CHARTJS\na copy of chart.min.js for amsp report\n"
         ".TP\n.B NO_COLOR\nif set and not empty: no colours\n"
         ".SH EXIT STATUS\n"
         "0: success; 1: a check failed; 2: bad input; 3: internal error.\n";
}

}  // namespace amsp
