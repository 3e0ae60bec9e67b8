// SPDX-License-Identifier: Apache-2.0
// What calibrate does with times in a wrong unit, unknown names, other machines' logs and logs
// given twice: it refuses or says so, and never writes what it could not read back.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>

#include "base/file.hpp"
#include "calibrate/calibrate_files.hpp"
#include "calibrate/collective_calibration.hpp"
#include "calibrate/fit_report.hpp"
#include "calibrate/plausible_times.hpp"
#include "calibrate/repeated_runs.hpp"
#include "calibrate/source_names.hpp"

using namespace amsp;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("amsp-doubt-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name, std::string_view content) const {
    write_file(path_ / name, content);
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

// All-reduces of 16 ranks from 1 KiB to 1 GiB, each time scaled before it is written.
std::string table(const std::string& time_title, double scale, const std::string& kind) {
  std::string text = "collective,gpus,message_bytes," + time_title + "\n";
  for (int power = 10; power <= 30; ++power) {
    const double bytes = std::exp2(power);
    text += fmt::format("{},16,{:.0f},{:.6e}\n", kind, bytes, (20e-6 + bytes / 1e11) * scale);
  }
  return text;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("times in another unit than their title says are refused, with file and line") {
  const Folder folder;
  const auto outcome = [&](const std::string& title, double scale) {
    const std::string file = folder.file("log.csv", table(title, scale, "all_reduce"));
    return message_of([&] { calibrate(read_measurements({file}, "a800-4hdr")); });
  };
  CHECK(outcome("time_s", 1).empty());
  CHECK(outcome("time_us", 1e6).empty());
  const std::string seconds = outcome("time_us", 1);
  CHECK(has(seconds, "log.csv: line 2: "));
  CHECK(has(seconds, "; is the time in s, not us? (1 GiB would then be "));
  CHECK(has(outcome("time_us", 1e3), "; is the time in ms, not us?"));
  CHECK(has(outcome("time_s", 1e6), "; is the time in us, not s?"));
  const std::string tiny =
      folder.file("tiny.csv", "collective,gpus,message_bytes,time_s\nall_reduce,8,1024,1e-12\n");
  CHECK(has(message_of([&] { calibrate(read_measurements({tiny}, "a800-4hdr")); }),
            "tiny.csv: line 2: nothing to fit: 0.001 ns for 1 KiB is shorter"));
}

TEST_CASE("a possible but very slow table is taken with the question about its unit") {
  const Folder folder;
  const std::string file = folder.file("slow.csv", table("time_ms", 1e6, "all_reduce"));
  const Measurements read = read_measurements({file}, "a800-4hdr");
  REQUIRE(read.warnings.size() == 1);
  CHECK(has(read.warnings[0], "slow.csv: line 2: "));
  CHECK(has(read.warnings[0], "far more than is usual: is the time in us, not ms? (1 GiB would"));
}

TEST_CASE("rows above the ports or far below them are taken with the question about their unit") {
  const Folder folder;
  // Two DGX H100 have 400 GB/s of NICs each: half of that, eightfold (Gb/s), and a thousandth.
  const auto warnings = [&](const std::string& title, const std::string& kind, double first,
                            double second) {
    const std::string file = folder.file(
        "w.csv", fmt::format("collective,gpus,message_bytes,{0}\n{1},16,1073741824,{2}\n"
                             "{1},16,4294967296,{3}\n",
                             title, kind, first, second));
    return read_measurements({file}, "dgx-h100").warnings;
  };
  CHECK(warnings("busbw_GBps", "all_reduce", 350, 360).empty());
  CHECK(warnings("busbw_GBps", "all_reduce", 700, 800).empty());  // in-network reduction
  const auto bits = warnings("busbw_GBps", "all_reduce", 800, 2880);
  REQUIRE(bits.size() == 1);
  CHECK(has(bits[0], "w.csv: line 3: all_reduce over 16 ranks"));
  CHECK(has(bits[0], "a bus bandwidth of 2.88 TB/s, 7.2 times the 400 GB/s"));
  CHECK(has(bits[0], "1 of 2 rows"));
  const auto slow = warnings("busbw_GBps", "all_reduce", 0.2, 0.3);
  REQUIRE(slow.size() == 1);
  CHECK(has(slow[0], "w.csv: line 3: "));
  CHECK(has(slow[0], "less than 1/30 of the 400 GB/s"));
  // An all-to-all has an eighth of the NICs for each GPU.
  CHECK(warnings("busbw_GBps", "all_to_all", 10, 10).empty());
  // Latency alone is no wrong unit.
  const std::string small =
      folder.file("s.csv", "collective,gpus,message_bytes,time_us\nall_reduce,16,1024,900\n");
  CHECK(read_measurements({small}, "dgx-h100").warnings.empty());
}

TEST_CASE("a fit that no machine has is refused with the figure, not with the fit's own words") {
  const Folder folder;
  std::string text = "collective,gpus,message_bytes,time_ms\n";
  for (int power = 20; power <= 32; ++power)
    text += fmt::format("all_reduce,16,{:.0f},{:.3f}\n", std::exp2(power),
                        30 + std::exp2(power) * 10.4e-6);
  const std::string file = folder.file("ms.csv", text);
  const std::string message = message_of([&] { calibrate(read_measurements({file}, "dgx-h100")); });
  CHECK(has(message, "ms.csv: "));
  CHECK(has(message, "all_reduce over 16 ranks, 4 GiB in 44.7 s, is a bus bandwidth of"));
  CHECK_FALSE(has(message, "/collectives/"));
}

TEST_CASE("a GPU that is not shipped: the message says what works") {
  MeasuredRun run;
  run.file = "log.txt";
  run.gpu = "NVIDIA GeForce RTX 4070 Ti SUPER";
  const std::string message = message_of([&] { cluster_of_runs({run}); });
  CHECK(has(message, "log.txt: unknown GPU type \"NVIDIA GeForce RTX 4070 Ti SUPER\""));
  CHECK(has(message, "nearest by name: rtx-4090;"));
  CHECK(has(message, "--cluster CLUSTER, its own file or one of a100-4x100g-roce"));
  run.gpu = "AMD Instinct MI300X OAM";
  run.nranks = 8;
  CHECK(cluster_of_runs({run}).node.gpu.name == "AMD Instinct MI300X");
}

TEST_CASE("kernel times beyond the GPU are refused") {
  const GpuSpec gpu = load_cluster("a800-4hdr").node.gpu;
  KernelTime row;
  row.kernel = {KernelClass::gemm, Dtype::bf16, 4096, 4096, 4096, 0, 0, 0, 0, 0, {}, {}};
  // 137 GFLOP at half of 312 TFLOPS take 0.9 ms, at the peak 0.44 ms.
  for (const double fair : {0.45e-3, 0.9e-3, 10e-3}) {
    row.time = Seconds(fair);
    CHECK_FALSE(implausible(row, gpu));
  }
  for (const double wrong : {1e-12, 0.9e-6, 0.3e-3, 900.0}) {
    row.time = Seconds(wrong);
    CHECK(implausible(row, gpu));
  }
}

TEST_CASE("a table of kernels that is wrong as a whole is refused, a slow one is said") {
  const Folder folder;
  const auto kernels = [&](const std::string& name, double scale) {
    std::string text = "kernel,dtype,m,n,k,time_s\n";
    for (const int size : {2048, 4096, 8192}) {
      const double flops = 2.0 * size * size * size;
      text += fmt::format("gemm,bf16,{0},{0},{0},{1:.6e}\n", size, scale * flops / 200e12);
    }
    return folder.file(name, text);
  };
  CHECK(read_measurements({kernels("fair.csv", 1)}, "a800-4hdr").warnings.empty());
  CHECK(has(message_of([&] { (void)read_measurements({kernels("fast.csv", 0.1)}, "a800-4hdr"); }),
            "so are 3 of 3 kernel times"));
  const Measurements slow = read_measurements({kernels("slow.csv", 1000)}, "a800-4hdr");
  REQUIRE(slow.warnings.size() == 1);
  CHECK(has(slow.warnings[0], "is the time in seconds?"));
}

TEST_CASE("an unknown collective is named, with what is accepted and what is near") {
  const Folder folder;
  const std::string file = folder.file("all_gather.csv", table("time_s", 1, "allreduse"));
  const std::string message =
      message_of([&] { calibrate(read_measurements({file}, "a800-4hdr")); });
  CHECK(has(message, "all_gather.csv: line 2: "));
  CHECK(has(message, "unknown collective \"allreduse\"; did you mean \"all_reduce\"?"));
  CHECK(has(message, "send_recv"));
}

TEST_CASE("a log given twice counts once") {
  const Folder folder;
  const std::string text = table("time_s", 1, "all_reduce");
  const std::string first = folder.file("first.csv", text);
  const std::string copy = folder.file("copy.csv", text);
  const std::string quoted = folder.file("quoted.csv", "# from first.csv\n" + text);
  const std::string part =
      folder.file("part.csv", text.substr(0, text.find("all_reduce,16,65536")));
  const std::string other = folder.file("other.csv", table("time_s", 1.07, "all_reduce"));
  const auto rows = [&](const std::vector<std::string>& files, std::size_t warnings) {
    const Measurements read = read_measurements(files, "a800-4hdr");
    CHECK(read.warnings.size() == warnings);
    return read.observations.rows.size();
  };
  CHECK(rows({first}, 0) == 21);
  CHECK(rows({first, first}, 1) == 21);
  CHECK(rows({first, copy}, 1) == 21);
  CHECK(rows({first, quoted}, 1) == 21);
  CHECK(rows({part, first}, 1) == 21);
  CHECK(rows({first, other}, 0) == 42);
}

TEST_CASE("a file name that is not UTF-8 makes a calibration that can be read back") {
  const Folder folder;
  const std::string file = folder.file("bad\xff.csv", table("time_s", 1, "all_reduce"));
  const std::string json = to_json(calibrate(read_measurements({file}, "a800-4hdr")));
  const Calibration read = parse_calibration(JsonValue::parse_text(json, "written"));
  CHECK(read.sources.at(0).file == "bad\xef\xbf\xbd.csv");  // U+FFFD
}

TEST_CASE("two logs of one base name are two logs") {
  const Folder folder;
  const std::string first = folder.file("run1/out.csv", table("time_s", 1, "all_reduce"));
  const std::string second = folder.file("run2/out.csv", table("time_s", 1.5, "all_reduce"));
  const std::string other = folder.file("run2/other.csv", table("time_s", 1.07, "all_reduce"));
  const Measurements read = read_measurements({first, second, other}, "a800-4hdr");
  REQUIRE(read.sources.size() == 3);
  CHECK(read.sources[0].file == "run1/out.csv");
  CHECK(read.sources[1].file == "run2/out.csv");
  CHECK(read.sources[2].file == "other.csv");
  for (const CalibrationSource& source : read.sources) CHECK(source.rows_used == 21);
  // Each keeps its own time of every size: merged by base name they would be one.
  CHECK(calibrate(read).collectives->kinds.at(0).rows.size() == 63);
}

TEST_CASE("files go by the shortest ending that tells them apart") {
  const auto names = source_names({"/a/b/x.txt", "/a/c/x.txt", "x.txt", "d//b/x.txt", "/q/y.txt"});
  CHECK(names.at("/a/b/x.txt") == "a/b/x.txt");
  CHECK(names.at("/a/c/x.txt") == "c/x.txt");
  CHECK(names.at("x.txt") == "x.txt");
  CHECK(names.at("d//b/x.txt") == "d/b/x.txt");
  CHECK(names.at("/q/y.txt") == "y.txt");
}

TEST_CASE("8 ranks on each 16-GPU node are two nodes, 4 on each host of a rack are one") {
  const auto shape_of = [](const char* cluster, int nodes, int per_node) {
    MeasuredRun run;
    run.collective = CollectiveKind::all_reduce;
    run.nranks = nodes * per_node;
    run.nnodes = nodes;
    run.gpus_per_node = per_node;
    MeasuredRow row;
    row.bytes = Bytes(1 << 26);
    row.out_of_place.time = Seconds(2e-3);
    run.rows.push_back(row);
    return observations_of({run}, load_cluster(cluster)).rows.at(0).shape;
  };
  CHECK(shape_of("dgx-2", 2, 8).nodes == 2);
  CHECK(shape_of("dgx-2", 2, 8).ranks_per_node == 8);
  CHECK(shape_of("gb200-nvl72", 4, 4).nodes == 1);
}

TEST_CASE("the cluster that is named is compared with what the log says") {
  const Folder folder;
  const std::string titles = "collective,gpus,nodes,gpu,message_bytes,time_s\n";
  const std::string file =
      folder.file("h100.csv", titles + "all_reduce,4096,512,NVIDIA H100 80GB HBM3,1048576,1e-3\n" +
                                  "all_reduce,4096,512,NVIDIA H100 80GB HBM3,8388608,2e-3\n");
  const auto warnings = read_measurements({file}, "a800-4hdr").warnings;
  REQUIRE(warnings.size() == 2);
  CHECK(has(warnings[0], "measured on NVIDIA H100"));
  CHECK(has(warnings[0], "NVIDIA A800-SXM4-80GB"));
  CHECK(has(warnings[1], "measured on 4096 ranks"));
  const std::string nameless = folder.file("nameless.csv", table("time_s", 1, "all_reduce"));
  CHECK(has(message_of([&] { read_measurements({nameless}, ""); }), "nameless.csv: no GPU"));
}

TEST_CASE("whatever is written can be read back") {
  const Folder folder;
  // Times without any order, over nine decades: either refused, or a calibration that loads.
  for (int seed = 1; seed <= 4; ++seed) {
    std::string text = "collective,gpus,message_bytes,time_s\n";
    unsigned state = static_cast<unsigned>(seed);
    for (int power = 10; power <= 30; ++power) {
      state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
      const double exponent = -7 + 9 * (state / 4294967296.0);
      text +=
          fmt::format("all_reduce,16,{:.0f},{:.3e}\n", std::exp2(power), std::pow(10, exponent));
    }
    const std::string file = folder.file("noise.csv", text);
    try {
      const std::string json = to_json(calibrate(read_measurements({file}, "a800-4hdr")));
      CHECK_NOTHROW(parse_calibration(JsonValue::parse_text(json, "written")));
    } catch (const InputError& error) {
      CHECK(has(error.what(), "noise.csv"));
    }
  }
}

TEST_CASE("points too few for a fit are named; an interval never ends at what was measured") {
  const Folder folder;
  const auto fitted = [&](const std::string& name, const std::string& text) {
    return calibrate(read_measurements({folder.file(name, text)}, "dgx-h100"));
  };
  const std::string one = "collective,gpus,message_bytes,time_s\nall_reduce,8,16777216,4e-4\n";
  const std::string report = fit_report(fitted("one.csv", one), false);
  CHECK(has(report, "too few points (1, a fit needs 4)"));
  CHECK(has(report, " 1 row, error of the fit"));
  CHECK(has(report, "(csv, 1 row)"));
  CHECK_FALSE(has(report, "1 rows"));
  const Calibration whole = fitted("enough.csv", table("time_s", 1, "all_reduce"));
  CHECK_FALSE(has(fit_report(whole, false), "too few"));
  const auto model = calibrated_collective_model(*whole.collectives);
  const CollectiveEstimate largest =
      model->estimate(CollectiveKind::all_reduce, Bytes(std::exp2(30)), Dtype::bf16, {16, 8, 2, 0});
  CHECK(largest.low < largest.time / 1.03);
}
