// SPDX-License-Identifier: Apache-2.0
#include "calibrate/microbench/collective_loop.hpp"

#include <algorithm>

#include "calibrate/bench_run.hpp"

namespace amsp::bench {

void check(ncclResult_t status) {
  if (status != ncclSuccess) throw std::runtime_error(ncclGetErrorString(status));
}

CollectiveLoop::CollectiveLoop(ncclComm_t communicator, int ranks, int rank, Bytes most)
    : communicator_(communicator),
      ranks_(ranks),
      rank_(rank),
      send_(static_cast<std::size_t>(most.value()) + 256),
      receive_(static_cast<std::size_t>(most.value()) + 256) {}

void CollectiveLoop::launch(CollectiveKind kind, Bytes bytes) {
  const auto count = static_cast<std::size_t>(bench_size(kind, bytes, ranks_).count);
  auto* send = send_.as<float>();
  auto* receive = receive_.as<float>();
  const cudaStream_t stream = stream_.get();
  switch (kind) {
    case CollectiveKind::all_reduce:
      check(ncclAllReduce(send, receive, count, ncclFloat, ncclSum, communicator_, stream));
      break;
    case CollectiveKind::all_gather:
      check(ncclAllGather(send, receive, count, ncclFloat, communicator_, stream));
      break;
    case CollectiveKind::reduce_scatter:
      check(ncclReduceScatter(send, receive, count, ncclFloat, ncclSum, communicator_, stream));
      break;
    case CollectiveKind::broadcast:
      check(ncclBroadcast(send, receive, count, ncclFloat, 0, communicator_, stream));
      break;
    case CollectiveKind::reduce:
      check(ncclReduce(send, receive, count, ncclFloat, ncclSum, 0, communicator_, stream));
      break;
    case CollectiveKind::all_to_all:
      check(ncclGroupStart());
      for (int peer = 0; peer < ranks_; ++peer) {
        const std::size_t at = count * static_cast<std::size_t>(peer);
        check(ncclSend(send + at, count, ncclFloat, peer, communicator_, stream));
        check(ncclRecv(receive + at, count, ncclFloat, peer, communicator_, stream));
      }
      check(ncclGroupEnd());
      break;
    case CollectiveKind::send_recv:
      check(ncclGroupStart());
      check(ncclSend(send, count, ncclFloat, (rank_ + 1) % ranks_, communicator_, stream));
      check(ncclRecv(receive, count, ncclFloat, (rank_ + ranks_ - 1) % ranks_, communicator_,
                     stream));
      check(ncclGroupEnd());
      break;
    default:
      throw InputError("nccl-bench does not measure " + std::string(name_of(kind)));
  }
}

Seconds CollectiveLoop::time(CollectiveKind kind, Bytes bytes, const LoopSettings& settings) {
  for (int i = 0; i < settings.warm_up; ++i) launch(kind, bytes);
  Stopwatch watch;
  watch.start(stream_);
  for (int i = 0; i < settings.repetitions; ++i) launch(kind, bytes);
  watch.stop(stream_);
  return watch.elapsed() / settings.repetitions;
}

Seconds CollectiveLoop::time_gemm(Gemm& gemm, const LoopSettings& settings) {
  for (int i = 0; i < settings.warm_up; ++i) gemm.launch(compute_);
  Stopwatch watch;
  watch.start(compute_);
  for (int i = 0; i < settings.repetitions; ++i) gemm.launch(compute_);
  watch.stop(compute_);
  return watch.elapsed() / settings.repetitions;
}

Beside CollectiveLoop::time_beside(CollectiveKind kind, Bytes bytes, Gemm& gemm,
                                   const LoopSettings& settings) {
  // As many GEMMs as take about as long as the collectives, from the times of each alone.
  const Seconds alone = time(kind, bytes, settings);
  const Seconds gemm_alone = time_gemm(gemm, settings);
  const int gemms =
      std::clamp(static_cast<int>(alone * settings.repetitions / gemm_alone), 1, 100000);
  stream_.wait();
  compute_.wait();
  Stopwatch collectives, computation;
  collectives.start(stream_);
  computation.start(compute_);
  for (int i = 0; i < std::max(gemms, settings.repetitions); ++i) {
    if (i < gemms) gemm.launch(compute_);
    if (i < settings.repetitions) launch(kind, bytes);
  }
  collectives.stop(stream_);
  computation.stop(compute_);
  return {collectives.elapsed() / settings.repetitions, computation.elapsed() / gemms};
}

}  // namespace amsp::bench
