// SPDX-License-Identifier: Apache-2.0
#include "base/counted.hpp"

#include <catch2/catch.hpp>

using namespace amsp;

TEST_CASE("one is singular, all other numbers are plural") {
  CHECK(counted(1, "row") == "1 row");
  CHECK(counted(std::size_t{0}, "row") == "0 rows");
  CHECK(counted(2LL, "GPU") == "2 GPUs");
}
