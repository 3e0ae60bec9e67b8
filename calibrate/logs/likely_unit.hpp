// SPDX-License-Identifier: Apache-2.0
// Which unit makes numbers that contradict each other agree: the question asked where a row or run
// is refused.
#pragma once
#include <string>

#include "calibrate/logs/measurement.hpp"

namespace amsp {

// `factor`: (bytes / time) / algbw, of a time as us and an algbw as GB/s; "is the time in ms?"
// where a unit explains it within 5 %, else "".
std::string unit_question(double factor);

// "in place takes 1000 times as long as out of place: other units?" where the two times of a row
// differ by about 1000 or a million; else "".
std::string halves_question(const MeasuredRow& row);

}  // namespace amsp
