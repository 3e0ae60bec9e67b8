// SPDX-License-Identifier: Apache-2.0
#include "exec/cuda/nccl_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "exec/clock.hpp"
#include "exec/nccl.hpp"

namespace amsp {
namespace {

constexpr int kPollMicroseconds = 200;

// Some tests run several ranks on one GPU: then each needs a host id of its own, or NCCL refuses
// the second rank of a device, and sockets, since memory is not shared between "hosts".
int ranks_per_gpu() {
  const char* text = std::getenv("AMSP_RANKS_PER_GPU");
  return text ? std::max(1, std::atoi(text)) : 1;
}

cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  return event;
}

}  // namespace

NcclRun::NcclRun(const RankContext& context)
    : context_(context),
      schedule_(context.job.schedule),
      program_(plan_rank(schedule_, context.rank)),
      marks_(schedule_.ops.size()) {
  choose_device();
  create_streams();
  try {
    connect();
  } catch (...) {
    abort_all();  // an object that was not made has no destructor
    throw;
  }
}

NcclRun::~NcclRun() {
  groups_.clear();
  if (world_) ncclCommDestroy(world_);
  for (const auto& instances : marks_)
    for (const Marks& marks : instances) {
      cudaEventDestroy(marks.ready);
      cudaEventDestroy(marks.end);
    }
  kernels_.clear();
  for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void NcclRun::choose_device() {
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  const int share = ranks_per_gpu();
  const int device = context_.local_rank / share;
  if (device >= devices)
    throw InputError(
        fmt::format("this is rank {} of its host, which has {} GPU{}; the nccl backend "
                    "needs one GPU per rank",
                    context_.local_rank, devices, devices == 1 ? "" : "s"));
  if (share > 1) {
    setenv("NCCL_HOSTID", fmt::format("amsp-rank-{}", context_.rank.index).c_str(), 1);
    setenv("NCCL_P2P_DISABLE", "1", 1);
    setenv("NCCL_SHM_DISABLE", "1", 1);
  }
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
}

void NcclRun::create_streams() {
  std::vector<std::vector<Kernel>> kernels(schedule_.streams.size());
  for (const Op& op : schedule_.ops)
    kernels[op.stream.position()].insert(kernels[op.stream.position()].end(), op.kernels.begin(),
                                         op.kernels.end());
  const bool timed = context_.job.options.compute == ComputeMode::timed;
  for (std::vector<Kernel>& list : kernels) {
    if (timed) list.clear();  // needs no operands
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    streams_.push_back(stream);
    kernels_.push_back(std::make_unique<GpuKernels>(stream, list));
  }
}

// Every rank splits off every communicator, in their order: splitting is a collective itself.
void NcclRun::connect() {
  const Seconds timeout = context_.job.options.timeout;
  world_ = connect_world(context_.link, context_.rank, schedule_.world, timeout);
  std::map<std::size_t, Bytes> capacity;
  for (const Op& op : schedule_.ops)
    if (op.collective) {
      Bytes& most = capacity[op.collective->communicator.position()];
      most = std::max(most, op.collective->bytes);
    }
  for (const auto& [comm, bytes] : capacity) {
    const Communicator& communicator = schedule_.communicators[comm];
    const auto membership = communicator.membership(context_.rank);
    const int group = membership ? membership->group : -1;
    groups_[comm] = std::make_unique<NcclGroup>(
        world_, group, membership ? membership->index : 0,
        membership ? static_cast<int>(communicator.members(group).size()) : 1, bytes, timeout);
  }
}

std::string NcclRun::where(OpId op) const {
  return fmt::format("op \"{}\"", schedule_.op(op).name);
}

CollectiveShape NcclRun::shape_of(const PlannedOp& planned) const {
  const CollectivePart& part = *schedule_.op(planned.op).collective;
  const Communicator& comm = schedule_.communicators[part.communicator.position()];
  return {part.kind, part.dtype,
          static_cast<std::int64_t>(std::ceil(part.bytes.value() / size_of(part.dtype).value())),
          static_cast<int>(comm.members(planned.membership->group).size()), part.root};
}

void NcclRun::launch(const PlannedOp& planned, ExecInstance instance) {
  const cudaStream_t stream = streams_[schedule_.op(planned.op).stream.position()];
  for (const Wait& wait : planned.waits) {
    const std::int64_t count = wait.count(instance);
    if (count <= 0) continue;
    const Marks& awaited = marks_[wait.op.position()][static_cast<std::size_t>(count - 1)];
    check_cuda(cudaStreamWaitEvent(stream, awaited.end, 0), where(planned.op));
  }
  Marks marks{new_event(), new_event()};
  check_cuda(cudaEventRecord(marks.ready, stream), where(planned.op));
  if (planned.runs) {
    if (context_.job.before_op) context_.job.before_op(context_.rank, planned.op);
    launch_work(planned, program_.index(planned.op, instance));
  }
  check_cuda(cudaEventRecord(marks.end, stream), where(planned.op));
  marks_[planned.op.position()].push_back(marks);
  launched_.emplace_back(planned.op, marks.end);
}

void NcclRun::launch_work(const PlannedOp& planned, std::int64_t index) {
  const Op& op = schedule_.op(planned.op);
  if (op.collective) return launch_collective(planned, index);
  GpuKernels& kernels = *kernels_[op.stream.position()];
  if (context_.job.options.compute == ComputeMode::timed)
    return kernels.wait(duration_of(context_.job, planned.op));
  for (const Kernel& kernel : op.kernels) kernels.launch(kernel);
}

void NcclRun::launch_collective(const PlannedOp& planned, std::int64_t index) {
  const Op& op = schedule_.op(planned.op);
  const CollectiveShape shape = shape_of(planned);
  NcclGroup& group = *groups_.at(op.collective->communicator.position());
  const cudaStream_t stream = streams_[op.stream.position()];
  const std::string what = where(planned.op);
  if (!context_.job.options.check) return group.launch(shape, stream, what);
  const auto salt = static_cast<std::uint64_t>(index * 97 + planned.op.index);
  const int member = planned.membership->index;
  std::vector<std::byte> host(static_cast<std::size_t>(shape.elements) *
                              static_cast<std::size_t>(size_of(shape.dtype).value()));
  fill_input(shape, member, salt, host.data());
  check_cuda(
      cudaMemcpyAsync(group.input(), host.data(), host.size(), cudaMemcpyHostToDevice, stream),
      what);
  check_cuda(cudaMemsetAsync(group.output(), 0xa5, host.size(), stream), what);
  group.launch(shape, stream, what);
  check_cuda(
      cudaMemcpyAsync(host.data(), group.output(), host.size(), cudaMemcpyDeviceToHost, stream),
      what);
  check_cuda(cudaStreamSynchronize(stream), what);
  const std::string wrong = check_output(shape, member, salt, host.data());
  if (!wrong.empty()) throw CheckFailed(fmt::format("{}: {}", what, wrong));
}

void NcclRun::drain() {
  Seconds last_progress = now();
  while (ended_ < launched_.size()) {
    const auto& [op, event] = launched_[ended_];
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaSuccess) {
      ++ended_;
      last_progress = now();
      continue;
    }
    if (state != cudaErrorNotReady) check_cuda(state, where(op));
    for (const auto& [comm, group] : groups_) group->check(where(op));
    // The coordinator knows which rank is at fault, so it speaks first.
    if (now() - last_progress > context_.job.options.timeout * 2)
      throw CheckFailed(fmt::format("{}: nothing ended within the time-out", where(op)));
    usleep(kPollMicroseconds);
  }
}

