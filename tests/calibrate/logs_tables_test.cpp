// SPDX-License-Identifier: Apache-2.0
// CSV, TSV, Markdown and JSON tables, files that are no logs, and the round trips.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"
#include "calibrate/logs/table_cells.hpp"
#include "calibrate/logs/write_runs.hpp"

using namespace amsp;

namespace {

std::string error_of(const std::string& content) {
  try {
    read_log_text(content, "file");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

double us(const MeasuredTiming& timing) { return timing.time.value().value() * 1e6; }

}  // namespace

TEST_CASE("CSV of collective, gpus, message_bytes, time_s") {
  const auto runs = read_log_text(
      "collective,gpus,message_bytes,time_s\n"
      "all_gather,2,1048576,3.5e-05\nall_gather,2,4194304,5.4e-05\n"
      "all_gather,4,1048576,4.5e-05\nall_reduce,2,1048576,6.0e-05\n",
      "a.csv");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].collective == CollectiveKind::all_gather);
  CHECK(runs[0].nranks == 2);
  REQUIRE(runs[0].rows.size() == 2);
  CHECK(runs[0].rows[1].bytes == Bytes(4194304));
  CHECK(us(runs[0].rows[1].out_of_place) == Approx(54));
  CHECK(runs[0].rows[1].line == 3);
  CHECK(runs[2].collective == CollectiveKind::all_reduce);
}

TEST_CASE("CSV of bus bandwidth in Gbit/s by NICs per node; KB are 1024 B") {
  const auto runs = read_log_text(
      "collective,gpus,hdr_nics_per_node,message_KB,busbw_Gbps\n"
      "all_reduce,64,1,512,16\nall_reduce,64,1,1024,32\nall_reduce,64,4,512,40\n",
      "b.csv");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].nics_per_node == 1);
  CHECK(runs[1].nics_per_node == 4);
  const MeasuredRow& row = runs[0].rows[0];
  CHECK(row.bytes == Bytes(524288));
  CHECK(row.out_of_place.busbw->value() == Approx(2e9));
  CHECK(row.out_of_place.time_derived);
  CHECK(us(row.out_of_place) == Approx(524288 / 2e9 * 2 * 63 / 64 * 1e6));
}

TEST_CASE("CSV with other titles, units and separators") {
  CHECK(us(read_log_text("kind;ranks;size (MiB);latency (ms)\nbroadcast;8;2;0.5\n", "c")
               .at(0)
               .rows.at(0)
               .out_of_place) == Approx(500));
  const auto two = read_log_text(
      "size,count,type,redop,root,oop_time_us,oop_algbw,oop_busbw,ip_time_us,ip_algbw,ip_busbw\n"
      "1048576,262144,float,sum,-1,50,20.97,36.70,49,21.40,37.45\n"
      "2097152,524288,float,sum,-1,90,23.30,40.78,88,23.83,41.70\n",
      "d.csv");
  REQUIRE(two.size() == 1);
  CHECK(two[0].collective == CollectiveKind::all_reduce);
  CHECK(two[0].nranks == 8);
  CHECK(us(two[0].rows[1].in_place) == Approx(88));
  CHECK(has(error_of("collective,gpus,bytes,time\nall_reduce,8,1024,3\n"), "has no unit"));
  const auto quoted = read_log_text(
      "\"collective\",\"gpus\",\"bytes\",\"time_us\"\n\"all_reduce\",\"8\",\"1,048,576\",\"50\"\n",
      "e");
  CHECK(quoted.at(0).rows.at(0).bytes == Bytes(1048576));
}

TEST_CASE("CSV cells that cannot be read are refused by line") {
  const auto runs = read_log_text(
      "collective,gpus,message_bytes,time_s\nall_reduce,8,1024,0.001\nall_reduce,8,oops,0.001\n"
      "all_reduce,many,1024,0.001\nall_reduce,8,2048,\nall_reduce,8\n",
      "f.csv");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].rows.size() == 1);
  REQUIRE(runs[0].refused.size() == 4);
  CHECK(runs[0].refused[0].line == 3);
  CHECK(runs[0].refused[1].reason == "\"many\" is not a number of gpus");
  CHECK(runs[0].refused[3].reason == "2 cells where the table has 4 columns");
}

