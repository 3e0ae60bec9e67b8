// amsp list: the shapes of models.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

using Catch::Contains;

namespace {

struct Outcome {
  int status;
  std::string text;  // of both streams
};

Outcome amsp(const std::string& arguments) {
  std::FILE* const pipe = ::popen((AMSP_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome{0, ""};
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) outcome.text += static_cast<char>(c);
  outcome.status = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

}  // namespace

TEST_CASE("list shows how a model was read") {
  const Outcome shape = amsp("list models mistral-7b");
  CHECK(shape.status == 0);
  CHECK_THAT(shape.text, Contains("7.242") && Contains("14336"));  // as published
  CHECK(amsp("list models").status == 0);
}

TEST_CASE("list refuses what it does not know") {
  CHECK(amsp("list model").status == 2);
  CHECK_THAT(amsp("list model").text, Contains("did you mean \"models\""));
  CHECK(amsp("list clusters dgx-a100").status == 2);
  CHECK_THAT(amsp("list models lama-7b").text, Contains("llama-7b"));
}