void NcclRun::abort_all() {
  for (const auto& [comm, group] : groups_) group->abort();
  if (world_) ncclCommAbort(world_);
  world_ = nullptr;
}

RankTimes NcclRun::read_times() const {
  RankTimes times(schedule_.ops.size());
  auto at = [&](cudaEvent_t event) {
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, origin_, event), "cudaEventElapsedTime");
    return origin_time_ + milliseconds(ms);
  };
  std::vector<bool> runs(schedule_.ops.size(), false);
  for (const PlannedBlock& block : program_.blocks)
    for (const PlannedOp& op : block.ops) runs[op.op.position()] = op.runs;
  for (std::size_t op = 0; op < marks_.size(); ++op)
    for (const Marks& marks : marks_[op])
      times[op].push_back(runs[op] ? OpTime{at(marks.ready), at(marks.end)} : OpTime{});
  return times;
}

RankTimes NcclRun::run() {
  context_.link.report_state_with([this] {
    const std::size_t ended = ended_;
    return RankState{static_cast<std::int64_t>(ended), true,
                     ended < launched_.size() ? "in " + where(launched_[ended].first)
                                              : std::string("between ops")};
  });
  try {
    const int steps = context_.job.options.warmup + context_.job.options.steps;
    std::size_t count = 0;
    for (const PlannedBlock& block : program_.blocks)
      count += block.ops.size() * static_cast<std::size_t>(block.repeat * steps);
    launched_.reserve(count);  // the reporter above reads it while it grows
    origin_ = new_event();
    check_cuda(cudaEventRecord(origin_, streams_.front()), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(origin_), "cudaEventSynchronize");
    origin_time_ = now();
    for (int step = 0; step < steps; ++step)
      for (const PlannedBlock& block : program_.blocks)
        for (std::int64_t repetition = 0; repetition < block.repeat; ++repetition)
          for (const PlannedOp& op : block.ops) launch(op, {step, repetition});
    drain();
    context_.link.report_state_with({});
    return read_times();
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    abort_all();
    context_.link.fail(reason);
  }
}

// Asked in a process of its own: a process that has touched CUDA cannot fork ranks that use it.
std::string nccl_unavailable() {
  int channel[2];
  if (pipe(channel) != 0) return "cannot ask for GPUs: no pipe";
  const pid_t child = fork();
  if (child == 0) {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    std::string reason;
    if (error != cudaSuccess)
      reason =
          fmt::format("no GPU that CUDA can use on this machine: {}", cudaGetErrorString(error));
    else if (devices == 0)
      reason = "no GPU on this machine";
    if (write(channel[1], reason.data(), reason.size()) < 0) _exit(1);
    _exit(0);
  }
  close(channel[1]);
  std::string reason;
  char buffer[256];
  for (ssize_t got; (got = read(channel[0], buffer, sizeof buffer)) > 0;)
    reason.append(buffer, static_cast<std::size_t>(got));
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (reason.empty() && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
    return "asking CUDA for its GPUs failed";
  return reason;
}

RankTimes run_nccl(const RankContext& context) { return NcclRun(context).run(); }

}  // namespace amsp
