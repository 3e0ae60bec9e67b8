// SPDX-License-Identifier: Apache-2.0
// Tables that spreadsheets, scripts, shells and log collectors rewrote: other marks in numbers,
// sizes with units, nan, frames, and logs kept in strings. Numbers are invented.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "calibrate/logs/decimal_marks.hpp"
#include "calibrate/logs/measurement.hpp"

using namespace amsp;

namespace {

double us(const MeasuredTiming& timing) { return timing.time->value() * 1e6; }

bool mentions(const std::vector<std::string>& notes, const std::string& part) {
  for (const std::string& note : notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

MeasuredRun only_run(const std::string& text, const std::string& name) {
  const auto runs = read_log_text(text, name);
  REQUIRE(runs.size() == 1);
  return runs.front();
}

std::string csv(const std::string& rows, char separator = ';') {
  std::string text = "collective;gpus;message_bytes;time_us\n" + rows;
  for (char& c : text)
    if (c == ';') c = separator;
  return text;
}

// A log of eight ranks with these rows.
std::string log(const std::string& rows) {
  std::string text = "# nThread 1 nGpus 8 minBytes 8 maxBytes 8388608 step: 2(factor)\n#\n";
  for (int i = 0; i < 8; ++i)
    text +=
        fmt::format("#  Rank  {0} Group  0 Pid 41 on node0 device  {0} [0x1{0}] GPU of mine\n", i);
  return text +
         "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
         "time   algbw   busbw #wrong\n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
         "(us)  (GB/s)  (GB/s)       \n" +
         rows + "# Out of bounds values : 0 OK\n";
}

const char* const kRow =
    "     1048576        262144     float     sum      -1    50.00   20.97   36.70      0    49.00 "
    "  "
    "21.40   37.45      0\n";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

void check_row(const MeasuredRun& run) {
  REQUIRE(run.rows.size() == 1);
  CHECK(run.rows[0].bytes == Bytes(1048576));
  CHECK(run.rows[0].count == 262144);
  CHECK(us(run.rows[0].out_of_place) == Approx(50));
  CHECK(us(run.rows[0].in_place) == Approx(49));
  CHECK(run.nranks == 8);
  CHECK(run.gpu == "GPU of mine");
}

}  // namespace

TEST_CASE("a comma in the numbers of a semicolon or tab table is a decimal comma") {
  for (const char separator : {';', '\t'}) {
    const MeasuredRun run = only_run(
        csv("all_gather;32;1048576;30,78\nall_gather;32;4194304;1484,10\n", separator), "a.csv");
    REQUIRE(run.rows.size() == 2);
    CHECK(us(run.rows[0].out_of_place) == Approx(30.78));
    CHECK(us(run.rows[1].out_of_place) == Approx(1484.1));
    CHECK(mentions(run.notes, "decimal commas"));
  }
  // Three digits after each comma: nothing speaks for thousands.
  const MeasuredRun three = only_run(csv("all_reduce;16;1048576;11,310\n"), "a.csv");
  CHECK(us(three.rows.at(0).out_of_place) == Approx(11.31));
  // Grouped sizes are whole numbers, whatever the mark.
  const MeasuredRun grouped = only_run(csv("all_reduce;16;1.048.576;1.131,5\n"), "a.csv");
  CHECK(grouped.rows.at(0).bytes == Bytes(1048576));
  CHECK(us(grouped.rows.at(0).out_of_place) == Approx(1131.5));
}

TEST_CASE("commas that other cells show to part thousands stay that") {
  const MeasuredRun run =
      only_run(csv("all_reduce;16;1,048,576;11,310\nall_reduce;16;65,536;30.78\n"), "a.csv");
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].bytes == Bytes(1048576));
  CHECK(us(run.rows[0].out_of_place) == Approx(11310));
  CHECK(run.rows[1].bytes == Bytes(65536));
}

