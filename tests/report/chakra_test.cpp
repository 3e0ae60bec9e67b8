// SPDX-License-Identifier: Apache-2.0
// Chakra traces: the round trip, and the bytes against the wire format written out by hand.
#include "report/chakra/chakra.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "report/chakra/stream.hpp"
#include "workloads/generator.hpp"

using namespace amsp;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string name =
        (fs::temp_directory_path() / ("amsp-chakra-" + std::string(6, 'X'))).string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Schedule of_strategy(const std::string& name, Mesh mesh) {
  const ModelShape model = parse_model(
      JsonValue::parse_text(R"({"layers": 2, "hidden": 256, "heads": 4, "intermediate": 512,
                                "vocabulary": 1000})",
                            "tiny"),
      "tiny");
  const Training training = parse_training(
      JsonValue::parse_text(R"({"sequence_length": 128, "micro_batch": 1, "global_batch": )" +
                                std::to_string(3 * mesh.size()) + "}",
                            "training"));
  const Strategy strategy =
      parse_strategy(JsonValue::parse_text("\"" + name + "\"", "strategy"), mesh);
  return generate_schedule(model, training, strategy, mesh);
}

// Roles (an op of one rank only), an exchange, sizes that do not divide, the step before.
const char* const kOdd = R"({
  "name": "odd", "world": 3,
  "streams": [{"name": "c", "compute": true}, {"name": "n", "compute": false}],
  "communicators": [{"name": "all", "axes": [{"size": 3, "member": true}]},
                    {"name": "pair", "groups": [[0, 2]]}],
  "persistent": [],
  "blocks": [
    {"name": "a", "repeat": 2, "ops": [
      {"name": "k", "phase": "forward", "stream": "c", "after": ["last", "g"],
       "kernels": [{"kind": "fixed", "duration": "0.001s", "dtype": "bf16"}]},
      {"name": "only1", "phase": "forward", "stream": "c", "after": ["k"],
       "role": {"communicator": "all", "index": 1},
       "kernels": [{"kind": "elementwise", "hbm": "77B", "dtype": "fp32"}]},
      {"name": "g", "phase": "forward", "stream": "n", "after": ["only1"],
       "collective": {"kind": "all_gather", "communicator": "all", "bytes": "1000B",
                      "dtype": "bf16", "root": 0}}]},
    {"name": "b", "repeat": 1, "ops": [
      {"name": "x", "phase": "update", "stream": "n", "after": ["g", "k"],
       "collective": {"kind": "send_recv", "communicator": "pair", "bytes": "64B",
                      "dtype": "bf16", "root": 0}},
      {"name": "last", "phase": "update", "stream": "n", "after": ["x"]}]}]})";

}  // namespace

TEST_CASE("every strategy's schedule survives the round trip") {
  for (const StrategyPreset* preset : strategy_presets()) {
    const std::string name(preset->name());
    INFO(name);
    const Schedule schedule = of_strategy(name, {4, 2});
    const Folder folder;
    write_chakra(schedule, "tiny", folder.path(), {});
    CHECK(to_json(read_chakra(folder.path())) == to_json(schedule));
  }
}

TEST_CASE("roles, exchanges, odd sizes and earlier steps survive the round trip") {
  const Schedule schedule = parse_schedule(JsonValue::parse_text(kOdd, "odd"));
  const Folder folder;
  write_chakra(schedule, "odd", folder.path(), {});
  CHECK(to_json(read_chakra(folder.path())) == to_json(schedule));
  const auto groups = nlohmann::json::parse(read_file(folder.path() / "odd.groups.json"));
  CHECK(groups == nlohmann::json::parse(R"({"0": [0, 1, 2], "1": [0, 2]})"));
  // Rank 0 alone never runs "only1".
  fs::remove(folder.path() / "odd.1.et");
  CHECK_THROWS_WITH(read_chakra(folder.path()), Catch::Contains("some ranks are missing"));
}

TEST_CASE("protoc reads the file by the published schema's field numbers") {
  if (std::system("command -v protoc >/dev/null 2>&1") != 0) {
    WARN("skipped: protoc is not installed");
    return;
  }
  const Schedule schedule = parse_schedule(JsonValue::parse_text(kOdd, "odd"));
  ChakraOptions options;
  options.compute_time = [](const Op&) { return milliseconds(1); };
  const std::string trace = chakra_trace(schedule, Rank(2), options);
  std::string_view rest = trace;
  std::vector<std::string_view> messages;
  while (const auto message = take_message(rest)) messages.push_back(*message);
  CHECK(rest.empty());
  REQUIRE(messages.size() == 8);  // metadata; k, g, twice; receive, send, last
  const Folder folder;
  write_file(folder.path() / "node", messages[2]);  // "g" of the first repetition
  const std::string command = "protoc --decode_raw <" + (folder.path() / "node").string() + " >" +
                              (folder.path() / "raw").string();
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string raw = read_file(folder.path() / "raw");
  CHECK(raw.rfind("1: 2\n2: \"g\"\n3: 7\n", 0) == 0);                    // id, name, COMM_COLL_NODE
  CHECK(raw.find("1: \"comm_type\"\n  9: 2\n") != std::string::npos);    // ALL_GATHER, int64_val
  CHECK(raw.find("1: \"comm_size\"\n  9: 333\n") != std::string::npos);  // of one rank
  CHECK(raw.find("1: \"pg_name\"\n  29: \"0\"\n") != std::string::npos);
  write_file(folder.path() / "node", messages[1]);  // "k"
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(read_file(folder.path() / "raw").find("7: 1000\n") != std::string::npos);  // microseconds
}

TEST_CASE("what cannot be read or written is refused by name") {
  const Folder folder;
  CHECK_THROWS_WITH(read_chakra(folder.path()), Catch::Contains("no Chakra trace"));
  write_file(folder.path() / "x.0.et", "nonsense");
  CHECK_THROWS_WITH(read_chakra(folder.path()), Catch::Contains("x.0.et"));
  const Schedule schedule = parse_schedule(JsonValue::parse_text(kOdd, "odd"));
  ChakraOptions options;
  options.largest = 10;
  CHECK_THROWS_WITH(write_chakra(schedule, "odd", folder.path(), options),
                    Catch::Contains("more than 10"));
  std::string cut = chakra_trace(schedule, Rank(0), {});
  cut.resize(cut.size() - 3);
  write_file(folder.path() / "x.0.et", cut);
  CHECK_THROWS_WITH(read_chakra(folder.path()), Catch::Contains("cut short"));
}
