// SPDX-License-Identifier: Apache-2.0
// Times of the Gloo backend's collectives, fitted to measurements on the machine at hand:
//
//   time = base + hops inside x l_in + hops across x l_out + max(port bytes / b_in, NIC bytes /
//   b_nic)
//
// for each kind. The base may be negative: a shaper lets its bucket's bytes pass at once. The
// algorithms are known (rings, chains, pairwise), so the hops and the bytes are exact and only
// these five figures are fitted (docs/model/80-execution.md).
#pragma once
#include <map>
#include <vector>

#include "base/collective_kind.hpp"
#include "calibrate/collective_model.hpp"

namespace amsp {

struct MeasuredCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  GroupShape shape;
  Bytes bytes;  // whole buffer
  Seconds time;
};

struct RingFit {
  Seconds base, hop_inside, hop_across;
  Bandwidth port, nic;
  double deviation = 0;  // root mean square of the relative residuals
  int rows = 0;
};

class RingModel : public CollectiveModel {
 public:
  // Weighted least squares in relative errors, outliers damped; only the base may be negative.
  // Throws InputError for a kind without enough rows to tell the figures apart.
  explicit RingModel(const std::vector<MeasuredCollective>& rows);

  // InputError for a kind that was not measured.
  [[nodiscard]] CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype dtype,
                                            const GroupShape& shape) const override;
  [[nodiscard]] AchievableRates achievable() const override;
  [[nodiscard]] const std::map<CollectiveKind, RingFit>& fits() const { return fits_; }

 private:
  std::map<CollectiveKind, RingFit> fits_;
};

}  // namespace amsp