TEST_CASE("a column with both marks: what is clear is read, the rest refused with the reason") {
  const MeasuredRun run = only_run(csv("all_reduce;16;1048576;30.78\nall_reduce;16;2097152;36,"
                                       "62\nall_reduce;16;4194304;1,484\n"),
                                   "a.csv");
  REQUIRE(run.rows.size() == 2);
  CHECK(us(run.rows[0].out_of_place) == Approx(30.78));
  CHECK(us(run.rows[1].out_of_place) == Approx(36.62));
  REQUIRE(run.refused.size() == 1);
  CHECK(run.refused[0].line == 4);
  CHECK(run.refused[0].reason.find("\"1,484\" may mean two numbers") == 0);
}

TEST_CASE("thousands commas stand before three digits") {
  CHECK(without_thousands("1,048,576.5") == "1048576.5");
  CHECK(without_thousands("113.0") == "113.0");
  for (const char* word : {"30,78", "1,2345", "0,123", ",5", "1,", "1,,000", "1,00,000", "1.000,5"})
    CHECK_FALSE(without_thousands(word).has_value());
  // Not read as 3078 us, in any table.
  const auto runs = read_log_text(
      "# all_reduce on 8 GPUs\n\n| Size | Time (us) |\n|--|--|\n| 1M | 30,78 |\n| 2M | 40.5 |\n",
      "x.md");
  REQUIRE(runs.at(0).rows.size() == 1);
  CHECK(runs[0].refused.size() == 1);
}

TEST_CASE("thousands commas and sizes with units in a table of nccl-tests") {
  check_row(only_run(log(replaced(replaced(kRow, "1048576", "1,048,576"), "262144", "262,144")),
                     "a.txt"));
  const MeasuredRun sizes = only_run(log(replaced(kRow, "1048576", "1M")), "a.txt");
  check_row(sizes);
  CHECK(mentions(sizes.notes, "the size 1M is taken as 1048576 B"));
  // A million bytes are not 1M: the count contradicts, and that is said.
  const MeasuredRun decimal = only_run(
      log(std::string(kRow) + replaced(replaced(kRow, "1048576", "1M"), "262144", "250000")),
      "a.txt");
  CHECK(decimal.rows.size() == 1);
  REQUIRE(decimal.refused.size() == 1);
  CHECK(decimal.refused[0].reason.find("is not count 250000") != std::string::npos);
}

TEST_CASE("what looks like a row and is not read is refused with a reason") {
  for (const std::string size : {"1.5M", "1MB", "0x100000", "1'0485'76"}) {
    CAPTURE(size);
    const MeasuredRun run =
        only_run(log(std::string(kRow) + replaced(kRow, "1048576", size)), "a.txt");
    CHECK(run.rows.size() == 1);
    REQUIRE(run.refused.size() == 1);
    CHECK(run.refused[0].line == 14);
    CHECK(run.refused[0].reason.find("is no size") != std::string::npos);
  }
  const MeasuredRun type =
      only_run(log(std::string(kRow) + replaced(kRow, "float", "bf99")), "a.txt");
  CHECK(type.refused.size() == 1);
  // Sentences with numbers are no rows.
  const MeasuredRun text =
      only_run(log(std::string(kRow) + "2024 was the 1 year of 8 GPUs\n"), "a.txt");
  CHECK(text.refused.empty());
}

