// SPDX-License-Identifier: Apache-2.0
// NCCL and CUDA, where the build found them (exec/layer.cmake).
#include "exec/nccl.hpp"

#include "exec/backend.hpp"

namespace amsp {

#ifndef AMSP_HAVE_NCCL
std::string nccl_unavailable() {
  return "this amsp was built without CUDA and NCCL; use --backend gloo, or build with "
         "cmake --preset gpu where both are installed";
}
RankTimes run_nccl(const RankContext&) { throw InputError(nccl_unavailable()); }
#endif

namespace {

class NcclBackend : public Backend {
 public:
  std::string_view name() const override { return "nccl"; }
  std::string_view description() const override {
    return "CUDA streams, cuBLAS and NCCL on GPUs, one rank per GPU";
  }
  std::string unavailable() const override { return nccl_unavailable(); }
  RankTimes run(const RankContext& context) const override { return run_nccl(context); }
};

}  // namespace

std::unique_ptr<Backend> backend_nccl() { return std::make_unique<NcclBackend>(); }

}  // namespace amsp
