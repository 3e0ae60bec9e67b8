// SPDX-License-Identifier: Apache-2.0
#include "scenarios/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace amsp {

void for_each_parallel(std::size_t count, int threads,
                       const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  const auto wanted = std::min(count, static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t i = 1; i < wanted; ++i) pool.emplace_back(loop);
  loop();
  for (std::thread& thread : pool) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

int default_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace amsp