TEST_CASE("rows of nccl-tests whose cells commas, semicolons or bars part") {
  const std::string commas = "1048576,262144,float,sum,-1,50.00,20.97,36.70,0,49.00,21.40,37.45,0";
  const std::string title =
      "size,count,type,redop,root,time,algbw,busbw,#wrong,time,algbw,busbw,#wrong\n";
  check_row(only_run(log(commas + "\n"), "a.txt"));
  check_row(only_run(log(replaced(commas, ",", ", ") + ",\n"), "a.txt"));
  check_row(only_run(log(replaced(commas, ",", "|") + "\n"), "a.txt"));
  check_row(only_run(log(replaced(replaced(commas, ",", ";"), ".", ",") + "\n"), "a.txt"));
  check_row(only_run(log("\"" + replaced(commas, ",", "\",\"") + "\"\n"), "a.txt"));
  check_row(only_run(
      log(replaced(replaced(commas, "1048576", "\"1,048,576\""), "262144", "262 144") + "\n"),
      "a.txt"));
  // With no title line, and with one behind a mark.
  for (const std::string& text : {commas + "\n", "# " + title + commas + "\n"}) {
    const MeasuredRun alone = only_run(text, "a.txt");
    REQUIRE(alone.rows.size() == 1);
    CHECK(us(alone.rows[0].in_place) == Approx(49));
    CHECK(alone.refused.empty());
  }
  // Commas that part both cells and thousands give other numbers, which contradict themselves.
  const MeasuredRun both =
      only_run(log(kRow + replaced(commas, "1048576,262144", "1,048,576,262,144") + "\n"), "a.txt");
  CHECK(both.rows.size() == 1);
  CHECK(both.refused.size() == 1);
  // An empty cell is none of a number; a count cannot lack.
  CHECK(only_run(log(replaced(commas, ",0,49", ",,49") + "\n"), "a.txt").rows.size() == 1);
  CHECK(only_run(log(kRow + replaced(commas, "262144", "") + "\n"), "a.txt").refused.size() == 1);
}

TEST_CASE("cells at the end of a parted row stay empty; blanks in a cell shift nothing") {
  const std::string title =
      "# size,count,type,redop,root,time (us),algbw,busbw,#wrong,time (us),algbw,busbw,#wrong\n";
  const std::string row = "1048576,262144,float,sum,-1,50.5,20.76,38.93,0,49.00,21.40,40.13,0";
  const auto read = [&](const std::string& line) {
    CAPTURE(line);
    const MeasuredRun run = only_run(title + line + "\n", "a.txt");
    CHECK(run.refused.empty());
    REQUIRE(run.rows.size() == 1);
    return run.rows[0];
  };
  CHECK(us(read(row).in_place) == Approx(49));
  // A half alone: its last number may have one digit only, since its cells are all there.
  const MeasuredRow half = read("1048576,262144,float,sum,-1,50.5,,,,,,,");
  CHECK(us(half.out_of_place) == Approx(50.5));
  CHECK_FALSE(half.in_place.time);
  CHECK(us(read(replaced(row, ",0,49.00,21.40,40.13,0", ",,49.00,21.40,,")).in_place) ==
        Approx(49));
  // More marks at the end than columns.
  CHECK(us(read(row + ",,").in_place) == Approx(49));
  CHECK(us(read(replaced(row, "sum", "pre mul sum")).in_place) == Approx(49));
  CHECK(read(replaced(row, "sum", "pre mul sum")).redop == "pre_mul_sum");
  CHECK(us(read(replaced(row, "sum,-1", ",")).in_place) == Approx(49));
  CHECK(us(read(replaced(row, ",", ", ")).in_place) == Approx(49));
  CHECK(read(replaced(row, "1048576,", "1 MiB,")).bytes == Bytes(1048576));
}

TEST_CASE("prose that begins with a number and names a data type is no row") {
  for (const std::string line :
       {"2 half nodes were used for this run", "2 half nodes", "2024/05/01 float run of the day",
        "1. float is the type", "3 float tests follow", "10 int8 kernels", "2024/05/01 float",
        "1. float", "4 Knoten, half, f\xc3\xbcr heute"}) {
    CAPTURE(line);
    CHECK(only_run(log(kRow + line + "\n"), "a.txt").refused.empty());
  }
  // Damaged rows, also with words in them.
  for (const std::string line : {"8 2 float", "64 x16 float sum -1 12.3", "1024 256b float N/A",
                                 "33554432 83886o8 float sum error while loading libraries",
                                 "16777216/float", "2048 half"}) {
    CAPTURE(line);
    CHECK(only_run(log(kRow + line + "\n"), "a.txt").refused.size() == 1);
  }
}

