// What amsp init writes runs; what cannot run is not written.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"

using namespace amsp;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Outcome {
  int status;
  std::string err;
};

struct Folder {
  fs::path path = fs::temp_directory_path() / ("amsp-init-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }

  Outcome amsp(const std::string& arguments) const {
    const std::string command =
        std::string(AMSP_PROGRAM) + " " + arguments + " >/dev/null 2>" + (path / "errors").string();
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), read_file(path / "errors")};
  }
};

}  // namespace

TEST_CASE("init: what it writes, simulate takes") {
  const Folder folder;
  const auto models = data_names("workloads/models");
  const std::vector<std::string> strategies{"amsp",  "ddp",   "fsdp",  "hsdp",  "mics",
                                            "zero1", "zero2", "zero3", "zeropp"};
  // Every cluster and every strategy, each with another model, on one node and on all of it.
  std::size_t at = 0;
  for (const std::string& cluster : data_names("topologies"))
    for (const char* gpus : {"--gpus 8", ""}) {
      const std::string& model = models[(5 * at) % models.size()];
      const std::string& strategy = strategies[at++ % strategies.size()];
      const std::string file = (folder.path / ("s" + std::to_string(at) + ".json")).string();
      INFO(model << " on " << cluster << " " << gpus << " with " << strategy);
      const Outcome made = folder.amsp("init --model " + model + " --cluster " + cluster + " " +
                                       gpus + " --strategy " + strategy + " -o " + file);
      INFO(made.err);
      REQUIRE(made.status == 0);
      const Outcome run = folder.amsp("simulate " + file);
      INFO(run.err);
      CHECK(run.status == 0);
    }
}

TEST_CASE("init: what cannot run is refused with the reason and not written") {
  const Folder folder;
  const std::string file = (folder.path / "none.json").string();
  const auto refused = [&](const std::string& arguments) {
    const Outcome made = folder.amsp("init " + arguments + " -o " + file);
    CHECK(made.status == 2);
    CHECK_FALSE(fs::exists(file));
    return made.err;
  };
  CHECK_THAT(refused("--strategy zero4"), Contains("zero4") && Contains("zero3"));
  CHECK_THAT(refused("--gpus 12"),
             Contains("12 GPUs do not fill whole nodes of 8") && Contains("8 and 16"));
  CHECK_THAT(refused("--model lama-7b"), Contains("llama-7b"));
  CHECK_THAT(refused("--cluster dgx-a10"), Contains("dgx-a100"));
}
