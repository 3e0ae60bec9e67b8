// SPDX-License-Identifier: Apache-2.0
#include "scenarios/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/counted.hpp"
#include "base/units_text.hpp"

namespace amsp {
namespace {

FlopRate bounding_rate(const GpuSpec& gpu, Dtype dtype) {
  const auto own = gpu.peak.find(dtype);
  if (own != gpu.peak.end()) return own->second;
  FlopRate largest;
  for (const auto& [other, rate] : gpu.peak) largest = std::max(largest, rate);
  return largest;
}

}  // namespace

Seconds roofline_time(const Schedule& schedule, const GpuSpec& gpu) {
  if (gpu.peak.empty()) return Seconds(0);
  std::map<Dtype, Flops> work;
  for (const Block& block : schedule.blocks)
    for (const OpId id : block.ops) {
      if (schedule.op(id).role) continue;  // other ranks leave it out
      for (const Kernel& kernel : schedule.op(id).kernels)
        work[kernel.dtype] += flops_of(kernel) * static_cast<double>(block.repeat);
    }
  Seconds sum;
  for (const auto& [dtype, flops] : work) sum += flops / bounding_rate(gpu, dtype);
  return sum;
}

void hold_to_roofline(RunResult& result, const GpuSpec& gpu) {
  const Seconds roofline = roofline_time(result.schedule, gpu);
  if (result.step_time < roofline) {
    result.step_time_low = result.step_time;
    result.notes.push_back(fmt::format(
        "{}: impossible: the kernels of a step need {} at the data-sheet peak of a {}, but "
        "the step takes {} (MFU {:.3f}); a compute efficiency or a table of kernel times is too "
        "fast",
        counted(result.gpus, "GPU"), human(roofline), gpu.name, human(result.step_time),
        result.mfu));
    return;
  }
  if (result.step_time_low < roofline) {
    result.step_time_low = roofline;
    result.notes.push_back(
        fmt::format("{}: the fast end of the interval is cut at {}, what the kernels of a "
                    "step need at the data-sheet peak of a {}",
                    counted(result.gpus, "GPU"), human(roofline), gpu.name));
  }
  if (result.mfu > 1)
    result.notes.push_back(fmt::format(
        "{}: MFU {:.3f} is above 1 because its formula counts all of the attention, of which "
        "causal kernels compute half; they reach {:.3f} of the peak",
        counted(result.gpus, "GPU"), result.mfu, roofline / result.step_time));
}

}  // namespace amsp
