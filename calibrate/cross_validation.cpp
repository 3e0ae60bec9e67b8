// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "calibrate/straight_lines.hpp"

namespace amsp {
namespace {

using Choice = std::function<bool(const Observation&)>;

class Validation {
 public:
  Validation(const std::vector<Observation>& rows, const ClusterSpec& cluster)
      : rows_(rows), cluster_(cluster) {}

  void each_size() {
    std::set<double> sizes;
    for (const Observation& row : rows_) sizes.insert(octave(row));
    if (sizes.size() < 3) return;
    for (auto size = std::next(sizes.begin()); std::next(size) != sizes.end(); ++size) {
      hold_out(
          LeftOut::size, [&](const Observation& row) { return octave(row) == *size; },
          [&](const Observation& row) { return octave(row) == *size && inner_size(row); });
    }
  }

  void each_scale() {
    for (const int domain : {0, 1}) {
      std::set<int> scales;
      for (const Observation& row : rows_) {
        if (correction_domain(row.shape) == domain) scales.insert(row.shape.ranks);
      }
      if (scales.size() < 3) continue;
      for (auto scale = std::next(scales.begin()); std::next(scale) != scales.end(); ++scale) {
        hold_out(
            LeftOut::scale, [&](const Observation& row) { return row.shape.ranks == *scale; },
            [&](const Observation& row) { return row.shape.ranks == *scale && inner_scale(row); });
      }
    }
  }

  // The fitted scales must include some across nodes: a fit of one node says nothing of a network.
  void scales_above() {
    std::set<int> scales;
    for (const Observation& row : rows_) {
      if (row.shape.nodes > 1) scales.insert(row.shape.ranks);
    }
    for (const int largest : scales) {
      if (largest == *scales.rbegin()) continue;
      hold_out(
          LeftOut::scales_above, [&](const Observation& row) { return row.shape.ranks > largest; },
          [&](const Observation& row) {
            return row.shape.ranks > largest && row.shape.ranks <= 4 * largest;
          },
          largest);
    }
  }

  // What is derived of a kind that nobody measured.
  void each_kind() {
    std::set<CollectiveKind> kinds;
    for (const Observation& row : rows_) kinds.insert(row.kind);
    for (const CollectiveKind kind : kinds) {
      const auto of_kind = [&](const Observation& row) { return row.kind == kind; };
      hold_out(LeftOut::kind, of_kind,
               [&](const Observation& row) { return of_kind(row) && measured_of_others(row); });
    }
  }

  std::vector<HeldOutRow> run(const ValidationProgress& progress) {
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      if (progress) progress(i, fits_.size());
      judge(fits_[i]);
    }
    if (progress && !fits_.empty()) progress(fits_.size(), fits_.size());
    return std::move(held_out_);
  }

 private:
  static double octave(const Observation& row) { return quarter_octave(row.bytes); }

  std::optional<double> line_error(LeftOut left_out, const Observation& row) const {
    if (left_out == LeftOut::scales_above || left_out == LeftOut::kind) return std::nullopt;
    const auto time = left_out == LeftOut::size ? line_between_sizes(rows_, row)
                                                : line_between_scales(rows_, row);
    if (!time) return std::nullopt;
    return std::log(*time / row.time);
  }

  bool inner_size(const Observation& row) const {
    bool below = false, above = false;
    for (const Observation& other : rows_) {
      if (other.kind != row.kind || other.shape != row.shape) continue;
      below = below || octave(other) < octave(row);
      above = above || octave(other) > octave(row);
    }
    return below && above;
  }

  bool inner_scale(const Observation& row) const {
    bool below = false, above = false;
    for (const Observation& other : rows_) {
      if (other.kind != row.kind) continue;
      if (correction_domain(other.shape) != correction_domain(row.shape)) continue;
      below = below || other.shape.ranks < row.shape.ranks;
      above = above || other.shape.ranks > row.shape.ranks;
    }
    return below && above;
  }