TEST_CASE("whatever begins with a number and names a data type is read or refused") {
  for (const std::string line :
       {"1048576 float sum", "1048576 262144 float", "1048576,262144,float", "1048576/262144/float",
        "1048576 , float ,,,", "16K half", "1_048_576 262_144 float sum -1 50.00 20.97 36.70 0",
        "1 048 576 262 144 float sum -1 50.00 20.97 36.70 0 49.00 21.40 37.45 0",
        "2 MB 262144 float sum -1 50.00 20.97 36.70 0 49.00 21.40 37.45 0"}) {
    CAPTURE(line);
    const MeasuredRun run = only_run(log(kRow + line + "\n"), "a.txt");
    CHECK(run.rows.size() == 1);
    REQUIRE(run.refused.size() == 1);
    CHECK(run.refused[0].line == 14);
    CHECK_FALSE(run.refused[0].reason.empty());
    // Nor is it lost after a table of another kind.
    const MeasuredRun other = only_run(csv("all_reduce;8;1024;12\n") + "\nmore:\n" + line, "a.csv");
    CHECK(other.rows.size() == 1);
    CHECK(other.refused.size() == 1);
  }
  for (const std::string line : {"12:30:00 half of it", "2024-05-01 float", "1) float", "8x int"}) {
    CAPTURE(line);
    CHECK(only_run(log(kRow + line + "\n"), "a.txt").refused.empty());
  }
}

TEST_CASE("nan costs its cell only") {
  const MeasuredRun wrong =
      only_run(log(replaced(replaced(kRow, " 0 ", " nan "), " 0\n", " -nan\n")), "a.txt");
  check_row(wrong);
  CHECK_FALSE(wrong.rows[0].out_of_place.wrong.has_value());
  CHECK_FALSE(wrong.rows[0].in_place.wrong.has_value());
  CHECK(mentions(wrong.notes, "line 13: cells that are nan or inf are left out"));
  const MeasuredRun half = only_run(
      log(replaced(replaced(replaced(kRow, "49.00", "-nan"), "21.40", "-nan"), "37.45", "inf")),
      "a.txt");
  REQUIRE(half.rows.size() == 1);
  CHECK(us(half.rows[0].out_of_place) == Approx(50));
  CHECK_FALSE(half.rows[0].in_place.time.has_value());
  CHECK(half.rows[0].in_place.wrong == 0.0);
  const MeasuredRun bus = only_run(log(replaced(kRow, "37.45", "inf")), "a.txt");
  check_row(bus);
  CHECK_FALSE(bus.rows[0].in_place.busbw.has_value());
}

TEST_CASE("logs in frames, in Docker's JSON lines and in a JSON string") {
  const std::string plain = log(kRow);
  std::string framed, docker;
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = plain.find('\n', at);
    const std::string line = plain.substr(at, end - at);
    framed += "\xe2\x94\x82 " + line + " \xe2\x94\x82\n";
    docker +=
        R"({"log":")" + line + R"(\n","stream":"stdout","time":"2024-07-01T12:00:00.1Z"})" + "\n";
    at = end + 1;
  }
  check_row(only_run(framed, "a.txt"));
  const MeasuredRun lines = only_run(docker, "a.json");
  check_row(lines);
  CHECK(lines.rows[0].line == 13);
  const MeasuredRun text =
      only_run(R"({"cmd": "all_reduce_perf", "stdout": ")" + replaced(plain, "\n", "\\n") + R"("})",
               "a.json");
  check_row(text);
  CHECK(mentions(text.notes, "the log stands in a string"));
}

