// SPDX-License-Identifier: Apache-2.0
// Measured runs as text: JSON (docs/formats/logs.md), CSV, a table for people, and the layout of
// nccl-tests itself.
#pragma once
#include <span>
#include <string>

#include "calibrate/logs/measurement.hpp"

namespace amsp {

std::string runs_to_json(std::span<const MeasuredRun> runs);
std::string runs_to_csv(std::span<const MeasuredRun> runs);  // one line per row and half
std::string runs_to_table(std::span<const MeasuredRun> runs);

// As nccl-tests 2.17 prints it (header, device lines, table, footer), for one process a GPU. Times
// keep four or more significant digits; what the run does not know is left out.
std::string run_to_nccl_tests_text(const MeasuredRun& run);

}  // namespace amsp
