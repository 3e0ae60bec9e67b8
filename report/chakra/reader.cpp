// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/units_text.hpp"
#include "et_def.pb.h"
#include "report/chakra/chakra.hpp"
#include "report/chakra/groups.hpp"
#include "report/chakra/stream.hpp"

namespace amsp {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// The files in the order of their ranks: NAME.RANK.et.
std::vector<fs::path> trace_files(const fs::path& folder) {
  std::vector<std::pair<long, fs::path>> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".et")
      files.emplace_back(
          std::strtol(entry.path().stem().extension().string().substr(1).c_str(), nullptr, 10),
          entry.path());
  if (files.empty())
    throw InputError({folder.string(), ""}, "holds no Chakra trace (no NAME.RANK.et file)");
  std::sort(files.begin(), files.end());
  std::vector<fs::path> result;
  for (auto& [rank, file] : files) result.push_back(std::move(file));
  return result;
}

const chakra::AttributeProto* find(const chakra::Node& node, std::string_view name) {
  for (const chakra::AttributeProto& attribute : node.attr())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

class Reader {
 public:
  Schedule read(const fs::path& folder);

 private:
  void read_file_of_rank(const fs::path& file);
  void read_frame(const chakra::GlobalMetadata& metadata);
  void read_node(const chakra::Node& node);
  [[nodiscard]] Json op_of(const chakra::Node& node) const;
  void complete_collective(Json& op, const chakra::Node& node) const;
  [[nodiscard]] Json dependencies(const chakra::Node& node) const;
  [[nodiscard]] bool complete() const;
  [[nodiscard]] Json& block_of(const std::string& name);
  [[noreturn]] void fail(const chakra::Node& node, std::string_view what) const {
    throw InputError({file_, fmt::format("node {} (\"{}\")", node.id(), node.name())}, what);
  }
  [[nodiscard]] const chakra::AttributeProto& need(const chakra::Node& node,
                                                   std::string_view name) const {
    const auto* found = find(node, name);
    if (found == nullptr)
      fail(node, fmt::format("has no attribute \"{}\"; only traces that amsp wrote can be read "
                             "back as a schedule",
                             name));
    return *found;
  }

  std::string file_;
  Json frame_;                                  // the schedule; ops are null until they are known
  std::vector<Communicator> communicators_;     // of the frame
  std::map<std::uint64_t, std::string> names_;  // node id: op, of the file being read
};

// The schedule without its ops is itself a schedule file, once it has one op.
void Reader::read_frame(const chakra::GlobalMetadata& metadata) {
  for (const chakra::AttributeProto& attribute : metadata.attr()) {
    if (attribute.name() != "amsp.frame") continue;
    Json frame = Json::parse(attribute.string_val(), nullptr, false);
    if (frame.is_discarded() || !frame.contains("blocks")) break;
    if (!frame_.is_null()) return;  // the same in every file
    Json empty = frame;
    empty["blocks"] = Json::array();
    const Json marker{
        {"name", "frame"}, {"phase", "forward"}, {"stream", frame["streams"][0]["name"]}};
    empty["blocks"].push_back({{"name", "frame"}, {"repeat", 1}, {"ops", Json::array({marker})}});
    communicators_ = parse_schedule(JsonValue::parse_text(empty.dump(), file_)).communicators;
    for (Json& block : frame["blocks"])
      block["ops"] = Json(block["ops"].get<std::size_t>(), Json());
    frame_ = std::move(frame);
    return;
  }
  throw InputError({file_, "metadata"},
                   "has no attribute \"amsp.frame\"; only traces that amsp wrote can be read back "
                   "as a schedule");
}

Json& Reader::block_of(const std::string& name) {
  for (Json& block : frame_["blocks"])
    if (block["name"] == name) return block;
  throw InputError({file_, ""}, fmt::format("unknown block \"{}\"", name));
}

void Reader::complete_collective(Json& op, const chakra::Node& node) const {
  if (node.type() == chakra::COMP_NODE || node.type() == chakra::METADATA_NODE) return;
  Json& part = op["collective"];
  const int group = std::atoi(need(node, "pg_name").string_val().c_str());
  const GroupNumbers numbers(communicators_);
  if (group < 0 || group >= numbers.count()) fail(node, fmt::format("unknown group {}", group));
  const CommId id = numbers.family(group);
  const Communicator& communicator = communicators_[id.position()];
  const auto ranks = static_cast<int>(communicator.members(group - numbers.number(id, 0)).size());
  const CollectiveKind kind = parse_collective_kind(part.at("kind").get<std::string>());
  const auto size = static_cast<double>(need(node, "comm_size").int64_val());
  part["communicator"] = communicator.name;
  if (!part.contains("bytes")) part["bytes"] = to_text(whole_buffer(kind, Bytes(size), ranks));
  part["root"] = need(node, "root").int64_val();
}

Json Reader::dependencies(const chakra::Node& node) const {
  Json names = Json::array();
  for (const std::uint64_t id : node.data_deps()) {
    const auto found = names_.find(id);
    if (found == names_.end()) fail(node, fmt::format("depends on the unknown node {}", id));
    names.push_back(found->second);
  }
  if (const auto* before = find(node, "amsp.before_step"))
    for (const std::string& entry : before->string_list().values()) {
      const std::size_t colon = entry.find(':');
      const auto place = static_cast<std::ptrdiff_t>(std::atoi(entry.c_str()));
      if (colon == std::string::npos || place > static_cast<std::ptrdiff_t>(names.size()))
        fail(node, fmt::format("bad entry \"{}\" of amsp.before_step", entry));
      names.insert(names.begin() + place, entry.substr(colon + 1));
    }
  return names;
}

Json Reader::op_of(const chakra::Node& node) const {
  const Json rest = Json::parse(need(node, "amsp.op").string_val(), nullptr, false);
  if (!rest.is_object()) fail(node, "attribute \"amsp.op\" is not a JSON object");
  Json op{{"name", node.name()}};
  op.update(rest);
  if (const Json after = dependencies(node); !after.empty()) op["after"] = after;
  complete_collective(op, node);
  return op;
}

void Reader::read_node(const chakra::Node& node) {
  names_[node.id()] = node.name();
  if (node.type() == chakra::COMM_RECV_NODE) return;  // the other half of a send
  Json& ops = block_of(need(node, "amsp.block").string_val())["ops"];
  const std::int64_t position = need(node, "amsp.position").int64_val();
  if (position < 0 || position >= static_cast<std::int64_t>(ops.size()))
    fail(node, fmt::format("its position {} is not in its block of {}", position, ops.size()));
  // The last repetition wins: it sees the most dependencies that lie inside the step.
  ops[static_cast<std::size_t>(position)] = op_of(node);
}

bool Reader::complete() const {
  for (const Json& block : frame_["blocks"])
    for (const Json& op : block["ops"])
      if (op.is_null()) return false;
  return true;
}

void Reader::read_file_of_rank(const fs::path& file) {
  file_ = file.string();
  names_.clear();
  const std::string content = read_file(file);
  std::string_view rest = content;
  chakra::GlobalMetadata metadata;
  const auto first = take_message(rest);
  if (!first || !metadata.ParseFromArray(first->data(), static_cast<int>(first->size())))
    throw InputError({file_, ""}, "is not a Chakra execution trace");
  read_frame(metadata);
  chakra::Node node;
  while (const auto message = take_message(rest)) {
    if (!node.ParseFromArray(message->data(), static_cast<int>(message->size())))
      throw InputError({file_, fmt::format("byte {}", content.size() - rest.size())},
                       "is not a Chakra node");
    read_node(node);
  }
  if (!rest.empty())
    throw InputError({file_, fmt::format("byte {}", content.size() - rest.size())},
                     "the file is cut short");
}

Schedule Reader::read(const fs::path& folder) {
  for (const fs::path& file : trace_files(folder)) {
    read_file_of_rank(file);
    if (complete()) break;
  }
  for (const Json& block : frame_["blocks"])
    for (const Json& op : block["ops"])
      if (op.is_null())
        throw InputError({folder.string(), ""},
                         fmt::format("block \"{}\" has ops that no trace here runs; the traces of "
                                     "some ranks are missing",
                                     block["name"].get<std::string>()));
  return parse_schedule(JsonValue::parse_text(frame_.dump(), folder.string()));
}

}  // namespace

Schedule read_chakra(const fs::path& folder) { return Reader().read(folder); }

}  // namespace amsp
