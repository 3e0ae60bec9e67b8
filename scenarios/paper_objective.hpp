// SPDX-License-Identifier: Apache-2.0
// The paper's objective T_comm = T_p + T_g + T_os0 + T_os1, nothing overlapped (arXiv:2311.00257v2,
// section IV-C). t(op, v, mesh) is this program's calibrated time for the mesh, with its fluid
// phase stretched by the groups of the family that share the node's NICs.
#pragma once
#include "calibrate/collective_model.hpp"
#include "workloads/mesh_space.hpp"
#include "workloads/model_shape.hpp"
#include "workloads/training.hpp"

namespace amsp {

struct PaperObjective {
  Seconds parameters;        // T_p: gathers and scatters of every micro-batch
  Seconds gradients;         // T_g: all micro-batches but the last
  Seconds gradient_sum;      // T_os0: all-reduce over the replicas
  Seconds parameter_update;  // T_os1: broadcasts
  [[nodiscard]] Seconds total() const {
    return parameters + gradients + gradient_sum + parameter_update;
  }
};

PaperObjective paper_objective(const ModelShape& model, const Training& training,
                               const MeshChoice& meshes, Mesh data_parallel, Bytes bucket,
                               const ClusterSpec& cluster, const CollectiveModel& collectives,
                               bool share_nics = true);

}  // namespace amsp
