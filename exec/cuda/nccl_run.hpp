// SPDX-License-Identifier: Apache-2.0
// One rank of a schedule on one GPU: ops are put on CUDA streams in program order, events carry the
// dependencies and the time stamps.
#pragma once
#include <cuda_runtime.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/backend.hpp"
#include "exec/cuda/gpu_kernels.hpp"
#include "exec/cuda/nccl_group.hpp"
#include "exec/program.hpp"

namespace amsp {

class NcclRun {
 public:
  explicit NcclRun(const RankContext& context);
  ~NcclRun();
  NcclRun(const NcclRun&) = delete;
  NcclRun& operator=(const NcclRun&) = delete;
  RankTimes run();

 private:
  struct Marks {  // of one instance of an op
    cudaEvent_t ready = nullptr, end = nullptr;
  };
  void choose_device();
  void create_streams();
  void connect();
  void launch(const PlannedOp& planned, ExecInstance instance);
  void launch_work(const PlannedOp& planned, std::int64_t index);
  void launch_collective(const PlannedOp& planned, std::int64_t index);
  // Waits for the GPU while it watches NCCL's errors.
  void drain();
  void abort_all();
  [[nodiscard]] CollectiveShape shape_of(const PlannedOp& planned) const;
  [[nodiscard]] std::string where(OpId op) const;
  [[nodiscard]] RankTimes read_times() const;

  const RankContext& context_;
  const Schedule& schedule_;
  RankProgram program_;
  std::vector<cudaStream_t> streams_;
  std::vector<std::unique_ptr<GpuKernels>> kernels_;  // by stream
  ncclComm_t world_ = nullptr;
  std::map<std::size_t, std::unique_ptr<NcclGroup>> groups_;  // by communicator
  std::vector<std::vector<Marks>> marks_;                     // by op and instance
  std::vector<std::pair<OpId, cudaEvent_t>> launched_;        // in program order
  cudaEvent_t origin_ = nullptr;
  Seconds origin_time_;
  std::atomic<std::size_t> ended_{0};  // of launched_
};

}  // namespace amsp
