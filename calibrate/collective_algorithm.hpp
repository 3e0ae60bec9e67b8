// SPDX-License-Identifier: Apache-2.0
// A collective algorithm as traffic: which links it loads and with how many of its flows. One file
// per algorithm registers itself (calibrate/algorithms/). The time is not said here: see
// collective_model.hpp.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective_kind.hpp"
#include "base/id.hpp"
#include "base/quantity.hpp"
#include "topologies/network.hpp"

namespace amsp {

// A link and how many bytes it carries per byte of the unit flow (the coupled flows of the task
// all run at one rate x; the link carries load * x).
struct LinkLoad {
  LinkId link;
  double load;
};

// Traffic of one collective on one group.
struct Traffic {
  Bytes flow;  // bytes of the unit flow (ring all-reduce: 2(n-1)/n * size / channels)
  std::vector<LinkLoad> links;  // each link once, sorted by id
};

// One message of the message-level mode: step s may start when the step before it arrived.
struct Message {
  int step;
  int channel;
  GpuId from, to;
  Bytes bytes;
  std::vector<LinkId> route;
};

class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;  // one line, for `amsp list`
  [[nodiscard]] virtual bool supports(CollectiveKind kind) const = 0;
  // `group`: GPUs in rank order; `root`: index in the group (broadcast, reduce). `bytes` = whole
  // buffer. Closed form: each inter-node edge of a ring all-reduce carries 2(n-1)/n * bytes, …
  [[nodiscard]] virtual Traffic traffic(CollectiveKind kind, Bytes bytes,
                                        std::span<const GpuId> group, int root,
                                        const Network& network) const = 0;
  // Empty when the algorithm has no message-level form.
  [[nodiscard]] virtual std::vector<Message> messages(CollectiveKind kind, Bytes bytes,
                                                      std::span<const GpuId> group, int root,
                                                      const Network& network) const = 0;
};

// All registered algorithms; find throws InputError with the nearest name.
const std::vector<const CollectiveAlgorithm*>& collective_algorithms();
const CollectiveAlgorithm& find_collective_algorithm(std::string_view name);

}  // namespace amsp
