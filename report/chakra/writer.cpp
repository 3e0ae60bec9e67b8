// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "et_def.pb.h"
#include "report/chakra/chakra.hpp"
#include "report/chakra/groups.hpp"
#include "report/chakra/stream.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

chakra::AttributeProto& attribute(chakra::Node& node, std::string_view name) {
  chakra::AttributeProto& added = *node.add_attr();
  added.set_name(std::string(name));
  return added;
}

chakra::CollectiveCommType type_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return chakra::ALL_GATHER;
    case CollectiveKind::reduce_scatter:
      return chakra::REDUCE_SCATTER;
    case CollectiveKind::broadcast:
      return chakra::BROADCAST;
    case CollectiveKind::reduce:
      return chakra::REDUCE;
    case CollectiveKind::all_to_all:
      return chakra::ALL_TO_ALL;
    case CollectiveKind::scatter:
      return chakra::SCATTER;
    case CollectiveKind::gather:
      return chakra::GATHER;
    case CollectiveKind::all_reduce:
    case CollectiveKind::send_recv:  // is no collective in Chakra; see add_exchange()
      break;
  }
  return chakra::ALL_REDUCE;
}

std::int64_t comm_size(const CollectivePart& part, int ranks) {
  return std::llround(part.bytes / whole_buffer(part.kind, Bytes(1), ranks));
}

class TraceBuilder {
 public:
  TraceBuilder(const Schedule& schedule, Rank rank, const ChakraOptions& options)
      : schedule_(schedule),
        rank_(rank),
        options_(options),
        groups_(schedule.communicators),
        json_(Json::parse(to_json(schedule))),
        last_of_op_(schedule.ops.size(), 0),
        last_of_stream_(schedule.streams.size(), 0),
        last_of_communicator_(schedule.communicators.size(), 0) {}

  std::string build();

 private:
  [[nodiscard]] std::string metadata() const;
  [[nodiscard]] bool takes_part(const Op& op) const;
  [[nodiscard]] int ranks_of(const CollectivePart& part) const;
  // Whether comm_size says the whole buffer without rounding.
  [[nodiscard]] bool exact_size(const CollectivePart& part) const {
    const Bytes one = Bytes(static_cast<double>(comm_size(part, ranks_of(part))));
    return whole_buffer(part.kind, one, ranks_of(part)) == part.bytes;
  }
  void add_op(OpId id, const Json& text, std::size_t position, const std::string& block);
  void add_dependencies(chakra::Node& node, const Op& op);
  void describe(chakra::Node& node, const Op& op);
  void describe_collective(chakra::Node& node, const CollectivePart& part);
  void add_exchange(chakra::Node& send, const CollectivePart& part);

  const Schedule& schedule_;
  Rank rank_;
  const ChakraOptions& options_;
  GroupNumbers groups_;
  Json json_;
  std::string file_;
  std::uint64_t next_id_ = 1;
  std::vector<std::uint64_t> last_of_op_, last_of_stream_, last_of_communicator_;
};

std::string TraceBuilder::metadata() const {
  Json header = json_;
  for (Json& block : header["blocks"]) block["ops"] = block["ops"].size();
  chakra::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  chakra::AttributeProto& rank = *metadata.add_attr();
  rank.set_name("amsp.rank");
  rank.set_int64_val(rank_.index);
  chakra::AttributeProto& frame = *metadata.add_attr();
  frame.set_name("amsp.frame");
  frame.set_string_val(header.dump());
  return metadata.SerializeAsString();
}

bool TraceBuilder::takes_part(const Op& op) const {
  const auto member = [&](CommId id) {
    return schedule_.communicators[id.position()].membership(rank_);
  };
  if (op.collective && !member(op.collective->communicator)) return false;
  if (!op.role) return true;
  const auto membership = member(op.role->communicator);
  return membership && membership->index == op.role->index;
}

int TraceBuilder::ranks_of(const CollectivePart& part) const {
  const Communicator& communicator = schedule_.communicators[part.communicator.position()];
  return static_cast<int>(communicator.members(communicator.membership(rank_)->group).size());
}

// Data dependencies as the schedule states them; what lies before this step is named in an
// attribute, with its place in the list. Control dependencies: the stream's and the
// communicator's order, which other simulators do not know of.
void TraceBuilder::add_dependencies(chakra::Node& node, const Op& op) {
  chakra::StringList before;
  for (std::size_t i = 0; i < op.after.size(); ++i) {
    const std::uint64_t id = last_of_op_[op.after[i].position()];
    if (id != 0)
      node.add_data_deps(id);
    else
      before.add_values(fmt::format("{}:{}", i, schedule_.op(op.after[i]).name));
  }
  if (before.values_size() > 0) *attribute(node, "amsp.before_step").mutable_string_list() = before;
  const std::uint64_t in_stream = last_of_stream_[op.stream.position()];
  if (in_stream != 0) node.add_ctrl_deps(in_stream);
  if (!op.collective) return;
  const std::uint64_t in_order = last_of_communicator_[op.collective->communicator.position()];
  if (in_order != 0 && in_order != in_stream) node.add_ctrl_deps(in_order);
}

void TraceBuilder::describe_collective(chakra::Node& node, const CollectivePart& part) {
  const Communicator& communicator = schedule_.communicators[part.communicator.position()];
  const int group = communicator.membership(rank_)->group;
  node.set_type(chakra::COMM_COLL_NODE);
  attribute(node, "comm_type").set_int64_val(type_of(part.kind));
  attribute(node, "comm_size").set_int64_val(comm_size(part, ranks_of(part)));
  attribute(node, "pg_name")
      .set_string_val(std::to_string(groups_.number(part.communicator, group)));
  attribute(node, "root").set_int64_val(part.root);
}