TEST_CASE("the CSV that is written is read back") {
  const auto runs =
      read_logs(std::string(AMSP_TEST_FOLDER) + "/calibrate/fixtures/two-commands.txt");
  const auto again = read_log_text(runs_to_csv(runs), "again.csv");
  REQUIRE(again.size() == runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(again[i].collective == runs[i].collective);
    CHECK(again[i].nranks == runs[i].nranks);
    REQUIRE(again[i].rows.size() == runs[i].rows.size());
    for (std::size_t j = 0; j < runs[i].rows.size(); ++j) {
      CHECK(again[i].rows[j].bytes == runs[i].rows[j].bytes);
      CHECK(us(again[i].rows[j].out_of_place) == Approx(us(runs[i].rows[j].out_of_place)));
      CHECK(us(again[i].rows[j].in_place) == Approx(us(runs[i].rows[j].in_place)));
    }
  }
}

TEST_CASE("sizes with suffixes") {
  CHECK(parse_size_cell("8") == Bytes(8));
  CHECK(parse_size_cell("1K") == Bytes(1024));
  CHECK(parse_size_cell("**64M**") == Bytes(67108864));
  CHECK(parse_size_cell("16 KiB") == Bytes(16384));
  CHECK(parse_size_cell("262KB") == Bytes(262144));
  CHECK(parse_size_cell("1.5G") == Bytes(1610612736));
  CHECK_FALSE(parse_size_cell("-").has_value());
  CHECK_FALSE(parse_size_cell("12%").has_value());
  CHECK_FALSE(parse_size_cell("fast").has_value());
}

TEST_CASE("Markdown and ASCII tables with a record a row") {
  const auto runs = read_log_text(
      "# all_reduce on 8x H100, single node\n\n"
      "| Message size | Time (\xc2\xb5s) | AlgBW (GB/s) | Bus bandwidth (GB/s) |\n"
      "|---:|---:|---:|---:|\n| 1 MiB | 50.0 \xc2\xb1 0.3 | 20.97 | 36.70 |\n"
      "| **2M** | 90 us | 23.30 | 40.78 |\n| 4M | - | - | - |\n",
      "x.md");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].nranks == 8);
  CHECK(runs[0].collective == CollectiveKind::all_reduce);
  REQUIRE(runs[0].rows.size() == 2);
  CHECK(us(runs[0].rows[0].out_of_place) == Approx(50));
  CHECK(us(runs[0].rows[1].out_of_place) == Approx(90));
  CHECK(runs[0].refused.size() == 1);
  const auto drawn = read_log_text(
      "allgather, 8 ranks\n+---------+-----------+--------------+\n"
      "|    Size | Time (us) | AlgBW (GB/s) |\n+---------+-----------+--------------+\n"
      "| 1.0 MiB |     20.00 |        52.43 |\n| 2.0 MiB |     30.00 |        69.91 |\n"
      "+---------+-----------+--------------+\n",
      "y.txt");
  REQUIRE(drawn.size() == 1);
  CHECK(drawn[0].collective == CollectiveKind::all_gather);
  REQUIRE(drawn[0].rows.size() == 2);
  CHECK(drawn[0].rows[1].bytes == Bytes(2097152));
  CHECK(us(drawn[0].rows[1].out_of_place) == Approx(30));
}

TEST_CASE("JSON of nccl-tests that was cut short keeps its complete results") {
  const std::string start = R"({"version":3,"args":["broadcast_perf"],"nccl_version":22304,)"
                            R"("config":{"ngpus":8,"nthreads":1},"results":[)";
  const std::string row =
      R"({"size":1048576,"count":262144,"type":"float","redop":"none","root":"     0",)"
      R"("out_of_place":{"time":50.0,"alg_bw":20.97152,"bus_bw":20.97152,"nwrong":"nan"},)"
      R"("in_place":{"time":51.0,"alg_bw":20.560314,"bus_bw":20.560314,"nwrong":null}})";
  const auto runs = read_log_text(start + row + "," + row.substr(0, 70), "x.json");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].rows.size() == 1);
  CHECK(runs[0].collective == CollectiveKind::broadcast);
  CHECK(runs[0].nranks == 8);
  CHECK(runs[0].nccl_version == "2.23.4");
  CHECK_FALSE(runs[0].rows[0].in_place.wrong.has_value());
}

