// SPDX-License-Identifier: Apache-2.0
// Schedules as text (docs/formats/schedule.md): reading.
#include <map>

#include "workloads/schedule.hpp"

namespace amsp {
namespace {

constexpr std::int64_t kLargestDimension = std::int64_t{1} << 40;
constexpr std::int64_t kLargestWorld = std::int64_t{1} << 24;

template <class Id>
class Names {
 public:
  explicit Names(std::string_view what) : what_(what) {}
  void add(const std::string& name, Id id, const JsonValue& json) {
    if (!ids_.emplace(name, id).second)
      json.fail("two " + std::string(what_) + "s are named \"" + name + "\"");
  }
  [[nodiscard]] Id find(const JsonValue& json) const {
    const std::string name = json.as_string();
    const auto it = ids_.find(name);
    if (it != ids_.end()) return it->second;
    std::vector<std::string> accepted;
    for (const auto& [known, id] : ids_) accepted.push_back(known);
    json.fail(unknown_name(what_, name, accepted));
  }

 private:
  std::string_view what_;
  std::map<std::string, Id> ids_;
};

int integer(const JsonValue& json, std::int64_t low, std::int64_t high) {
  return static_cast<int>(json.as_integer(low, high));
}

Kernel read_kernel(const JsonValue& json) {
  Kernel kernel;
  kernel.kind = parse_kernel_class(json.at("kind").as_string(), json.at("kind").place());
  if (const auto dtype = json.find("dtype"))
    kernel.dtype = parse_dtype(dtype->as_string(), dtype->place());
  const auto dimension = [&](std::string_view key) {
    return json.at(key).as_integer(1, kLargestDimension);
  };
  switch (kernel.kind) {
    case KernelClass::gemm:
      json.accept_keys({"kind", "dtype", "m", "n", "k"});
      kernel.m = dimension("m");
      kernel.n = dimension("n");
      kernel.k = dimension("k");
      break;
    case KernelClass::attention_forward:
    case KernelClass::attention_backward:
      json.accept_keys(
          {"kind", "dtype", "sequences", "sequence_length", "heads", "kv_heads", "head_dim"});
      kernel.sequences = dimension("sequences");
      kernel.sequence_length = dimension("sequence_length");
      kernel.heads = dimension("heads");
      kernel.kv_heads = dimension("kv_heads");
      kernel.head_dim = dimension("head_dim");
      break;
    case KernelClass::elementwise:
    case KernelClass::optimizer:
      json.accept_keys({"kind", "dtype", "hbm"});
      kernel.hbm = json.at("hbm").as_bytes();
      break;
    case KernelClass::fixed:
      json.accept_keys({"kind", "dtype", "duration"});
      kernel.duration = json.at("duration").as_seconds();
      break;
  }
  return kernel;
}

MemoryChange read_memory(const JsonValue& json) {
  json.accept_keys({"component", "allocate", "free", "at"});
  const auto allocate = json.find("allocate");
  const auto freed = json.find("free");
  if (allocate.has_value() == freed.has_value()) json.fail("needs either \"allocate\" or \"free\"");
  MemoryChange change{};
  change.component = static_cast<MemoryComponent>(
      json.at("component").as_one_of("memory component", memory_component_names()));
  change.delta = allocate ? allocate->as_bytes() : -freed->as_bytes();
  change.at_start = allocate.has_value();
  if (const auto at = json.find("at"))
    change.at_start = at->as_one_of("time", {"start", "end"}) == 0;
  return change;
}

class Reader {
 public:
  explicit Reader(const JsonValue& json) : json_(json) {}

  Schedule read() {
    json_.accept_keys({"name", "world", "streams", "communicators", "persistent", "blocks"});
    schedule_.name = json_.at("name").as_string();
    schedule_.world = integer(json_.at("world"), 1, kLargestWorld);
    for (const JsonValue& stream : json_.at("streams").items()) read_stream(stream);
    if (const auto communicators = json_.find("communicators"))
      for (const JsonValue& communicator : communicators->items()) read_communicator(communicator);
    if (const auto persistent = json_.find("persistent"))
      for (const JsonValue& memory : persistent->items()) read_persistent(memory);
    for (const JsonValue& block : json_.at("blocks").items()) read_block(block);
    read_dependencies();
    check_schedule(schedule_, json_.place());
    return std::move(schedule_);
  }

 private:
  void read_stream(const JsonValue& json) {
    json.accept_keys({"name", "compute"});
    Stream stream{json.at("name").as_string(), false};
    if (const auto compute = json.find("compute")) stream.compute = compute->as_bool();
    streams_.add(stream.name, StreamId(schedule_.streams.size()), json);
    schedule_.streams.push_back(std::move(stream));
  }

