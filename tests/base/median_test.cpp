#include "base/median.hpp"

#include <catch2/catch.hpp>

#include "base/quantity.hpp"

using namespace amsp;

TEST_CASE("the median of numbers and quantities") {
  CHECK(median(std::vector<double>{}) == 0);
  CHECK(median(std::vector<double>{7}) == 7);
  CHECK(median(std::vector<double>{9, 1, 5}) == 5);
  CHECK(median(std::vector<double>{9, 1, 5, 2}) == 3.5);
  CHECK(median(std::vector<Seconds>{Seconds(4), Seconds(1)}) == Seconds(2.5));
}
