// Runs the program as a user does: exit statuses, what goes where, same bytes twice.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.hpp"
#include "base/json_value.hpp"
#include "program.hpp"

using namespace amsp;
using Catch::Contains;
using program::amsp_run;
using program::Folder;
using program::Outcome;
namespace fs = std::filesystem;

namespace {

const std::string& kSmall = program::small_step;

}  // namespace

TEST_CASE("simulate prints one JSON object a run with the promised fields") {
  const Outcome run = amsp_run("simulate " + kSmall + "--format json");
  REQUIRE(run.status == 0);
  const JsonValue json = JsonValue::parse_text(run.out, "stdout");
  CHECK(json.at("gpus").as_integer(0, 99) == 16);
  CHECK(json.at("micro_batches").as_integer(0, 99) == 1);
  CHECK(json.at("step_time_s").as_number(0.01, 10) > 0);
  const double tokens = 16.0 * 1024 / 16;
  CHECK(json.at("tgs").as_number(0, 1e6) ==
        Approx(tokens / json.at("step_time_s").as_number(0, 10)));
  CHECK(json.at("mfu").as_number(0, 1) > 0.05);
  CHECK(json.at("peak_memory_bytes").as_number(1e9, 1e11) > 0);
  CHECK(json.at("fits").as_bool());
  double sum = 0;
  double total = 0;
  for (const auto& [kind, time] : json.at("exposed_communication_s").members())
    (kind == "total" ? total : sum) += time.as_number(0, 10);
  CHECK(sum == Approx(total));
  CHECK(json.at("strategy").at("optimizer").as_string() == "8x1");
  CHECK(json.at("manifest").at("inputs").items().size() >= 3);
}

TEST_CASE("the same command twice writes the same bytes") {
  const Folder folder;
  for (const char* name : {"a", "b"})
    REQUIRE(amsp_run("simulate " + kSmall + "-o " + (folder.path / name).string()).status == 0);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path / "a")) {
    INFO(entry.path());
    CHECK(read_file(entry.path()) == read_file(folder.path / "b" / entry.path().filename()));
    ++files;
  }
  CHECK(files >= 3);
}

TEST_CASE("the engines agree on the step") {
  const auto step = [](const std::string& engine) {
    const Outcome run = amsp_run("simulate " + kSmall + "--format json " + engine);
    INFO(run.err);
    REQUIRE(run.status == 0);
    return JsonValue::parse_text(run.out, "stdout").at("step_time_s").as_number(0, 100);
  };
  const double folded = step("");
  CHECK(step("--unfolded") == Approx(folded).epsilon(1e-9));
  CHECK(step("--engine simgrid") == Approx(folded).epsilon(2e-2));
}

TEST_CASE("a schedule file replays to the step that simulate reports") {
  const Folder folder;
  const std::string file = (folder.path / "s.json").string();
  REQUIRE(amsp_run("schedule " + kSmall + "-o " + file).status == 0);
  const Outcome replayed =
      amsp_run("replay " + file + " --cluster a800-4hdr --calibration a800-4hdr --format json");
  INFO(replayed.err);
  REQUIRE(replayed.status == 0);
  const Outcome simulated = amsp_run("simulate " + kSmall + "--format json");
  CHECK(JsonValue::parse_text(replayed.out, "r").at("step_time_s").as_number(0, 100) ==
        Approx(JsonValue::parse_text(simulated.out, "s").at("step_time_s").as_number(0, 100))
            .epsilon(1e-12));
}

