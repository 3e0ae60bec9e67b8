// SPDX-License-Identifier: Apache-2.0
// What runs a schedule on devices. One file in exec/backends/ per member, which defines
// `std::unique_ptr<Backend> backend_STEM()` (cmake/layer.cmake collects them).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/control_link.hpp"
#include "exec/job.hpp"
#include "exec/trace.hpp"

namespace amsp {

// All that a rank knows when it starts.
struct RankContext {
  const ExecJob& job;
  Rank rank;
  int local_rank = 0;  // number of the rank among those on its host
  ControlLink& link;
  std::vector<std::string> addresses;  // of this rank; communicators are spread over them
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;
  // Why the backend cannot run on this machine; empty when it can.
  [[nodiscard]] virtual std::string unavailable() const = 0;
  // Runs warm-up and measured steps. Throws (CheckFailed for a wrong result); the caller reports.
  [[nodiscard]] virtual RankTimes run(const RankContext& context) const = 0;
};

std::vector<std::unique_ptr<Backend>> all_backends();
// Throws InputError with the nearest name.
std::unique_ptr<Backend> find_backend(std::string_view name);

}  // namespace amsp
