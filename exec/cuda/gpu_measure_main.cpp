// SPDX-License-Identifier: Apache-2.0
// Measures one GPU for exec/gpu_check: GEMMs of LLaMA-7B and 13B layers, memory-bound kernels, and
// a GEMM beside a copy kernel that holds some of the SMs, as a collective would. JSON on stdout.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "exec/cuda/checks.hpp"
#include "exec/cuda/device_memory.hpp"
#include "exec/cuda/gpu_kernels.hpp"
#include "exec/cuda/kernels.hpp"
#include "exec/nccl.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kRepetitions = 10;
constexpr std::int64_t kTokens = 4096;

// Median time of one launch, in seconds, by CUDA events.
double time_of(cudaStream_t stream, const std::function<void()>& launch) {
  launch();
  std::vector<double> seconds;
  cudaEvent_t begin = nullptr, end = nullptr;
  check_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  for (int i = 0; i < kRepetitions; ++i) {
    check_cuda(cudaEventRecord(begin, stream), "cudaEventRecord");
    launch();
    check_cuda(cudaEventRecord(end, stream), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    seconds.push_back(ms * 1e-3);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

Kernel gemm(std::int64_t n, std::int64_t k) {
  Kernel kernel;
  kernel.kind = KernelClass::gemm;
  kernel.m = kTokens;
  kernel.n = n;
  kernel.k = k;
  return kernel;
}

// hidden, intermediate of LLaMA-7B and 13B (their config.json): qkv, attention output, up, down.
std::vector<Kernel> llama_gemms() {
  std::vector<Kernel> all;
  for (const auto& [h, f] : {std::pair<std::int64_t, std::int64_t>{4096, 11008}, {5120, 13824}})
    for (const Kernel& kernel : {gemm(3 * h, h), gemm(h, h), gemm(2 * f, h), gemm(h, f)})
      all.push_back(kernel);
  return all;
}

Json gemm_times(cudaStream_t stream) {
  Json rows = Json::array();
  for (const Kernel& kernel : llama_gemms()) {
    GpuKernels kernels(stream, std::span(&kernel, 1));
    const double seconds = time_of(stream, [&] { kernels.launch(kernel); });
    rows.push_back({{"m", kernel.m},
                    {"n", kernel.n},
                    {"k", kernel.k},
                    {"time_us", seconds * 1e6},
                    {"tflops", flops_of(kernel).value() / seconds * 1e-12}});
  }
  return rows;
}

Json memory_rates(cudaStream_t stream) {
  Json rows = Json::array();
  for (double mebibytes : {16.0, 64.0, 256.0, 1024.0})
    for (KernelClass kind : {KernelClass::elementwise, KernelClass::optimizer}) {
      Kernel kernel;
      kernel.kind = kind;
      kernel.hbm = Bytes(mebibytes * (1 << 20));
      GpuKernels kernels(stream, std::span(&kernel, 1));
      const double seconds = time_of(stream, [&] { kernels.launch(kernel); });
      rows.push_back({{"kernel", name_of(kind)},
                      {"bytes", kernel.hbm.value()},
                      {"time_us", seconds * 1e6},
                      {"gigabytes_per_s", kernel.hbm.value() / seconds * 1e-9}});
    }
  return rows;
}

// How much slower a GEMM is beside a copy of so many thread blocks (NCCL holds 1 to 32 SMs).
Json contention(cudaStream_t stream, cudaStream_t other) {
  const Kernel kernel = gemm(2 * 11008, 4096);
  GpuKernels kernels(stream, std::span(&kernel, 1));
  constexpr std::size_t kCopied = std::size_t{4} << 30;  // long enough to cover the GEMMs
  const DeviceMemory from(kCopied, "copy source"), to(kCopied, "copy target");
  const double alone = time_of(stream, [&] { kernels.launch(kernel); });
  Json rows = Json::array();
  for (int blocks : {0, 4, 8, 16, 32}) {
    if (blocks > 0)
      for (int i = 0; i < 4; ++i)
        check_cuda(launch_copy(from.floats(), to.floats(), kCopied, blocks, other), "copy");
    const double beside = time_of(stream, [&] { kernels.launch(kernel); });
    const bool covered = blocks == 0 || cudaStreamQuery(other) == cudaErrorNotReady;
    check_cuda(cudaStreamSynchronize(other), "copy");
    rows.push_back({{"blocks", blocks},
                    {"time_us", beside * 1e6},
                    {"slowdown", beside / alone},
                    {"copy_covered_all_repetitions", covered}});
  }
  return rows;
}

int measure() {
  if (const std::string reason = nccl_unavailable(); !reason.empty()) {
    fmt::print(stderr, "amsp_gpu_measure: {}\n", reason);
    return 2;
  }
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0, nccl = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check_nccl(ncclGetVersion(&nccl), nullptr, "ncclGetVersion");
  cudaStream_t stream = nullptr, other = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check_cuda(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "cudaStreamCreate");
  const Json json{{"gpu", properties.name},
                  {"multiprocessors", properties.multiProcessorCount},
                  {"driver", driver},
                  {"cuda", runtime},
                  {"nccl", nccl},
                  {"gemm_bf16", gemm_times(stream)},
                  {"memory", memory_rates(stream)},
                  {"gemm_beside_copy", contention(stream, other)}};
  fmt::print("{}\n", json.dump(1));
  return 0;
}

}  // namespace
}  // namespace amsp

int main() {
  try {
    return amsp::measure();
  } catch (const std::exception& error) {
    fmt::print(stderr, "amsp_gpu_measure: {}\n", error.what());
    return 1;
  }
}
