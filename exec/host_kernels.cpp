// SPDX-License-Identifier: Apache-2.0
#include "exec/host_kernels.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "exec/clock.hpp"

namespace amsp {
namespace {

using Matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
constexpr std::size_t kMostFloats = std::size_t{1} << 30;

// Operand memory of this thread, grown as needed and never zero.
float* operand(std::size_t which, std::int64_t rows, std::int64_t columns) {
  thread_local std::vector<float> memory[3];
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (count > kMostFloats)
    throw InputError(
        fmt::format("an operand of {} x {} is too large to compute on the CPU; use "
                    "--compute timed",
                    rows, columns));
  if (memory[which].size() < count) memory[which].resize(count, 0.5F);
  return memory[which].data();
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k) {
  const Matrix a(operand(0, m, k), m, k);
  const Matrix b(operand(1, k, n), k, n);
  Matrix c(operand(2, m, n), m, n);
  c.noalias() = a * b;
}

// Causal attention per head and sequence: Q K^T and P V are two products over half of the
// s x s square; the backward pass has five where the forward pass has two.
void attend(const Kernel& kernel, int half_products) {
  const std::int64_t s = kernel.sequence_length;
  for (std::int64_t head = 0; head < kernel.sequences * kernel.heads; ++head)
    for (int product = 0; product < half_products; ++product)
      multiply(s, std::max<std::int64_t>(s / 2, 1), kernel.head_dim);
}

// Reads one half of the bytes and writes the other, as y = f(x) does.
void stream_memory(Bytes bytes) {
  const auto count = static_cast<std::int64_t>(bytes.value() / 2 / sizeof(float));
  const float* from = operand(0, count, 1);
  float* to = operand(1, count, 1);
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] * 1.0001F + 0.5F;
}

}  // namespace

void run_host_kernel(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelClass::gemm:
      return multiply(kernel.m, kernel.n, kernel.k);
    case KernelClass::attention_forward:
      return attend(kernel, 2);
    case KernelClass::attention_backward:
      return attend(kernel, 5);
    case KernelClass::elementwise:
    case KernelClass::optimizer:
      return stream_memory(kernel.hbm);
    case KernelClass::fixed:
      return sleep_until(now() + kernel.duration);
  }
}

}  // namespace amsp