  bool measured_of_others(const Observation& row) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Observation& other) {
      return other.kind != row.kind &&
             correction_domain(other.shape) == correction_domain(row.shape);
    });
  }

  // One fit without some rows, and those that it is judged by; as places in rows_.
  struct Fit {
    LeftOut left_out;
    int largest;
    std::vector<std::size_t> kept, judged;
  };

  void hold_out(LeftOut left_out, const Choice& leave, const Choice& judge, int largest = 0) {
    Fit fit{left_out, largest, {}, {}};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!leave(rows_[i])) fit.kept.push_back(i);
      if (judge(rows_[i])) fit.judged.push_back(i);
    }
    if (!fit.kept.empty() && !fit.judged.empty()) fits_.push_back(std::move(fit));
  }

  void judge(const Fit& without) {
    std::vector<Observation> kept;
    for (const std::size_t i : without.kept) kept.push_back(rows_[i]);
    const CollectiveCalibration fit = fit_collectives(std::move(kept), cluster_);
    for (const std::size_t i : without.judged) {
      const Observation& row = rows_[i];
      if (without.left_out != LeftOut::kind && fit.find(row.kind) == nullptr) continue;
      const CurveValue value = fit.at(row.kind, row.bytes, row.shape);
      HeldOutRow result{row,   without.left_out,
                        1,     std::log(value.time / row.time),
                        false, line_error(without.left_out, row)};
      if (without.largest > 0)
        result.scale_ratio = static_cast<double>(row.shape.ranks) / without.largest;
      result.covered = std::abs(result.log_error) <= std::log(value.factor90());
      held_out_.push_back(std::move(result));
    }
  }

  const std::vector<Observation>& rows_;
  const ClusterSpec& cluster_;
  std::vector<Fit> fits_;
  std::vector<HeldOutRow> held_out_;
};

double quantile(std::vector<double>& values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// `errors`: log(predicted / measured).
ErrorSummary summary_of(const std::vector<double>& errors) {
  ErrorSummary summary;
  summary.rows = errors.size();
  if (errors.empty()) return summary;
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(std::exp(error) - 1));
  summary.median = quantile(sizes, 0.5);
  summary.p95 = quantile(sizes, 0.95);
  return summary;
}

}  // namespace

std::string_view name_of(LeftOut left_out) {
  switch (left_out) {
    case LeftOut::size:
      return "each size";
    case LeftOut::scale:
      return "each scale";
    case LeftOut::scales_above:
      return "scales above";
    case LeftOut::kind:
      return "each kind";
  }
  return "";
}

std::vector<HeldOutRow> cross_validate(const std::vector<Observation>& rows,
                                       const ClusterSpec& cluster, const std::vector<LeftOut>& what,
                                       const ValidationProgress& progress) {
  Validation validation(rows, cluster);
  for (const LeftOut left_out : what) {
    if (left_out == LeftOut::size) validation.each_size();
    if (left_out == LeftOut::scale) validation.each_scale();
    if (left_out == LeftOut::scales_above) validation.scales_above();
    if (left_out == LeftOut::kind) validation.each_kind();
  }
  return validation.run(progress);
}

ErrorSummary summarise(const std::vector<HeldOutRow>& rows) {
  std::vector<double> errors;
  double covered = 0;
  for (const HeldOutRow& row : rows) {
    errors.push_back(row.log_error);
    covered += row.covered ? 1 : 0;
  }
  ErrorSummary summary = summary_of(errors);
  if (!rows.empty()) summary.covered = covered / static_cast<double>(rows.size());
  return summary;
}

ErrorSummary summarise_lines(const std::vector<HeldOutRow>& rows) {
  std::vector<double> errors;
  for (const HeldOutRow& row : rows) {
    if (row.line_log_error) errors.push_back(*row.line_log_error);
  }
  return summary_of(errors);
}

}  // namespace amsp
