// SPDX-License-Identifier: Apache-2.0
// The NCCL backend. Without a GPU these tests print why they are skipped (ctest -L gpu).
#include <catch2/catch.hpp>
#include <cstdio>

#include "base/error.hpp"
#include "exec/backend.hpp"
#include "exec/launch.hpp"
#include "schedules.hpp"

using namespace amsp;

namespace {

bool skipped() {
  const std::string reason = find_backend("nccl")->unavailable();
  if (!reason.empty()) std::printf("skipped: %s\n", reason.c_str());
  return !reason.empty();
}

// A GEMM, a memory-bound kernel and collectives beside them.
ExecJob job_of(int world, bool check) {
  ScheduleBuilder builder(world);
  const CommId comm = builder.whole_world();
  Op work;
  work.name = "work";
  Kernel gemm, pass;
  gemm.kind = KernelClass::gemm;
  gemm.m = gemm.n = gemm.k = 512;
  pass.kind = KernelClass::elementwise;
  pass.hbm = Bytes(1 << 20);
  work.kernels = {gemm, pass};
  const OpId first = builder.add(work);
  const CollectiveKind kinds[] = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                  CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                  CollectiveKind::all_to_all};
  for (CollectiveKind kind : kinds)
    builder.collective(std::string(name_of(kind)), {kind, comm, Bytes(100002), Dtype::bf16, 0},
                       {first});
  ExecJob job = builder.job(check);
  job.options.backend = "nccl";
  job.options.compute = ComputeMode::real;
  return job;
}

}  // namespace

TEST_CASE("nccl: one rank computes and communicates", "[gpu]") {
  if (skipped()) return;
  for (bool check : {true, false}) {
    const ExecTrace trace = run_local(job_of(1, check));
    CHECK(trace.records.size() == 12);
    for (const ExecRecord& record : trace.records) CHECK(record.end >= record.start);
  }
}

TEST_CASE("nccl: more ranks than GPUs are refused with the number", "[gpu]") {
  if (skipped()) return;
  CHECK_THROWS_WITH(run_local(job_of(64, false)), Catch::Matchers::Contains("GPU"));
}

TEST_CASE("nccl: a machine without a GPU says so", "[gpu]") {
  const std::string reason = find_backend("nccl")->unavailable();
  if (reason.empty()) return;
  CHECK_THROWS_AS(run_local(job_of(1, false)), InputError);
}
