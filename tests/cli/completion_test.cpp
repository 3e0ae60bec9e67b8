// SPDX-License-Identifier: Apache-2.0
// The completion script is judged by bash itself, the man page by troff.
#include "cli/completion.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "base/file.hpp"

using namespace amsp;
namespace fs = std::filesystem;

namespace {

std::vector<CommandDeclaration> example() {
  return {{"simulate",
           "simulate a scenario: it's [fast]",
           ".starts with a dot",
           {{{}, "SCENARIO", "name or path", {}, false},
            {{"-o", "--output"}, "DIR", "where results go"},
            {{"--format"}, "FORMAT", "how", {"table", "csv"}},
            {{"--set"}, "KEY=VALUE", "change a value", {}, true, true},
            {{"--quiet"}, "", "say less"}}},
          {"list", "list things", "", {{{}, "WHAT", "kind", {"clusters", "models"}, false}}}};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  ::pclose(pipe);
  return text;
}

class Script {
 public:
  explicit Script(const std::string& text) {
    std::string name =
        (fs::temp_directory_path() / ("amsp-script-" + std::string(6, 'X'))).string();
    const int file = ::mkstemp(name.data());
    REQUIRE(file >= 0);
    ::close(file);
    path_ = name;
    write_file(path_, text);
  }
  ~Script() { fs::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What bash offers for these words (the last is being typed).
std::string offered(const Script& script, const std::string& words, int last) {
  return output_of("bash -c 'source " + script.path() + "; COMP_WORDS=(" + words +
                   "); COMP_CWORD=" + std::to_string(last) + "; _amsp; echo \"${COMPREPLY[*]}\"'");
}

}  // namespace

TEST_CASE("bash completes commands, options, values of choices") {
  const Script script(bash_completion(example()));
  CHECK(offered(script, "amsp sim", 1) == "simulate\n");
  CHECK(offered(script, "amsp simulate --o", 2) == "--output\n");
  CHECK(offered(script, "amsp simulate x --format \"\"", 4) == "table csv\n");
  CHECK(offered(script, "amsp simulate x --format c", 4) == "csv\n");
  CHECK(offered(script, "amsp simulate x --set a", 4) == "\n");
  CHECK(offered(script, "amsp list m", 2) == "models\n");
}

TEST_CASE("every option of the real commands is offered, with help text for zsh") {
  const auto commands = declared_commands();
  const std::string bash = bash_completion(commands), zsh = zsh_completion(commands),
                    man = man_page(commands);
  const Script script(bash);
  CHECK(std::system(("bash -n " + script.path()).c_str()) == 0);
  REQUIRE(commands.size() > 3);
  for (const CommandDeclaration& command : commands) {
    INFO(command.name);
    CHECK_FALSE(command.description.empty());
    CHECK(zsh.find("'" + command.name + ":") != std::string::npos);
    CHECK(offered(script, "amsp " + command.name + " --he", 2) == "--help\n");
    for (const OptionDeclaration& option : command.options) {
      INFO(option.value_name);
      CHECK_FALSE(option.help.empty());
      for (const std::string& flag : option.flags) {
        CHECK(bash.find(flag) != std::string::npos);
        CHECK(zsh.find(flag) != std::string::npos);
      }
    }
  }
}

TEST_CASE("zsh accepts its script") {
  if (std::system("command -v zsh >/dev/null 2>&1") != 0) {
    WARN("skipped: zsh is not installed");
    return;
  }
  const Script script(zsh_completion(declared_commands()));
  CHECK(std::system(("zsh -n " + script.path()).c_str()) == 0);
}

TEST_CASE("the man page is clean troff and shows what the program says") {
  const std::string man = man_page(example());
  CHECK(man.find("\\&.starts with a dot") != std::string::npos);
  if (std::system("command -v groff >/dev/null 2>&1") != 0) {
    WARN("skipped: groff is not installed");
    return;
  }
  const Script page(man_page(declared_commands()));
  CHECK(output_of("groff -man -ww -z -Tutf8 " + page.path() + " 2>&1") == "");
  const Script small(man);
  const std::string shown = output_of("groff -man -Tascii -P-cbou " + small.path());
  CHECK(shown.find("amsp simulate SCENARIO") != std::string::npos);
  CHECK(shown.find("--format FORMAT") != std::string::npos);
  CHECK(shown.find("one of: table, csv") != std::string::npos);
}

TEST_CASE("every command has an example that uses what it declares") {
  for (const CommandDeclaration& command : declared_commands()) {
    INFO(command.example);
    const auto words = words_of(command.example);
    REQUIRE(words.size() >= 2);
    CHECK(words[0] == "amsp");
    CHECK(words[1] == command.name);
    for (const std::string& word : words) {
      if (word.size() < 2 || word[0] != '-') continue;
      bool known = false;
      for (const OptionDeclaration& option : command.options)
        for (const std::string& flag : option.flags) known = known || flag == word;
      INFO(word);
      CHECK(known);
    }
  }
  const std::string help = output_of(AMSP_PROGRAM " plan --help");
  CHECK(help.find("Example: amsp plan --model") != std::string::npos);
  const std::string all = output_of(AMSP_PROGRAM " --help");
  for (const char* heading : {"Questions:", "Inputs:", "Schedules and devices:"})
    CHECK(all.find(heading) != std::string::npos);
}

TEST_CASE("names are offered where a name is accepted") {
  const auto has = [](std::string_view kind, std::string_view name) {
    const auto names = names_for(kind);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has("CLUSTER", "dgx-h100"));
  CHECK(has("MODEL", "llama-7b"));
  CHECK(has("STRATEGY", "zero3"));
  CHECK(has("CALIBRATION", "a800-4hdr"));
  CHECK(names_for("FILE").empty());
  // No option that takes such a name is declared under another word.
  for (const CommandDeclaration& command : declared_commands())
    for (const OptionDeclaration& option : command.options)
      for (const std::string& flag : option.flags) {
        INFO(command.name << " " << flag);
        if (flag == "--cluster") CHECK(option.value_name == "CLUSTER");
        if (flag == "--model") CHECK(option.value_name == "MODEL");
        if (flag == "--calibration") CHECK(option.value_name == "CALIBRATION");
        if (flag == "--strategy") CHECK(option.value_name == "STRATEGY");
      }
}
