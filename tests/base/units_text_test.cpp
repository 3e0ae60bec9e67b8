#include "base/units_text.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <concepts>

using namespace amsp;

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Divisible = requires(A a, B b) {
  a / b;
};
static_assert(Addable<Bytes, Bytes> && !Addable<Bytes, Seconds> && !Addable<Bytes, double>);
static_assert(Divisible<Bytes, Bandwidth> && !Divisible<Seconds, Bandwidth>);
static_assert(!std::convertible_to<double, Bytes> && !std::convertible_to<Bytes, double>);

TEST_CASE("units are decimal or binary as written") {
  CHECK(parse_bytes("1GB").value() == 1e9);
  CHECK(parse_bytes("1 GiB").value() == 1073741824.0);
  CHECK(parse_bandwidth("100Gbps").value() == 12.5e9);
  CHECK(parse_bandwidth("12.5GB/s") == parse_bandwidth("100Gbps"));
  CHECK(parse_bandwidth("400mbit").value() == 50e6);
  CHECK(parse_seconds("25us").value() == Approx(25e-6));
  CHECK(parse_flop_rate("312TFLOPS").value() == 312e12);
}

TEST_CASE("a quantity without a unit, or with a wrong one, is refused with what is accepted") {
  const Place place{"x.json", "/links/3/rate"};
  CHECK_THROWS_WITH(parse_bandwidth("100", place),
                    Catch::StartsWith("x.json: /links/3/rate: \"100\" is not a rate (no unit)"));
  CHECK_THROWS_WITH(parse_bandwidth("100Gb/x", place),
                    Catch::Contains("unknown unit \"Gb/x\"") && Catch::Contains("Gbps"));
  CHECK_THROWS_AS(parse_bytes("-1GB"), InputError);
  CHECK_THROWS_AS(parse_bytes("GB"), InputError);
  CHECK_THROWS_AS(parse_bytes("nanGB"), InputError);
  CHECK_THROWS_AS(parse_bytes("infGB"), InputError);
  CHECK_THROWS_AS(parse_seconds("1GB"), InputError);
}

TEST_CASE("parse after print is the identity") {
  rc::prop("for every non-negative quantity", [] {
    const double value = *rc::gen::map(
        rc::gen::pair(rc::gen::inRange(0, 1000000), rc::gen::inRange(-12, 15)),
        [](const std::pair<int, int>& p) { return p.first * std::pow(10.0, p.second); });
    RC_ASSERT(parse_bytes(to_text(Bytes(value))) == Bytes(value));
    RC_ASSERT(parse_seconds(to_text(Seconds(value))) == Seconds(value));
    RC_ASSERT(parse_bandwidth(to_text(Bandwidth(value))) == Bandwidth(value));
    RC_ASSERT(parse_flops(to_text(Flops(value))) == Flops(value));
    RC_ASSERT(parse_flop_rate(to_text(FlopRate(value))) == FlopRate(value));
  });
}

TEST_CASE("people's text has a fitting unit") {
  CHECK(human(gibibytes(1.5)) == "1.5 GiB");
  CHECK(human(milliseconds(12.34)) == "12.34 ms");
  CHECK(human(gigabytes_per_second(97.1)) == "97.1 GB/s");
}
