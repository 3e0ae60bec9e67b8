// SPDX-License-Identifier: Apache-2.0
// Physical quantities as distinct types. All hold a double in the SI base unit named in the type
// (bytes, seconds, bytes/s, FLOP, FLOP/s); whole bytes are exact up to 2^53. Text always carries a
// unit: see units_text.hpp. Only products and quotients that mean something compile.
#pragma once
#include <compare>

namespace amsp {

template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value_in_base_unit) : value_(value_in_base_unit) {}
  [[nodiscard]] constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator+(Quantity other) const { return Quantity(value_ + other.value_); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(value_ - other.value_); }
  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity operator*(double factor) const { return Quantity(value_ * factor); }
  constexpr Quantity operator/(double divisor) const { return Quantity(value_ / divisor); }
  constexpr double operator/(Quantity other) const { return value_ / other.value_; }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  constexpr Quantity& operator*=(double factor) { return *this = *this * factor; }

 private:
  double value_ = 0;
};

template <class Unit>
constexpr Quantity<Unit> operator*(double factor, Quantity<Unit> quantity) {
  return quantity * factor;
}

using Bytes = Quantity<struct ByteUnit>;
using Seconds = Quantity<struct SecondUnit>;
using Bandwidth = Quantity<struct BytePerSecondUnit>;
using Flops = Quantity<struct FlopUnit>;  // a number of floating-point operations, not a rate
using FlopRate = Quantity<struct FlopPerSecondUnit>;
using Tokens = Quantity<struct TokenUnit>;

constexpr Seconds operator/(Bytes bytes, Bandwidth rate) {
  return Seconds(bytes.value() / rate.value());
}
constexpr Bandwidth operator/(Bytes bytes, Seconds time) {
  return Bandwidth(bytes.value() / time.value());
}
constexpr Bytes operator*(Bandwidth rate, Seconds time) {
  return Bytes(rate.value() * time.value());
}
constexpr Seconds operator/(Flops work, FlopRate rate) {
  return Seconds(work.value() / rate.value());
}
constexpr FlopRate operator/(Flops work, Seconds time) {
  return FlopRate(work.value() / time.value());
}

constexpr Seconds microseconds(double us) { return Seconds(us * 1e-6); }
constexpr Seconds milliseconds(double ms) { return Seconds(ms * 1e-3); }
constexpr Bandwidth gigabytes_per_second(double gb) { return Bandwidth(gb * 1e9); }
constexpr Bandwidth gigabits_per_second(double gbit) { return Bandwidth(gbit * 1e9 / 8); }
constexpr Bytes gibibytes(double gib) { return Bytes(gib * 1073741824.0); }
constexpr FlopRate teraflops(double tflops) { return FlopRate(tflops * 1e12); }

}  // namespace amsp
