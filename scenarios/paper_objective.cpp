// SPDX-License-Identifier: Apache-2.0
#include "scenarios/paper_objective.hpp"

#include <array>
#include <cmath>

#include "workloads/generator.hpp"

namespace amsp {
namespace {

class Pricing {
 public:
  Pricing(const ClusterSpec& cluster, const CollectiveModel& collectives, Dtype dtype,
          bool share_nics)
      : cluster_(cluster), collectives_(collectives), dtype_(dtype), share_nics_(share_nics) {}

  // Time of one operation in a group of `mesh`, all groups of its family at once.
  [[nodiscard]] Seconds time(CollectiveKind kind, Bytes bytes, Mesh mesh) const {
    if (mesh.size() <= 1 || bytes <= Bytes(0)) return Seconds(0);
    const GroupShape shape{mesh.size(), mesh.inside, mesh.across, 0};
    const CollectiveEstimate alone = collectives_.estimate(kind, bytes, dtype_, shape);
    const double sharing = mesh.across > 1 && share_nics_ ? cluster_.node.gpus / mesh.inside : 1;
    return alone.latency + alone.fluid * sharing;
  }

 private:
  const ClusterSpec& cluster_;
  const CollectiveModel& collectives_;
  Dtype dtype_;
  bool share_nics_;
};

Mesh quotient(Mesh whole, Mesh part) {
  return {whole.inside / part.inside, whole.across / part.across};
}

// Parameters of the matrices of a layer: qkv, out projection, MLP in (two when gated), MLP out.
std::array<double, 4> layer_modules(const ModelShape& m) {
  const auto d = [](std::int64_t value) { return static_cast<double>(value); };
  return {d(m.hidden) * d((m.heads + 2 * m.kv_heads) * m.head_dim),
          d(m.heads * m.head_dim) * d(m.hidden),
          (m.gated_mlp ? 2 : 1) * d(m.hidden) * d(m.intermediate), d(m.intermediate) * d(m.hidden)};
}

}  // namespace

PaperObjective paper_objective(const ModelShape& model, const Training& training,
                               const MeshChoice& meshes, Mesh data_parallel, Bytes bucket,
                               const ClusterSpec& cluster, const CollectiveModel& collectives,
                               bool share_nics) {
  const Pricing price(cluster, collectives, training.dtype, share_nics);
  const auto steps = static_cast<double>(micro_batches(training, data_parallel.size()));
  const Bytes parameter = size_of(training.dtype);
  const Bytes all = parameter * parameter_count(model);
  const double s_p = meshes.parameters.size();
  PaperObjective result;
  for (const double count : layer_modules(model)) {
    const Bytes bytes = parameter * count;
    const Seconds once = price.time(CollectiveKind::all_gather, bytes, meshes.parameters) * 2 +
                         price.time(CollectiveKind::reduce_scatter, bytes, meshes.parameters);
    result.parameters += once * (steps * static_cast<double>(model.layers));
  }
  const double buckets = std::ceil(all / s_p / bucket);
  const Bytes filled = all / s_p / buckets;
  if (meshes.gradients != meshes.parameters)
    result.gradients = price.time(CollectiveKind::all_reduce, filled,
                                  quotient(meshes.gradients, meshes.parameters)) *
                       (buckets * (steps - 1));
  result.gradient_sum =
      price.time(CollectiveKind::all_reduce, filled, quotient(data_parallel, meshes.parameters)) *
      buckets;
  const double owners = meshes.optimizer.size() / s_p;
  result.parameter_update =
      price.time(CollectiveKind::broadcast, all / static_cast<double>(meshes.optimizer.size()),
                 quotient(meshes.optimizer, meshes.parameters)) *
      owners;
  return result;
}

}  // namespace amsp
