// SPDX-License-Identifier: Apache-2.0
#include "workloads/full_shard.hpp"

namespace amsp {

Strategy full_shard(std::string_view name, Mesh mesh) {
  Strategy strategy;
  strategy.name = name;
  strategy.parameters = strategy.gradients = strategy.optimizer = mesh;
  strategy.update = ParameterUpdate::none;
  strategy.single_communication_stream = true;  // one process group for AG and RS
  strategy.flat_layers = true;                  // a FlatParameter for each wrapped layer
  strategy.gathers_in_flight = 2;               // limit_all_gathers
  strategy.adam = Adam::foreach;                // PyTorch's default on a GPU
  return strategy;
}

}  // namespace amsp
