// SPDX-License-Identifier: Apache-2.0
// amsp import and amsp topology as programs: what they print where, and their exit status.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "base/file.hpp"
#include "topologies/cluster.hpp"

using namespace amsp;
namespace fs = std::filesystem;

namespace {

struct Outcome {
  int status;
  std::string output;  // stdout and stderr together
};

// What becomes of stderr is `errors`: with stdout (default), or to a file.
Outcome run(const std::string& arguments, const std::string& errors = "2>&1") {
  std::FILE* const pipe = ::popen((AMSP_PROGRAM " " + arguments + " " + errors).c_str(), "r");
  Outcome outcome{0, ""};
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.output.append(buffer, n);
  outcome.status = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("amsp-import-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name, std::string_view content) const {
    write_file(path_ / name, content);
    return (path_ / name).string();
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Four GPUs behind a switch, one NIC (invented).
const char* const kMatrix =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV12\tNV12\tNV12\tPXB\t0-31\t0\n"
    "GPU1\tNV12\t X \tNV12\tNV12\tPXB\t0-31\t0\n"
    "GPU2\tNV12\tNV12\t X \tNV12\tNODE\t0-31\t0\n"
    "GPU3\tNV12\tNV12\tNV12\t X \tNODE\t0-31\t0\n"
    "NIC0\tPXB\tPXB\tNODE\tNODE\t X \n";

const char* const kGraph =
    R"(<graphs version="1"><graph id="0" pattern="4" nchannels="1" speedintra="20" speedinter="10"
       typeintra="NVL" typeinter="PXB"><channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/>
       <net dev="0"/></channel></graph></graphs>)";

}  // namespace

TEST_CASE("import writes a cluster that topology describes") {
  const Folder folder;
  const std::string matrix = folder.file("matrix.txt", kMatrix);
  const std::string cluster = folder.at("mine.json");
  const Outcome import = run("import " + matrix + " --nodes 3 --nic-rate 100Gbps -o " + cluster);
  CHECK(import.status == 0);
  CHECK_THAT(import.output, Catch::Contains("assumed: ") && Catch::Contains("a100-sxm4-80gb"));
  const ClusterSpec read = load_cluster(cluster);
  CHECK(read.name == "mine");
  CHECK(read.gpus() == 12);
  CHECK(read.node.nics.front().gpus == std::vector<int>{0, 1, 2, 3});  // the only NIC
  CHECK(read.node.switch_of_slot(1) == read.node.nics.front().pcie_switch);
  CHECK(read.node.switch_of_slot(2) == -1);
  for (const char* format : {"table", "json", "dot"})
    CHECK(run("topology " + cluster + " --format " + format).status == 0);
}

TEST_CASE("import reports graphs, and refuses to make a cluster of them alone") {
  const Folder folder;
  const std::string graph = folder.file("graph.xml", kGraph);
  const std::string matrix = folder.file("matrix.txt", kMatrix);
  const Outcome report = run("import " + graph);
  CHECK(report.status == 0);
  CHECK_THAT(report.output, Catch::Contains("ring") && Catch::Contains("20 GB/s") &&
                                Catch::Contains("net0 gpu0 gpu1 net0"));
  CHECK(run("import " + graph + " -o " + folder.at("no.json")).status == 2);
  CHECK_FALSE(fs::exists(folder.at("no.json")));
  CHECK(run("import " + graph + " " + matrix + " -o " + folder.at("both.json")).status == 0);
}

TEST_CASE("import refuses what is no topology, with exit status 2") {
  const Folder folder;
  CHECK(run("import " + folder.file("empty.txt", "")).status == 2);
  CHECK(run("import " + folder.file("zeros.bin", std::string(1000, '\0'))).status == 2);
  CHECK(run("import " + folder.at("missing.txt")).status == 2);
  const Outcome gpu = run("import " + folder.file("m.txt", kMatrix) + " --gpu a10000");
  CHECK(gpu.status == 2);
  CHECK_THAT(gpu.output, Catch::Contains("unknown GPU type") && Catch::Contains("a100-sxm4-80gb"));
  CHECK(run("topology no-such-cluster").status == 2);
}

TEST_CASE("import refuses matrices of two GPU models by both files' names") {
  const Folder folder;
  std::string other = kMatrix;
  for (std::size_t at = 0; (at = other.find("NV12", at)) != std::string::npos;)
    other.replace(at, 4, "NV2");  // six to three others: a V100's
  const std::string a100 = folder.file("a100.txt", kMatrix), v100 = folder.file("v100.txt", other);
  const Outcome both = run("import " + a100 + " " + v100 + " -o " + folder.at("both.json"));
  CHECK(both.status == 2);
  CHECK_THAT(both.output, Catch::Contains(a100) && Catch::Contains(v100) &&
                              Catch::Contains("12 NVLinks") && Catch::Contains("6 NVLinks"));
  CHECK_FALSE(fs::exists(folder.at("both.json")));
}

TEST_CASE("import: what was given is not assumed, what is not used is said, slips are refused") {
  const Folder folder;
  const std::string matrix = folder.file("matrix.txt", kMatrix);
  const std::string cluster = folder.at("mine.json");
  const Outcome given = run("import " + matrix + " --nic-rate 100Gbps --nics 4 -o " + cluster);
  CHECK(given.status == 0);
  CHECK_THAT(given.output, !Catch::Contains("100 Gb/s"));
  CHECK_THAT(given.output, Catch::Contains("--nics 4 is not used: the files show 1") &&
                               Catch::Contains("amsp: wrote " + cluster));
  CHECK_THAT(read_file(cluster), Catch::Contains("--nic-rate: ") && Catch::Contains("100 Gb/s"));
  for (const char* rate : {"1e300Gbps", "1e308Gbps", "11Tbps", "0Gbps"}) {
    const Outcome slip = run("import " + matrix + " --nic-rate " + rate);
    CHECK(slip.status == 2);
    CHECK_THAT(slip.output, Catch::Contains("--nic-rate") && Catch::Contains(rate));
  }
  std::string text = read_file(cluster);
  const std::string rate = "\"rate\": \"12500000000Bps\"";
  const auto at = text.find(rate);
  REQUIRE(at != std::string::npos);
  const Outcome absurd =
      run("topology " +
          folder.file("absurd.json", text.replace(at, rate.size(), "\"rate\": \"1e6GBps\"")));
  CHECK(absurd.status == 2);
  CHECK_THAT(absurd.output, Catch::Contains("/rate") && Catch::Contains("1e6GBps"));
}

TEST_CASE("import --quiet and calibrate --quiet say nothing but errors") {
  const Folder folder;
  const std::string matrix = folder.file("matrix.txt", kMatrix);
  const std::string log =
      folder.file("log.csv",
                  "collective,gpus,message_bytes,time_s\nall_reduce,16,1048576,1e-4\n"
                  "all_reduce,16,33554432,1e-3\nall_reduce,16,67108864,9e-1\n");
  const std::string clean = folder.at("clean");
  for (const std::string& command :
       {"import -q " + matrix + " " + folder.file("graph.xml", kGraph) + " -o " +
            folder.at("q.json"),
        "calibrate -q " + log + " --cluster a800-4hdr -o " + folder.at("c.json")}) {
    CAPTURE(command);
    const Outcome quiet = run(command, "2>" + clean);
    CHECK(quiet.status == 0);
    CHECK(read_file(clean).empty());
  }
  CHECK(run("import " + matrix + " -o " + folder.at("q.json"), "2>" + clean).status == 0);
  CHECK_THAT(read_file(clean), Catch::Contains("assumed: "));  // without -q it does say so
  CHECK_THAT(run("calibrate " + log + " --cluster a800-4hdr").output, Catch::Contains("warning: "));
  CHECK_THAT(run("import -q " + folder.at("missing.txt")).output, Catch::Contains("missing.txt"));
}

TEST_CASE("a topology file given as a cluster points to import; a trace given to import is named") {
  const Folder folder;
  const std::string matrix = folder.file("matrix.txt", kMatrix);
  const std::string tree =
      folder.file("tree.xml", "<system version=\"1\"><cpu numaid=\"0\"/></system>");
  const std::string graph = folder.file("graph.xml", kGraph);
  for (const std::string& file : {matrix, tree}) {
    const Outcome given = run("topology " + file);
    CHECK(given.status == 2);
    CHECK_THAT(given.output, Catch::Contains("\"amsp import " + file + " -o cluster.json\""));
  }
  CHECK_THAT(run("topology " + graph).output,
             Catch::Contains("NCCL graph XML") && Catch::Contains("lists channels, no devices"));
  const Outcome trace = run("import " + folder.file("t.json", R"({"traceEvents": [{"ph": "X",
      "ts": 0, "dur": 5, "name": "all_reduce", "args": {"busbw": "10 GB/s"}}]})"));
  CHECK(trace.status == 2);
  CHECK_THAT(trace.output, Catch::Contains("Chrome trace") && !Catch::Contains("nccl-tests"));
}

TEST_CASE("-o into a folder that does not exist names it, in every command that writes a file") {
  const Folder folder;
  const std::string matrix = folder.file("matrix.txt", kMatrix);
  const std::string file = folder.at("none/deeper/result");
  for (const std::string& command :
       {"import " + matrix, std::string("init"), std::string("schedule paper-7b-amsp --gpus 8"),
        std::string("plan --model llama-7b --cluster a800-4hdr --gpus 8 --global-batch 8"),
        "calibrate " + matrix, "report " + folder.at(""), std::string("validate --quick"),
        std::string("collective --kind all_reduce --cluster a800-4hdr x.log")}) {
    const Outcome outcome = run(command + " -o " + file);
    CAPTURE(command);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.output, Catch::Contains("there is no folder " + folder.at("none/deeper")));
  }
  CHECK_FALSE(fs::exists(folder.at("none")));
}
