#include "base/shell_text.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>

using namespace amsp;

namespace {

// What a shell makes of it.
std::string printed(const std::string& text) {
  std::FILE* pipe = ::popen(("printf %s " + shell_quoted(text)).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 256> buffer{};
  while (const auto read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    out.append(buffer.data(), read);
  ::pclose(pipe);
  return out;
}

}  // namespace

TEST_CASE("a shell reads a quoted word as it is") {
  for (const char* text : {"", "plain", "two words", "it's", "''", "$HOME `id` $(id) \\ \" ! * ~ #",
                           "-n", "line\nbreak", "ä;&|<>"})
    CHECK(printed(text) == text);
}
