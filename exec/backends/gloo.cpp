// SPDX-License-Identifier: Apache-2.0
// Gloo on CPUs: one thread per stream, one set of TCP connections per communicator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "exec/backend.hpp"
#include "exec/clock.hpp"
#include "exec/gloo/group.hpp"
#include "exec/host_kernels.hpp"
#include "exec/host_memory.hpp"
#include "exec/stream_workers.hpp"

namespace amsp {
namespace {

class GlooRun {
 public:
  explicit GlooRun(const RankContext& context)
      : context_(context), program_(plan_rank(context.job.schedule, context.rank)) {
    connect();
  }

  RankTimes run() {
    StreamWorkers workers(
        context_.job, program_,
        [this](const PlannedOp& op, std::int64_t instance, Seconds ready) {
          return run_op(op, instance, ready);
        },
        [this](const std::string& message) { context_.link.fail(message); });
    context_.link.report_state_with([&workers] { return workers.state(); });
    RankTimes times = workers.run();
    context_.link.report_state_with({});
    return times;
  }

 private:
  CollectiveShape shape_of(const PlannedOp& planned) const {
    const CollectivePart& part = *context_.job.schedule.op(planned.op).collective;
    const Communicator& comm = context_.job.schedule.communicators[part.communicator.position()];
    const auto elements =
        static_cast<std::int64_t>(std::ceil(part.bytes.value() / size_of(part.dtype).value()));
    return {part.kind, part.dtype, elements,
            static_cast<int>(comm.members(planned.membership->group).size()), part.root};
  }

  // All members create their groups in the order of the communicators, so none waits in a circle.
  void connect() {
    std::map<std::size_t, Bytes> capacity;  // by communicator that this rank uses
    std::map<std::size_t, CollectiveShape> first;
    for (const PlannedBlock& block : program_.blocks)
      for (const PlannedOp& op : block.ops) {
        if (!op.membership || !op.runs) continue;
        const CollectivePart& part = *context_.job.schedule.op(op.op).collective;
        Bytes& most = capacity[part.communicator.position()];
        most = std::max(most, part.bytes + size_of(part.dtype));
        first.emplace(part.communicator.position(), shape_of(op));
      }
    Bytes needed;  // three buffers for each communicator (GlooGroup)
    for (const auto& [comm, bytes] : capacity) needed += bytes * 3.0;
    std::ifstream meminfo("/proc/meminfo");
    claim_memory(context_.link, context_.rank,
                 hello_of_this_host(context_.rank, context_.job.schedule.world, "").boot, needed,
                 available_memory(meminfo));
    for (const auto& [comm, bytes] : capacity) {
      const Communicator& communicator = context_.job.schedule.communicators[comm];
      const auto membership = communicator.membership(context_.rank);
      const std::string key = fmt::format("{}/{}", comm, membership->group);
      const std::vector<std::string>& addresses = context_.addresses;
      groups_[comm] = std::make_unique<GlooGroup>(
          context_.link, key, addresses[comm % addresses.size()], membership->index,
          static_cast<int>(communicator.members(membership->group).size()), bytes);
      fill_input(first.at(comm), membership->index, comm, groups_[comm]->input());
    }
  }

  Seconds run_op(const PlannedOp& planned, std::int64_t instance, Seconds ready) {
    const Op& op = context_.job.schedule.op(planned.op);
    if (op.collective) {
      run_collective(planned, instance);
      return now();
    }
    if (context_.job.options.compute == ComputeMode::timed) {
      // The emulated device ends on time even if this thread wakes late.
      const Seconds end = ready + duration_of(context_.job, planned.op);
      if (end > now()) sleep_until(end);
      return end;
    }
    for (const Kernel& kernel : op.kernels) run_host_kernel(kernel);
    return op.kernels.empty() ? ready : now();
  }

  void run_collective(const PlannedOp& planned, std::int64_t instance) {
    const CollectivePart& part = *context_.job.schedule.op(planned.op).collective;
    GlooGroup& group = *groups_.at(part.communicator.position());
    const CollectiveShape shape = shape_of(planned);
    if (!context_.job.options.check) return group.run(shape);
    const auto salt = static_cast<std::uint64_t>(instance * 97 + planned.op.index);
    const int index = planned.membership->index;
    fill_input(shape, index, salt, group.input());
    const auto bytes = static_cast<std::size_t>(shape.elements) *
                       static_cast<std::size_t>(size_of(shape.dtype).value());
    std::fill_n(group.output(), bytes, std::byte{0xa5});  // so that nothing old can pass
    group.run(shape);
    const std::string wrong = check_output(shape, index, salt, group.output());
    if (!wrong.empty()) throw CheckFailed(wrong);
  }

  const RankContext& context_;
  RankProgram program_;
  std::map<std::size_t, std::unique_ptr<GlooGroup>> groups_;  // by communicator
};

class GlooBackend : public Backend {
 public:
  std::string_view name() const override { return "gloo"; }
  std::string_view description() const override {
    return "ring collectives over TCP (Gloo's transport), compute on the CPU or timed";
  }
  std::string unavailable() const override { return ""; }
  RankTimes run(const RankContext& context) const override { return GlooRun(context).run(); }
};

}  // namespace

std::unique_ptr<Backend> backend_gloo() { return std::make_unique<GlooBackend>(); }

}  // namespace amsp