// send_recv: every rank sends to the next of its group and receives from the one before.
void TraceBuilder::add_exchange(chakra::Node& send, const CollectivePart& part) {
  const Communicator& communicator = schedule_.communicators[part.communicator.position()];
  const auto here = *communicator.membership(rank_);
  const std::vector<Rank> members = communicator.members(here.group);
  const std::size_t n = members.size(), i = static_cast<std::size_t>(here.index);
  chakra::Node receive = send;
  receive.set_id(next_id_++);
  send.set_type(chakra::COMM_SEND_NODE);
  receive.set_type(chakra::COMM_RECV_NODE);
  for (chakra::Node* node : {&send, &receive})
    attribute(*node, "comm_tag").set_int64_val(static_cast<std::int64_t>(part.communicator.index));
  attribute(send, "comm_dst").set_int64_val(members[(i + 1) % n].index);
  attribute(receive, "comm_src").set_int64_val(members[(i + n - 1) % n].index);
  append_message(file_, receive.SerializeAsString());
}

void TraceBuilder::describe(chakra::Node& node, const Op& op) {
  attribute(node, "is_cpu_op").set_bool_val(false);
  if (op.collective) return describe_collective(node, *op.collective);
  if (op.kernels.empty()) return node.set_type(chakra::METADATA_NODE);
  double flops = 0, bytes = 0;
  for (const Kernel& kernel : op.kernels) {
    flops += flops_of(kernel).value();
    bytes += kernel.hbm.value();
  }
  node.set_type(chakra::COMP_NODE);
  attribute(node, "num_ops").set_int64_val(std::llround(flops));
  attribute(node, "tensor_size").set_uint64_val(static_cast<std::uint64_t>(std::llround(bytes)));
  if (options_.compute_time)
    node.set_duration_micros(
        static_cast<std::uint64_t>(std::llround(options_.compute_time(op).value() * 1e6)));
}

void TraceBuilder::add_op(OpId id, const Json& text, std::size_t position,
                          const std::string& block) {
  const Op& op = schedule_.op(id);
  if (!takes_part(op)) return;
  chakra::Node node;
  node.set_id(next_id_++);
  node.set_name(op.name);
  add_dependencies(node, op);
  describe(node, op);
  attribute(node, "amsp.block").set_string_val(block);
  attribute(node, "amsp.position").set_int64_val(static_cast<std::int64_t>(position));
  Json rest = text;
  if (op.collective && exact_size(*op.collective)) rest["collective"].erase("bytes");
  attribute(node, "amsp.op").set_string_val(rest.dump());
  if (op.collective && op.collective->kind == CollectiveKind::send_recv)
    add_exchange(node, *op.collective);
  append_message(file_, node.SerializeAsString());
  last_of_op_[id.position()] = node.id();
  last_of_stream_[op.stream.position()] = node.id();
  if (op.collective) last_of_communicator_[op.collective->communicator.position()] = node.id();
}

std::string TraceBuilder::build() {
  append_message(file_, metadata());
  for (std::size_t b = 0; b < schedule_.blocks.size(); ++b) {
    const Block& block = schedule_.blocks[b];
    std::vector<Json> rest;  // what Chakra has no field for
    for (const Json& op : json_["blocks"][b]["ops"]) {
      rest.push_back(op);
      rest.back().erase("name");
      rest.back().erase("after");
      if (rest.back().contains("collective"))
        for (const char* key : {"communicator", "root"}) rest.back()["collective"].erase(key);
    }
    for (std::int64_t repetition = 0; repetition < block.repeat; ++repetition)
      for (std::size_t i = 0; i < block.ops.size(); ++i)
        add_op(block.ops[i], rest[i], i, block.name);
  }
  return std::move(file_);
}

}  // namespace

std::string chakra_trace(const Schedule& schedule, Rank rank, const ChakraOptions& options) {
  return TraceBuilder(schedule, rank, options).build();
}

void write_chakra(const Schedule& schedule, std::string_view name,
                  const std::filesystem::path& folder, const ChakraOptions& options) {
  std::vector<Rank> ranks = options.ranks;
  if (ranks.empty())
    for (int i = 0; i < schedule.world; ++i) ranks.emplace_back(i);
  std::int64_t nodes = 0;
  for (const Block& block : schedule.blocks)
    nodes += block.repeat * static_cast<std::int64_t>(block.ops.size());
  if (nodes * static_cast<std::int64_t>(ranks.size()) > options.largest)
    throw InputError(
        fmt::format("the Chakra traces would hold {} nodes for each of {} ranks, more "
                    "than {} in all; write fewer ranks or a shorter step",
                    nodes, ranks.size(), options.largest));
  for (const Rank rank : ranks) {
    if (rank.index < 0 || rank.index >= schedule.world)
      throw InputError(
          fmt::format("rank {} is not in the schedule's world of {}", rank.index, schedule.world));
    write_file(folder / fmt::format("{}.{}.et", name, rank.index),
               chakra_trace(schedule, rank, options));
  }
  const GroupNumbers numbers(schedule.communicators);
  Json groups = Json::object();
  for (std::size_t c = 0; c < schedule.communicators.size(); ++c)
    for (int g = 0; g < schedule.communicators[c].group_count(); ++g) {
      Json& members = groups[std::to_string(numbers.number(CommId(c), g))] = Json::array();
      for (const Rank rank : schedule.communicators[c].members(g)) members.push_back(rank.index);
    }
  write_file(folder / fmt::format("{}.groups.json", name), groups.dump() + "\n");
}

}  // namespace amsp
