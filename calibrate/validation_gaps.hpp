// SPDX-License-Identifier: Apache-2.0
// What a cross-validation could not leave out, and what it lacked for that.
#pragma once
#include <string>
#include <vector>

#include "calibrate/cross_validation.hpp"

namespace amsp {

// One line for each way and collective without a left-out row, with the sizes or scales that were
// measured and what is needed; "" when there is none.
std::string validation_gaps(const std::vector<HeldOutRow>& held_out,
                            const std::vector<Observation>& rows);

}  // namespace amsp
