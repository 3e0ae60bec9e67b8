// SPDX-License-Identifier: Apache-2.0
// Schedules as text (docs/formats/schedule.md): printing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "workloads/schedule.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

Json print(const Communicator& communicator) {
  Json json{{"name", communicator.name}};
  for (const auto& axis : communicator.axes)
    json["axes"].push_back({{"size", axis.size}, {"member", axis.member}});
  for (const auto& group : communicator.groups) {
    Json ranks = Json::array();
    for (const Rank rank : group) ranks.push_back(rank.index);
    json["groups"].push_back(ranks);
  }
  return json;
}

Json print(const Kernel& kernel) {
  Json json{{"kind", std::string(name_of(kernel.kind))}};
  switch (kernel.kind) {
    case KernelClass::gemm:
      json.update({{"m", kernel.m}, {"n", kernel.n}, {"k", kernel.k}});
      break;
    case KernelClass::attention_forward:
    case KernelClass::attention_backward:
      json.update({{"sequences", kernel.sequences},
                   {"sequence_length", kernel.sequence_length},
                   {"heads", kernel.heads},
                   {"kv_heads", kernel.kv_heads},
                   {"head_dim", kernel.head_dim}});
      break;
    case KernelClass::elementwise:
    case KernelClass::optimizer:
      json["hbm"] = to_text(kernel.hbm);
      break;
    case KernelClass::fixed:
      json["duration"] = to_text(kernel.duration);
      break;
  }
  json["dtype"] = std::string(name_of(kernel.dtype));
  return json;
}

class Printer {
 public:
  explicit Printer(const Schedule& schedule) : schedule_(schedule) {}

  Json print_all() const {
    Json json{{"name", schedule_.name}, {"world", schedule_.world}};
    json["streams"] = Json::array();
    for (const Stream& stream : schedule_.streams)
      json["streams"].push_back({{"name", stream.name}, {"compute", stream.compute}});
    json["communicators"] = Json::array();
    for (const Communicator& communicator : schedule_.communicators)
      json["communicators"].push_back(print(communicator));
    json["persistent"] = Json::array();
    for (const PersistentMemory& memory : schedule_.persistent)
      json["persistent"].push_back({{"component", std::string(name_of(memory.component))},
                                    {"bytes", to_text(memory.bytes)}});
    json["blocks"] = Json::array();
    for (const Block& block : schedule_.blocks) json["blocks"].push_back(print_block(block));
    return json;
  }

 private:
  std::string name(CommId id) const { return schedule_.communicators[id.position()].name; }

  Json print_block(const Block& block) const {
    Json json{{"name", block.name}, {"repeat", block.repeat}, {"ops", Json::array()}};
    for (const OpId id : block.ops) json["ops"].push_back(print_op(schedule_.op(id)));
    return json;
  }

  Json print_op(const Op& op) const {
    Json json{{"name", op.name}, {"phase", std::string(name_of(op.phase))}};
    if (op.layer >= 0) json["layer"] = op.layer;
    if (op.component != StateComponent::none)
      json["component"] = std::string(name_of(op.component));
    json["stream"] = schedule_.streams[op.stream.position()].name;
    for (const OpId after : op.after) json["after"].push_back(schedule_.op(after).name);
    for (const Kernel& kernel : op.kernels) json["kernels"].push_back(print(kernel));
    if (op.collective)
      json["collective"] = {{"kind", std::string(name_of(op.collective->kind))},
                            {"communicator", name(op.collective->communicator)},
                            {"bytes", to_text(op.collective->bytes)},
                            {"dtype", std::string(name_of(op.collective->dtype))},
                            {"root", op.collective->root}};
    if (op.role)
      json["role"] = {{"communicator", name(op.role->communicator)}, {"index", op.role->index}};
    for (const MemoryChange& change : op.memory) {
      const bool allocates = change.delta.value() > 0;
      json["memory"].push_back(
          {{"component", std::string(name_of(change.component))},
           {allocates ? "allocate" : "free", to_text(allocates ? change.delta : -change.delta)},
           {"at", change.at_start ? "start" : "end"}});
    }
    return json;
  }

  const Schedule& schedule_;
};

// Names that are not UTF-8 (of files, say) keep what is.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// One op on a line: long schedules stay readable, and one screen shows a small one.
std::string lines(const Json& json) {
  std::string text = "{\n";
  for (const auto& [key, value] : json.items()) {
    if (!value.is_array()) {
      text += fmt::format("  {}: {},\n", text_of(Json(key)), text_of(value));
      continue;
    }
    text += fmt::format("  {}: [", text_of(Json(key)));
    const char* separator = "\n";
    for (const Json& item : value) {
      text += separator;
      separator = ",\n";
      if (key != "blocks") {
        text += "    " + text_of(item);
        continue;
      }
      text += fmt::format("    {{\"name\": {}, \"repeat\": {}, \"ops\": [", text_of(item["name"]),
                          text_of(item["repeat"]));
      const char* between = "\n";
      for (const Json& op : item["ops"]) {
        text += between + ("      " + text_of(op));
        between = ",\n";
      }
      text += "]}";
    }
    text += key == "blocks" ? "]\n" : "],\n";
  }
  return text + "}\n";
}

}  // namespace

std::string to_json(const Schedule& schedule) { return lines(Printer(schedule).print_all()); }

}  // namespace amsp