TEST_CASE("decimal commas in a table that blanks part") {
  const std::string comma =
      replaced(replaced(kRow, "50.00   20.97   36.70", "50,00   20,97   36,70"),
               "49.00   21.40   37.45", "49,00   21,40   37,45");
  std::string row = replaced(comma, "49.00", "49,00");
  row = replaced(replaced(row, "21.40", "21,40"), "37.45", "37,45");
  const MeasuredRun run = only_run(log(row) + "# Avg bus bandwidth    : 37,0750\n", "a.txt");
  check_row(run);
  CHECK(run.rows[0].out_of_place.busbw->value() == Approx(36.7e9));
  REQUIRE(run.avg_busbw.has_value());
  CHECK(run.avg_busbw->value() == Approx(37.075e9));
  CHECK(mentions(run.notes, "decimal commas"));
  CHECK(run.refused.empty());
  // Three digits after the comma: the other cells tell, and the row's own numbers agree.
  const MeasuredRun three =
      only_run(log(row + replaced(replaced(row, "1048576        262144", "     4096          1024"),
                                  "50,00   20,97   36,70      0    49,00   21,40   37,45",
                                  "5,120   0,800   1,400      0    5,120   0,800   1,400")),
               "a.txt");
  REQUIRE(three.rows.size() == 2);
  CHECK(us(three.rows[1].out_of_place) == Approx(5.12));
  // Grouped thousands in the whole columns, as the same locale writes them.
  check_row(
      only_run(log(replaced(replaced(row, "1048576", "1.048.576"), "262144", "262.144")), "a.txt"));
}

TEST_CASE("points and decimal commas in one table: what may be two numbers is refused") {
  const std::string mixed = replaced(kRow, "50.00   20.97   36.70", "50,00   20,97   36,70");
  const std::string unclear = replaced(kRow, "50.00 ", "1,050 ");
  const MeasuredRun run = only_run(log(mixed + unclear), "a.txt");
  REQUIRE(run.rows.size() == 1);
  CHECK(us(run.rows[0].out_of_place) == Approx(50));
  REQUIRE(run.refused.size() == 1);
  CHECK(run.refused[0].reason.find("\"1,050\" may mean two numbers") == 0);
}

TEST_CASE("lines of a log in a JSON list, Swiss thousands, and a log without line ends") {
  std::string list = "ok: [host1] => {\n    \"nccl.stdout_lines\": [\n";
  std::string joined;
  const std::string plain = log(kRow + std::string(kRow));
  std::size_t at = 0;
  while (at < plain.size()) {
    const std::size_t end = plain.find('\n', at);
    list += "        \"" + plain.substr(at, end - at) + "\",\n";
    joined += plain.substr(at, end - at) + " ";
    at = end + 1;
  }
  for (const std::string& kept : {list + "    ]\n}\n", joined}) {
    const MeasuredRun run = only_run(kept, "a.txt");
    REQUIRE(run.rows.size() == 2);
    CHECK(us(run.rows[1].in_place) == Approx(49));
    CHECK(run.nranks == 8);
    CHECK(run.gpu == "GPU of mine");
    CHECK(run.refused.empty());
  }
  check_row(only_run(log(replaced(replaced(kRow, "1048576", "1'048'576"), "262144", "262'144")),
                     "a.txt"));
}

TEST_CASE("output of other programs is refused by name, and a table of payloads is read") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read_log_text(text, "x.txt");
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("# OSU MPI-CUDA Allreduce Latency Test v7.2\n# Size  Avg Latency(us)\n4   23.41\n")
            .find("OSU micro-benchmarks") != std::string::npos);
  CHECK(message("Collective:   Allreduce\nMemory type:   cuda\n  65536  262144  76.46  72.62\n")
            .find("ucc_perftest") != std::string::npos);
  const MeasuredRun run = only_run(
      "The average bandwidth of all_reduce over 16 ranks:\n\n| payload |    busbw   |    algbw   "
      "|\n"
      "| ------: | ---------: | ---------: |\n|     1GB | 182.50GBps |  97.33GBps |\n",
      "x.md");
  REQUIRE(run.rows.size() == 1);
  CHECK(run.nranks == 16);
  CHECK(run.rows[0].bytes == Bytes(1073741824));
  CHECK(run.rows[0].out_of_place.busbw->value() == Approx(182.5e9));
}
