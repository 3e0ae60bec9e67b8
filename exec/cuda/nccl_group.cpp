// SPDX-License-Identifier: Apache-2.0
#include "exec/cuda/nccl_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/units_text.hpp"
#include "exec/clock.hpp"

namespace amsp {
namespace {

ncclConfig_t non_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

ncclDataType_t nccl_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return ncclBfloat16;
    case Dtype::fp16:
      return ncclFloat16;
    case Dtype::fp32:
      return ncclFloat32;
    case Dtype::fp64:
      return ncclFloat64;
    case Dtype::int8:
      return ncclInt8;
    case Dtype::int32:
      return ncclInt32;
    case Dtype::int64:
      return ncclInt64;
    case Dtype::uint8:
    case Dtype::fp8:  // moved, not summed (elements.cpp refuses fp8 sums too)
      return ncclUint8;
  }
  return ncclUint8;
}

}  // namespace

void settle(ncclComm_t comm, Seconds timeout, std::string_view what) {
  const Seconds deadline = now() + timeout;
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    check_nccl(ncclCommGetAsyncError(comm, &state), comm, what);
    if (state != ncclInProgress) break;
    if (now() > deadline)
      throw CheckFailed(fmt::format("{}: NCCL: no answer within {}", what, human(timeout)));
    usleep(50);
  }
  check_nccl(state, comm, what);
}

ncclComm_t connect_world(ControlLink& link, Rank rank, int world, Seconds timeout) {
  ncclUniqueId id;
  if (rank == Rank(0)) {
    check_nccl(ncclGetUniqueId(&id), nullptr, "ncclGetUniqueId");
    link.set("nccl", std::string(id.internal, sizeof id.internal));
  } else {
    const std::string text = link.get("nccl");
    std::memcpy(id.internal, text.data(), std::min(text.size(), sizeof id.internal));
  }
  ncclComm_t comm = nullptr;
  ncclConfig_t config = non_blocking();
  const auto what = fmt::format("joining {} ranks", world);
  try {
    check_nccl(ncclCommInitRankConfig(&comm, world, id, rank.index, &config), comm, what);
    settle(comm, timeout, what);
  } catch (...) {
    if (comm) ncclCommAbort(comm);
    throw;
  }
  return comm;
}

NcclGroup::NcclGroup(ncclComm_t world, int group, int index, int members, Bytes capacity,
                     Seconds timeout)
    : index_(index), members_(members), timeout_(timeout) {
  ncclConfig_t config = non_blocking();
  const int color = group < 0 ? NCCL_SPLIT_NOCOLOR : group;
  const auto what = fmt::format("splitting off group {}", group);
  try {
    check_nccl(ncclCommSplit(world, color, index, &comm_, &config), world, what);
    settle(world, timeout, what);
    if (group < 0) return;
    settle(comm_, timeout, what);
    // Parts are equal for NCCL: the last may reach past the buffer by less than one part.
    const auto bytes =
        static_cast<std::size_t>(capacity.value()) + 16 * static_cast<std::size_t>(members);
    input_ = DeviceMemory(bytes, what);
    output_ = DeviceMemory(bytes, what);
  } catch (...) {
    abort();  // an object that was not made has no destructor
    throw;
  }
}

NcclGroup::~NcclGroup() {
  if (!comm_) return;
  ncclCommFinalize(comm_);
  ncclResult_t state = ncclInProgress;
  for (const Seconds deadline = now() + timeout_; state == ncclInProgress && now() < deadline;)
    if (ncclCommGetAsyncError(comm_, &state) != ncclSuccess) break;
  ncclCommDestroy(comm_);
}

void NcclGroup::abort() {
  if (comm_) ncclCommAbort(comm_);
  comm_ = nullptr;
}

void NcclGroup::check(std::string_view what) const {
  if (!comm_) return;
  ncclResult_t state = ncclSuccess;
  check_nccl(ncclCommGetAsyncError(comm_, &state), comm_, what);
  check_nccl(state, comm_, what);
}

void NcclGroup::launch(const CollectiveShape& shape, cudaStream_t stream, std::string_view what) {
  check_nccl(call(shape, stream), comm_, what);
  settle(comm_, timeout_, what);
}

ncclResult_t NcclGroup::call(const CollectiveShape& shape, cudaStream_t stream) {
  const ncclDataType_t type = nccl_type(shape.dtype);
  const auto all = static_cast<std::size_t>(shape.elements);
  const auto width = static_cast<std::size_t>(size_of(shape.dtype).value());
  const auto part = static_cast<std::size_t>(part_of(shape, 0).count);
  std::byte* own_input = input() + static_cast<std::size_t>(index_) * part * width;
  std::byte* own_output = output() + static_cast<std::size_t>(index_) * part * width;
  switch (shape.kind) {
    case CollectiveKind::all_reduce:
      return ncclAllReduce(input(), output(), all, type, ncclSum, comm_, stream);
    case CollectiveKind::all_gather:
      return ncclAllGather(own_input, output(), part, type, comm_, stream);
    case CollectiveKind::reduce_scatter:
      return ncclReduceScatter(input(), own_output, part, type, ncclSum, comm_, stream);
    case CollectiveKind::broadcast:
      return ncclBroadcast(input(), output(), all, type, shape.root, comm_, stream);
    case CollectiveKind::reduce:
      return ncclReduce(input(), output(), all, type, ncclSum, shape.root, comm_, stream);
    default:
      return exchange(shape, stream);
  }
}

// all_to_all, scatter, gather and send_recv as one group of sends and receives.
ncclResult_t NcclGroup::exchange(const CollectiveShape& shape, cudaStream_t stream) {
  const ncclDataType_t type = nccl_type(shape.dtype);
  const auto width = static_cast<std::size_t>(size_of(shape.dtype).value());
  auto at = [&](std::byte* buffer, int member) {
    return buffer + static_cast<std::size_t>(part_of(shape, member).first) * width;
  };
  auto count = [&](int member) { return static_cast<std::size_t>(part_of(shape, member).count); };
  const CollectiveKind kind = shape.kind;
  const bool to_all = kind == CollectiveKind::all_to_all;
  ncclGroupStart();
  if (kind == CollectiveKind::send_recv) {
    const auto all = static_cast<std::size_t>(shape.elements);
    ncclSend(input(), all, type, (index_ + 1) % members_, comm_, stream);
    ncclRecv(output(), all, type, (index_ + members_ - 1) % members_, comm_, stream);
    return ncclGroupEnd();
  }
  for (int peer = 0; peer < members_; ++peer) {
    const bool sends =
        to_all || (kind == CollectiveKind::scatter ? index_ == shape.root : peer == shape.root);
    const bool receives =
        to_all || (kind == CollectiveKind::scatter ? peer == shape.root : index_ == shape.root);
    // A gather moves the sender's own part, the others the receiver's.
    const int sent = kind == CollectiveKind::gather ? index_ : peer;
    const int received = kind == CollectiveKind::scatter ? index_ : peer;
    if (sends && count(sent) > 0)
      ncclSend(at(input(), sent), count(sent), type, peer, comm_, stream);
    if (receives && count(received) > 0)
      ncclRecv(at(output(), received), count(received), type, peer, comm_, stream);
  }
  return ncclGroupEnd();
}

}  // namespace amsp
