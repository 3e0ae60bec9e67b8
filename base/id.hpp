// SPDX-License-Identifier: Apache-2.0
// Distinct index types, so that a rank is never taken for a node or a link. Invalid = -1.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace amsp {

template <class Tag>
struct Id {
  std::int32_t index = -1;
  constexpr Id() = default;
  constexpr explicit Id(std::int32_t i) : index(i) {}
  constexpr explicit Id(std::size_t i) : index(static_cast<std::int32_t>(i)) {}
  [[nodiscard]] constexpr bool valid() const { return index >= 0; }
  [[nodiscard]] constexpr std::size_t position() const { return static_cast<std::size_t>(index); }
  constexpr auto operator<=>(const Id&) const = default;
};

using Rank = Id<struct RankTag>;        // a process of the job, 0 .. world size - 1
using GpuId = Id<struct GpuTag>;        // a GPU of the cluster: node * gpus_per_node + slot
using NodeId = Id<struct NodeTag>;      // a server of the cluster
using NicId = Id<struct NicTag>;        // a NIC of a node (index inside the node)
using VertexId = Id<struct VertexTag>;  // a device of the network graph
using LinkId = Id<struct LinkTag>;      // a directed link of the network graph
using OpId = Id<struct OpTag>;          // an operation of a schedule, over all its blocks
using StreamId = Id<struct StreamTag>;
using CommId = Id<struct CommTag>;  // a communicator family of a schedule

}  // namespace amsp

template <class Tag>
struct std::hash<amsp::Id<Tag>> {
  std::size_t operator()(amsp::Id<Tag> id) const noexcept { return std::hash<int>{}(id.index); }
};