  void read_communicator(const JsonValue& json) {
    json.accept_keys({"name", "axes", "groups"});
    Communicator communicator;
    communicator.name = json.at("name").as_string();
    if (const auto axes = json.find("axes"))
      for (const JsonValue& axis : axes->items()) {
        axis.accept_keys({"size", "member"});
        communicator.axes.push_back(
            {integer(axis.at("size"), 1, kLargestWorld), axis.at("member").as_bool()});
      }
    if (const auto groups = json.find("groups"))
      for (const JsonValue& group : groups->items()) {
        auto& ranks = communicator.groups.emplace_back();
        for (const JsonValue& rank : group.items())
          ranks.emplace_back(integer(rank, 0, kLargestWorld));
      }
    communicators_.add(communicator.name, CommId(schedule_.communicators.size()), json);
    schedule_.communicators.push_back(std::move(communicator));
  }

  void read_persistent(const JsonValue& json) {
    json.accept_keys({"component", "bytes"});
    schedule_.persistent.push_back(
        {static_cast<MemoryComponent>(
             json.at("component").as_one_of("memory component", memory_component_names())),
         json.at("bytes").as_bytes()});
  }

  void read_block(const JsonValue& json) {
    json.accept_keys({"name", "repeat", "ops"});
    Block block{json.at("name").as_string(), 1, {}};
    if (const auto repeat = json.find("repeat"))
      block.repeat = repeat->as_integer(1, std::int64_t{1} << 31);
    for (const JsonValue& op : json.at("ops").items()) {
      const OpId id(schedule_.ops.size());
      block.ops.push_back(id);
      schedule_.ops.push_back(read_op(op));
      ops_.add(schedule_.ops.back().name, id, op);
      op_json_.push_back(op);
    }
    schedule_.blocks.push_back(std::move(block));
  }

  Op read_op(const JsonValue& json) {
    json.accept_keys({"name", "phase", "layer", "component", "stream", "after", "kernels",
                      "collective", "role", "memory"});
    Op op;
    op.name = json.at("name").as_string();
    if (const auto phase = json.find("phase"))
      op.phase = static_cast<Phase>(phase->as_one_of("phase", phase_names()));
    if (const auto layer = json.find("layer")) op.layer = integer(*layer, 0, 1 << 20);
    if (const auto component = json.find("component"))
      op.component =
          static_cast<StateComponent>(component->as_one_of("component", state_component_names()));
    op.stream = streams_.find(json.at("stream"));
    if (const auto kernels = json.find("kernels"))
      for (const JsonValue& kernel : kernels->items()) op.kernels.push_back(read_kernel(kernel));
    if (const auto collective = json.find("collective")) op.collective = read_part(*collective);
    if (const auto role = json.find("role")) {
      role->accept_keys({"communicator", "index"});
      op.role = Role{communicators_.find(role->at("communicator")),
                     integer(role->at("index"), 0, kLargestWorld)};
    }
    if (const auto memory = json.find("memory"))
      for (const JsonValue& change : memory->items()) op.memory.push_back(read_memory(change));
    return op;
  }

  CollectivePart read_part(const JsonValue& json) const {
    json.accept_keys({"kind", "communicator", "bytes", "dtype", "root"});
    CollectivePart part;
    part.kind = parse_collective_kind(json.at("kind").as_string(), json.at("kind").place());
    part.communicator = communicators_.find(json.at("communicator"));
    part.bytes = json.at("bytes").as_bytes();
    if (const auto dtype = json.find("dtype"))
      part.dtype = parse_dtype(dtype->as_string(), dtype->place());
    if (const auto root = json.find("root")) part.root = integer(*root, 0, kLargestWorld);
    return part;
  }

  // Last, since an op may depend on one that stands later (its previous instance).
  void read_dependencies() {
    for (std::size_t i = 0; i < op_json_.size(); ++i)
      if (const auto after = op_json_[i].find("after"))
        for (const JsonValue& name : after->items())
          schedule_.ops[i].after.push_back(ops_.find(name));
  }

  const JsonValue& json_;
  Schedule schedule_;
  std::vector<JsonValue> op_json_;
  Names<StreamId> streams_{"stream"};
  Names<CommId> communicators_{"communicator"};
  Names<OpId> ops_{"op"};
};

}  // namespace

Schedule parse_schedule(const JsonValue& json) { return Reader(json).read(); }

Schedule load_schedule(const std::filesystem::path& file) {
  return parse_schedule(JsonValue::parse_file(file));
}

}  // namespace amsp
