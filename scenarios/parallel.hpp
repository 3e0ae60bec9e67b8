// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on several threads.
#pragma once
#include <cstddef>
#include <functional>

namespace amsp {

// Calls work(0) … work(count - 1), each once, on up to `threads` threads; the first exception (by
// index) is thrown again after all have ended.
void for_each_parallel(std::size_t count, int threads,
                       const std::function<void(std::size_t)>& work);

// Threads to use when the user does not say: the machine's.
int default_threads();

}  // namespace amsp
