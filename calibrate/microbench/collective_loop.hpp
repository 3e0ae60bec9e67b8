// SPDX-License-Identifier: Apache-2.0
// Times collectives on a communicator, alone or beside a GEMM.
#pragma once
#include <nccl.h>

#include <optional>

#include "base/collective_kind.hpp"
#include "calibrate/microbench/device.hpp"

namespace amsp::bench {

struct LoopSettings {
  int warm_up = 5;
  int repetitions = 20;
};

struct Beside {
  Seconds collective;  // one collective, while GEMMs run
  Seconds gemm;        // one GEMM, while collectives run
};

class CollectiveLoop {
 public:
  // `most` = the largest whole buffer that will be measured.
  CollectiveLoop(ncclComm_t communicator, int ranks, int rank, Bytes most);
  // Mean time of one collective of `bytes` (whole buffer; floats), out of place.
  [[nodiscard]] Seconds time(CollectiveKind kind, Bytes bytes, const LoopSettings& settings);
  // The same while a second stream runs GEMMs without pause, and the GEMM's own mean time.
  [[nodiscard]] Beside time_beside(CollectiveKind kind, Bytes bytes, Gemm& gemm,
                                   const LoopSettings& settings);
  [[nodiscard]] Seconds time_gemm(Gemm& gemm, const LoopSettings& settings);

 private:
  void launch(CollectiveKind kind, Bytes bytes);
  ncclComm_t communicator_;
  int ranks_, rank_;
  Buffer send_, receive_;
  DeviceStream stream_, compute_;
};

void check(ncclResult_t status);

}  // namespace amsp::bench