TEST_CASE("bad input exits 2 with one message that names place and nearest name") {
  const auto refused = [](const std::string& arguments, const std::string& text) {
    const Outcome run = amsp_run(arguments);
    INFO(arguments << "\nstderr: " << run.err);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Contains(text));
    CHECK(run.err.rfind("amsp: ", 0) == 0);
  };
  refused("simulate paper-7b-amps", "did you mean \"paper-7b-amsp\"?");
  refused("simulat paper-7b-amsp", "did you mean \"simulate\"?");
  refused("simulate paper-7b-amsp --gpu 8", "did you mean \"--gpus\"?");
  refused("simulate paper-7b-amsp --gpus 12", "12 GPUs do not fill whole nodes of 8");
  refused("simulate paper-7b-amsp --gpus 0", "--gpus");
  refused("simulate paper-7b-amsp --gpus many", "--gpus");
  refused("simulate paper-7b-amsp --set strategy=zero9", "did you mean \"zero");
  refused("simulate paper-7b-amsp --set training.memory_reserve=2", "unit");
  refused("simulate paper-7b-amsp --set strategy.optimizer=3x1", "3");
  refused("simulate paper-7b-amsp --set model=llama-8b", "llama");
  refused("simulate /nonexistent/x.json", "no such scenario file");
  refused("simulate paper-7b-amsp --messages", "--engine simgrid");
  refused("replay /dev/null --cluster a800-4hdr", "/dev/null");
  refused("list planets", "accepted: clusters");
}

TEST_CASE("nothing is written when the input is bad") {
  const Folder folder;
  const fs::path out = folder.path / "out";
  CHECK(amsp_run("simulate paper-7b-amsp --set gpus=[8,12] -o " + out.string()).status == 2);
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("a Hugging Face config with grouped-query attention is taken as it is") {
  const Folder folder;
  const fs::path config = folder.path / "config.json";
  std::ofstream(config) << R"({"architectures": ["MistralForCausalLM"], "model_type": "mistral",
    "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
    "num_hidden_layers": 2, "num_key_value_heads": 8, "vocab_size": 256000,
    "tie_word_embeddings": false, "rms_norm_eps": 1e-05, "torch_dtype": "bfloat16",
    "transformers_version": "4.34.0", "sliding_window": 4096})";
  const Outcome run =
      amsp_run("simulate " + kSmall + "--set model=" + config.string() + " --format json");
  INFO(run.err);
  CHECK(run.status == 0);
  std::ofstream(config) << R"({"model_type": "mixtral", "hidden_size": 4096,
    "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 2,
    "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8})";
  const Outcome moe = amsp_run("simulate " + kSmall + "--set model=" + config.string());
  CHECK(moe.status == 2);
  CHECK_THAT(moe.err, Contains("expert"));
}

TEST_CASE("every list has entries, and help exits 0") {
  for (const char* what : {"clusters", "models", "strategies", "scenarios", "collectives"}) {
    const Outcome run = amsp_run(std::string("list ") + what);
    CHECK(run.status == 0);
    CHECK(std::count(run.out.begin(), run.out.end(), '\n') > 3);
  }
  for (const char* command :
       {"", "simulate", "schedule", "replay", "reproduce", "plan", "sweep", "list"})
    CHECK(amsp_run(std::string(command) + " --help").status == 0);
  CHECK_THAT(amsp_run("--version").out, Contains("amsp 0."));
}

TEST_CASE("an interrupted sweep resumes, and its parts merge to the same bytes") {
  const Folder folder;
  const std::string sweep = "sweep " + kSmall.substr(0, kSmall.find(' ')) +
                            " --over gpus=8,16 --over strategy=zero1,zero3 "
                            "--set training.global_batch=16 --set training.sequence_length=512 ";
  const std::string whole = (folder.path / "whole").string();
  const std::string parts = (folder.path / "parts").string();
  REQUIRE(amsp_run(sweep + "-o " + whole).status == 0);
  REQUIRE(amsp_run(sweep + "--shard 1/2 -o " + parts).status == 0);
  CHECK_FALSE(fs::exists(parts + "/results.json"));
  REQUIRE(amsp_run(sweep + "--shard 0/2 -o " + parts).status == 0);
  CHECK(read_file(parts + "/results.json") == read_file(whole + "/results.json"));
  CHECK(read_file(parts + "/results.csv") == read_file(whole + "/results.csv"));
  CHECK(read_file(parts + "/trace.json") == read_file(whole + "/trace.json"));
}
