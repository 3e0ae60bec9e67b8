#include "base/error.hpp"

#include <catch2/catch.hpp>

using namespace amsp;

TEST_CASE("the nearest name is offered, a far one is not") {
  const std::vector<std::string> names{"all_gather", "all_reduce", "broadcast"};
  CHECK(nearest_name("allreduce", names) == "all_reduce");
  CHECK(nearest_name("brodcast", names) == "broadcast");
  CHECK(nearest_name("xyzzy", names).empty());
  CHECK(unknown_name("kind", "xyzzy", names) ==
        "unknown kind \"xyzzy\"; accepted: all_gather, all_reduce, broadcast");
}
