// SPDX-License-Identifier: Apache-2.0
// NCCL communicators, non-blocking, so that a dead peer is an error and not a hang.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "exec/control_link.hpp"
#include "exec/cuda/device_memory.hpp"
#include "exec/elements.hpp"

namespace amsp {

// Waits until a non-blocking call has ended; throws CheckFailed when it failed or took longer than
// `timeout`. The communicator's owner aborts it then, once.
void settle(ncclComm_t comm, Seconds timeout, std::string_view what);

// The communicator of all ranks; NCCL's id travels through the coordinator's store.
ncclComm_t connect_world(ControlLink& link, Rank rank, int world, Seconds timeout);

class NcclGroup {
 public:
  // Split from `world` by all its ranks at once; those with no membership pass group -1.
  NcclGroup(ncclComm_t world, int group, int index, int members, Bytes capacity, Seconds timeout);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  // Puts the collective on the stream. Layout of the buffers: as GlooGroup's.
  void launch(const CollectiveShape& shape, cudaStream_t stream, std::string_view what);
  // Throws when NCCL has noticed an error since.
  void check(std::string_view what) const;
  void abort();
  [[nodiscard]] std::byte* input() const { return input_.bytes(); }
  [[nodiscard]] std::byte* output() const { return output_.bytes(); }

 private:
  ncclResult_t call(const CollectiveShape& shape, cudaStream_t stream);
  ncclResult_t exchange(const CollectiveShape& shape, cudaStream_t stream);
  ncclComm_t comm_ = nullptr;
  int index_, members_;
  Seconds timeout_;
  DeviceMemory input_, output_;
};

}  // namespace amsp