TEST_CASE("files that are no measurement logs are named as what they are") {
  CHECK(has(error_of(""), "is empty"));
  CHECK(has(error_of(" \n\r\n\t"), "is empty"));
  CHECK(has(error_of(std::string("\x7f"
                                 "ELF\0\0\1",
                                 7)),
            "is binary"));
  CHECK(has(error_of("<system version=\"2\"><cpu numaid=\"0\"></cpu></system>"), "NCCL topology"));
  CHECK(has(error_of("<html><body>404</body></html>"), "XML or HTML"));
  CHECK(has(error_of("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-63\nGPU1\tNV12\t X \t0-63\n"),
            "topo -m"));
  // Words and numbers of tables that are no rows: the first is named.
  CHECK(has(error_of("x 8 2 float\n12 12 float time\n"), "line 1"));
  CHECK(has(error_of("Dear all,\nplease find 8 2 figures attached.\n"), "holds no measurement"));
  CHECK(has(error_of("{\"results\": 3, \"x\": [1,2}"), "file:"));
}

TEST_CASE("noise is read in linear time") {
  // 8 MB each of what could make a careless reader quadratic: then a sample takes hours, and the
  // test's time limit ends it.
  std::string samples[6];
  const std::size_t size = 8'000'000;
  while (samples[0].size() < size) samples[0] += "[1,0]<stdout>:";
  while (samples[1].size() < size) samples[1] += "NCCL INFO ";
  while (samples[2].size() < size) samples[2] += "1\n";
  while (samples[3].size() < size) samples[3] += "|--|\n";
  while (samples[4].size() < size) samples[4] += "# _perf busbw time Rank device [\n";
  samples[5] = "{\"results\":[" + std::string(size, '[');
  for (const std::string& sample : samples) {
    INFO(sample.substr(0, 40));
    CHECK(error_of(sample) != "no error");
  }
}

namespace {

// Times and bandwidths as nccl-tests would have printed them: two decimals, consistent columns.
MeasuredRun arbitrary_run() {
  MeasuredRun run;
  run.collective = *rc::gen::element(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::broadcast);
  run.nranks = *rc::gen::element(2, 4, 8, 16, 72);
  run.gpus_per_node = *run.nranks == 72 ? 4 : std::min(*run.nranks, 8);
  run.nnodes = *run.nranks / *run.gpus_per_node;
  run.gpu = "NVIDIA H100 80GB HBM3";
  run.nccl_version = "2.22.3";
  const bool per_rank = run.collective == CollectiveKind::all_gather ||
                        run.collective == CollectiveKind::reduce_scatter;
  const double parts = per_rank ? *run.nranks : 1;
  const int rows = *rc::gen::inRange(1, 12);
  for (int i = 0; i < rows; ++i) {
    MeasuredRow row;
    const double count = *rc::gen::inRange(1, 1 << 20) * std::exp2(*rc::gen::inRange(0, 8));
    row.count = static_cast<std::int64_t>(count);
    row.dtype_text = *rc::gen::element<std::string>("float", "half", "bfloat16", "int8", "double");
    const double width = row.dtype_text == "float"    ? 4
                         : row.dtype_text == "int8"   ? 1
                         : row.dtype_text == "double" ? 8
                                                      : 2;
    row.bytes = Bytes(count * width * parts);
    row.redop =
        run.collective == CollectiveKind::all_gather || run.collective == CollectiveKind::broadcast
            ? "none"
            : "sum";
    if (run.collective == CollectiveKind::broadcast) row.root = 0;
    for (MeasuredTiming* half : {&row.out_of_place, &row.in_place}) {
      const double time = *rc::gen::inRange(500, 900000) / 100.0;
      half->time = microseconds(time);
      const double algbw = std::round(row.bytes.value() / time * 0.1) / 100;
      half->algbw = gigabytes_per_second(algbw);
      const double busbw =
          row.bytes.value() / time * 1e-3 * bus_factor(*run.collective, *run.nranks);
      half->busbw = gigabytes_per_second(std::round(busbw * 100) / 100);
      half->wrong = 0;
    }
    run.rows.push_back(row);
  }
  return run;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b) + 0.0051; }

