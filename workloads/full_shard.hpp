// SPDX-License-Identifier: Apache-2.0
// PyTorch FSDP's engine, which the presets fsdp and hsdp share.
#pragma once
#include "workloads/strategy.hpp"

namespace amsp {

// P, G and OS sharded over `mesh`: one communication stream, two gathers in flight.
Strategy full_shard(std::string_view name, Mesh mesh);

}  // namespace amsp
