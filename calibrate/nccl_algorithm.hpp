// SPDX-License-Identifier: Apache-2.0
// An algorithm that NCCL can choose: beside its traffic (collective_algorithm.hpp) all that is its
// own in the model of times (physics.hpp) and in NCCL's choice (nccl_tuner.hpp). Its one file in
// calibrate/algorithms/ says all of it; nothing else names it.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "calibrate/candidate.hpp"
#include "calibrate/collective_algorithm.hpp"
#include "calibrate/group_shape.hpp"
#include "calibrate/nccl_tuner.hpp"
#include "calibrate/physics.hpp"

namespace amsp {

struct Protocols {
  bool ll = false;
  bool ll128 = false;
  bool simple = false;
};
// LL and Simple, and LL128 where NCCL allows it on the group's paths.
Protocols every_protocol(const GroupShape& shape, const Hardware& hardware);

// How the bytes of an algorithm stream over the links.
struct Streaming {
  Parameter port = Parameter::rate_inside;  // the rate of a GPU's port …
  Parameter nic = Parameter::rate_nic;      // … and of a NIC
};

class NcclAlgorithm : public CollectiveAlgorithm {
 public:
  // The first version of NCCL that has it.
  [[nodiscard]] virtual NcclVersion since() const = 0;
  // Whether logs alone tell that a machine can do it; then Hardware says what they told.
  [[nodiscard]] virtual bool only_where_stated() const { return false; }
  // What a name in a log, reduced to lower-case letters and digits, is called here: usually name(),
  // also of variants that are taken as this algorithm ("collnet_chain"); "" = not this algorithm.
  [[nodiscard]] virtual std::string_view name_in_logs(std::string_view written) const;

  // The protocols with which an NCCL that has it could take it; none: it could not.
  [[nodiscard]] virtual Protocols offered(CollectiveKind kind, const GroupShape& shape,
                                          const Hardware& hardware) const = 0;
  // Bytes on the fullest GPU port and the fullest NIC, by closed form; on one node nothing on NICs.
  [[nodiscard]] virtual WireBytes wire_bytes(CollectiveKind kind, Bytes bytes,
                                             const GroupShape& shape, int nics) const = 0;
  [[nodiscard]] virtual Streaming streaming() const { return {}; }
  // The streaming's time where its links idle in part.
  [[nodiscard]] virtual Seconds stretched(Seconds transfer, const GroupShape& shape,
                                          const PhysicsParameters& parameters) const;
  // Between nodes: its protocol lets the bytes pass no faster than in this time. LL has a ceiling.
  [[nodiscard]] virtual Seconds protocol_limit(const NcclCall& call,
                                               const PhysicsParameters& parameters) const;
  // All that it takes beyond `transfer`: launch, hops, what does not overlap.
  [[nodiscard]] virtual Seconds latency(const NcclCall& call, Seconds transfer,
                                        const PhysicsParameters& parameters) const = 0;
  // The channels that it is run on, each a thread block; usually what NCCL's search finds, doubled.
  [[nodiscard]] virtual int channels(const GroupShape& shape, const Hardware& hardware) const;

  // NCCL's modelled time with its size corrections; as it stands here NCCL never takes it.
  [[nodiscard]] virtual TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                                             const NcclSystem& system) const;
  // What NCCL compares: usually that time.
  [[nodiscard]] virtual NcclView view(const NcclCall& call, const NcclGraph& graph,
                                      const NcclSystem& system) const;
  // The fitted factor on the streaming part of what NCCL compares, besides its protocol's.
  [[nodiscard]] virtual std::optional<Parameter> choice_factor(const GroupShape&) const {
    return {};
  }
};

// The registered ones: those that every machine can have, the older first, then those that only
// logs tell of. Of equal candidates NCCL's choice here is the first.
const std::vector<Algorithm>& nccl_algorithms();
Algorithm find_nccl_algorithm(std::string_view name);  // throws InputError

}  // namespace amsp