void check_same(const MeasuredTiming& read, const MeasuredTiming& written) {
  RC_ASSERT(read.time && read.algbw && read.busbw);
  RC_ASSERT(near(us(read), us(written)));
  RC_ASSERT(near(read.algbw->value() * 1e-9, written.algbw->value() * 1e-9));
  RC_ASSERT(near(read.busbw->value() * 1e-9, written.busbw->value() * 1e-9));
}

void check_same(const MeasuredRun& read, const MeasuredRun& written) {
  RC_ASSERT(read.refused.empty());
  RC_ASSERT(read.rows.size() == written.rows.size());
  RC_ASSERT(read.collective == written.collective);
  RC_ASSERT(read.nranks == written.nranks);
  RC_ASSERT(read.nnodes == written.nnodes);
  RC_ASSERT(read.gpu == written.gpu);
  RC_ASSERT(read.nccl_version == written.nccl_version);
  for (std::size_t i = 0; i < written.rows.size(); ++i) {
    RC_ASSERT(read.rows[i].bytes == written.rows[i].bytes);
    RC_ASSERT(read.rows[i].dtype_text == written.rows[i].dtype_text);
    RC_ASSERT(read.rows[i].redop == written.rows[i].redop);
    check_same(read.rows[i].out_of_place, written.rows[i].out_of_place);
    check_same(read.rows[i].in_place, written.rows[i].in_place);
  }
}

}  // namespace

TEST_CASE("a run printed as nccl-tests prints it is read back") {
  rc::prop("nccl-tests layout", [] {
    const MeasuredRun run = arbitrary_run();
    const std::string text = run_to_nccl_tests_text(run);
    RC_LOG() << text;
    const auto runs = read_log_text(text, "printed.txt");
    RC_ASSERT(runs.size() == 1U);
    check_same(runs[0], run);
  });
}

TEST_CASE("a run cut anywhere never gives a row that was not there") {
  rc::prop("cut nccl-tests layout", [] {
    const MeasuredRun run = arbitrary_run();
    const std::string text = run_to_nccl_tests_text(run);
    const auto cut = *rc::gen::inRange<std::size_t>(0, text.size());
    std::vector<MeasuredRun> runs;
    try {
      runs = read_log_text(text.substr(0, cut), "printed.txt");
    } catch (const InputError&) {
      return;
    }
    for (const MeasuredRun& read : runs)
      for (const MeasuredRow& row : read.rows) {
        bool found = false;
        for (const MeasuredRow& written : run.rows)
          found =
              found ||
              (row.bytes == written.bytes &&
               (!row.out_of_place.time || near(us(row.out_of_place), us(written.out_of_place))));
        RC_ASSERT(found);
      }
  });
}

TEST_CASE(
    "a table of blogs: sizes with units, no types; collectives across; ranks as pandas writes") {
  const auto blog = read_log_text(
      "all_reduce, 16 GPUs\nSize   Time(us)  AlgBW(GB/s)  BusBW(GB/s)\n"
      "1MB    38.35     27.34        51.26\n1GB    19110     56.19        105.36\n",
      "a.txt");
  REQUIRE(blog.size() == 1);
  REQUIRE(blog[0].rows.size() == 2);
  CHECK(blog[0].rows[0].bytes == Bytes(1048576));
  CHECK(blog[0].rows[1].out_of_place.time->value() == Approx(0.01911));
  CHECK(blog[0].nranks == 16);
  const auto across = read_log_text(
      "Results on 16 GPUs\n\n| Message size | AllReduce busbw (GB/s) | AllGather busbw (GB/s) |\n"
      "|---|---|---|\n| 1 MB | 51.26 | 40.1 |\n| 1 GB | 105.36 | 100.2 |\n",
      "b.md");
  REQUIRE(across.size() == 2);
  CHECK(across[0].collective == CollectiveKind::all_reduce);
  CHECK(across[1].collective == CollectiveKind::all_gather);
  CHECK(across[1].rows[1].out_of_place.busbw->value() == Approx(100.2e9));
  const auto pandas = read_log_text(
      "collective,gpus,message_bytes,time_s\nall_reduce,16.0,1048576.0,3.8e-05\n"
      "all_reduce,16.5,1048576.0,3.8e-05\n",
      "c.csv");
  REQUIRE(pandas.at(0).rows.size() == 1);
  CHECK(pandas[0].nranks == 16);
  REQUIRE(pandas[0].refused.size() == 1);
}
