// SPDX-License-Identifier: Apache-2.0
// CUDA objects that free themselves, and checked calls.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace amsp::bench {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

// Throws InputError (exit status 2) on a machine without a device.
inline int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    throw InputError(std::string("this machine has no CUDA device to measure: ") +
                     cudaGetErrorString(status));
  }
  return count;
}

class Buffer {
 public:
  explicit Buffer(std::size_t bytes) {
    check(cudaMalloc(&data_, bytes));
    check(cudaMemset(data_, 0, bytes));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

class DeviceStream {
 public:
  DeviceStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~DeviceStream() { cudaStreamDestroy(stream_); }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

// Time between two points of a stream.
class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start(const DeviceStream& stream) { check(cudaEventRecord(start_, stream.get())); }
  void stop(const DeviceStream& stream) { check(cudaEventRecord(stop_, stream.get())); }
  // Waits for the end.
  [[nodiscard]] Seconds elapsed() const {
    float milliseconds_taken = 0;
    check(cudaEventSynchronize(stop_));
    check(cudaEventElapsedTime(&milliseconds_taken, start_, stop_));
    return milliseconds(milliseconds_taken);
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

// bf16 GEMM C[m,n] = A[m,k] B[k,n] with fp32 accumulation.
class Gemm {
 public:
  Gemm(int m, int n, int k)
      : m_(m), n_(n), k_(k), a_(2 * product(m, k)), b_(2 * product(k, n)), c_(2 * product(m, n)) {
    check(cublasCreate(&handle_));
  }
  ~Gemm() { cublasDestroy(handle_); }
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;
  void launch(const DeviceStream& stream) {
    const float one = 1, zero = 0;
    check(cublasSetStream(handle_, stream.get()));
    // cuBLAS is column-major: C' = B' A'.
    check(cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n_, m_, k_, &one, b_.as<void>(),
                       CUDA_R_16BF, n_, a_.as<void>(), CUDA_R_16BF, k_, &zero, c_.as<void>(),
                       CUDA_R_16BF, n_, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }

 private:
  static std::size_t product(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  }
  int m_, n_, k_;
  Buffer a_, b_, c_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace amsp::bench
