// SPDX-License-Identifier: Apache-2.0
// From measurement files to a calibration.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/observations.hpp"

namespace amsp {

// Everything read from the files: logs of collectives, and CSV tables of kernels.
struct Measurements {
  std::vector<MeasuredRun> runs;
  std::vector<KernelTime> kernels;
  std::vector<CalibrationSource> sources;
  ClusterSpec cluster;
  std::string cluster_name;  // shipped name, or empty
  Observations observations;
  std::vector<std::string> warnings;  // odd, but taken: one line each, with the file
};

// `cluster`: name or path; empty = the cluster that the logs describe. Throws InputError when a
// file is unreadable or holds nothing that can be used.
Measurements read_measurements(const std::vector<std::string>& files, const std::string& cluster);

// Where the logs' own GPUs and ranks are not the cluster's: one line each, with the file.
std::vector<std::string> other_machine(const std::vector<MeasuredRun>& runs,
                                       const ClusterSpec& cluster);

// Throws InputError with what the log says when no run has a row and one says that it failed.
void refuse_failed(const std::vector<MeasuredRun>& runs);

// Throws InputError with what is wrong with a run that is wrong as a whole, if one is.
void refuse_wrong(const std::vector<MeasuredRun>& runs);

// The fit. Throws InputError when nothing can be fitted, or when what comes out is so far from any
// machine that load_calibration would refuse it. `part`: told what begins ("all_reduce").
Calibration calibrate(const Measurements& measurements, const FitPart& part = {});

}  // namespace amsp
