#include "report/notes.hpp"

#include <catch2/catch.hpp>

using namespace amsp;
using Texts = std::vector<std::string>;

TEST_CASE("each note is said once, in the order of first appearance") {
  CHECK(each_once({"z", "a", "z", "b", "a", "a"}) == Texts{"z", "a", "b"});
  CHECK(each_once({}).empty());
  std::vector<ReportedRun> runs(3);
  runs[0].run.notes = {"second", "first"};
  runs[2].run.notes = {"first", "third"};
  CHECK(notes_of(runs) == Texts{"second", "first", "third"});
  Plan plan;
  plan.best.resize(2);
  plan.best[0].run.notes = {"b"};
  plan.best[1].run.notes = {"a", "b"};
  CHECK(notes_of(plan) == Texts{"b", "a"});
}
