// SPDX-License-Identifier: Apache-2.0
// Runs of one collective and group whose times cannot be of one machine and setting.
#pragma once
#include "calibrate/observations.hpp"

namespace amsp {

// Two runs contradict each other when the median of their times' ratio over the sizes that both
// have (from 16 MiB where both have such; at least three) is 2 or more. One is kept: the one that
// more runs agree with, else the one that the group's other scales agree with, else the faster; the
// other moves to `refused` whole. Single sizes of runs that agree otherwise: the row that is 2
// times slower moves there (or the faster, where it is alone against several). Each is named in
// `warnings`.
void settle_contradictions(Observations& all);

}  // namespace amsp
