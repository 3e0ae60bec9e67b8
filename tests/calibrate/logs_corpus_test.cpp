// SPDX-License-Identifier: Apache-2.0
// Every log of the NCCL corpus (folder named by AMSP_CORPUS) against its INDEX.md, which was
// written from the files by other means: rows, average, ranks, nodes, collective and the spot
// checks.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/measurement.hpp"

using namespace amsp;

namespace {

struct Section {
  std::string file, body;
  std::vector<std::string> checks;
};

std::vector<Section> read_index(const std::string& text) {
  std::vector<Section> sections;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("### ", 0) == 0) {
      sections.push_back({line.substr(4), "", {}});
    } else if (line.rfind("## ", 0) == 0) {
      sections.push_back({});
    } else if (!sections.empty()) {
      sections.back().body += line + "\n";
      if (line.rfind("- check: ", 0) == 0) sections.back().checks.push_back(line.substr(9));
    }
  }
  return sections;
}

std::optional<std::string> first_match(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return std::nullopt;
  return match[1].str();
}

void check_half(const MeasuredTiming& half, const std::smatch& match, std::size_t at) {
  if (!match[at].matched) return;
  REQUIRE(half.time);
  REQUIRE(half.algbw);
  REQUIRE(half.busbw);
  CHECK(half.time->value() * 1e6 == Approx(std::stod(match[at])).epsilon(1e-12));
  CHECK(half.algbw->value() * 1e-9 == Approx(std::stod(match[at + 1])).epsilon(1e-12));
  CHECK(half.busbw->value() * 1e-9 == Approx(std::stod(match[at + 2])).epsilon(1e-12));
  if (!match[at + 3].matched) return;
  if (match[at + 3] == "N/A") {
    CHECK_FALSE(half.wrong.has_value());
  } else {
    REQUIRE(half.wrong);
    CHECK(*half.wrong == Approx(std::stod(match[at + 3])));
  }
}

// "262144 (count 65536): oop 11.68 us / 22.45 / 33.67 (0), ip 11.21 us / 23.38 / 35.08 (0)"
int check_spots(const MeasuredRun& run, const std::string& check) {
  static const std::regex kSpot(
      R"((\d+)(?: \(count (\d+)\))?: oop ([\d.]*\d) us / ([\d.]*\d) / ([\d.]*\d))"
      R"((?: \(([^)\[]*)[^)]*\))?)"
      R"((?:, ip ([\d.]*\d)(?: us)? / ([\d.]*\d) / ([\d.]*\d)(?: \(([^)\[]*)[^)]*\))?)?)");
  int spots = 0;
  for (std::sregex_iterator it(check.begin(), check.end(), kSpot), end; it != end; ++it) {
    const std::smatch& match = *it;
    CAPTURE(match[0].str());
    const auto row = std::find_if(run.rows.begin(), run.rows.end(), [&](const MeasuredRow& r) {
      return r.bytes == Bytes(std::stod(match[1])) &&
             (!match[2].matched || r.count == std::stoll(match[2]));
    });
    REQUIRE(row != run.rows.end());
    check_half(row->out_of_place, match, 3);
    check_half(row->in_place, match, 7);
    ++spots;
  }
  return spots;
}

int check_run(const MeasuredRun& run, const std::string& check) {
  CAPTURE(check);
  if (const auto rows = first_match(check, R"((\d+) data rows)"))
    CHECK(run.rows.size() == static_cast<std::size_t>(std::stoi(*rows)));
  if (const auto average = first_match(check, R"(Avg bus bandwidth ([\d.]*\d))")) {
    REQUIRE(run.avg_busbw);
    CHECK(run.avg_busbw->value() * 1e-9 == Approx(std::stod(*average)).epsilon(1e-12));
  } else if (check.find("no avg line") != std::string::npos) {
    CHECK_FALSE(run.avg_busbw.has_value());
  }
  return check_spots(run, check);
}

// The index writes the machine as "…; nodes 2; ranks 8; NICs …; collective all_reduce".
void check_machine(const Section& section, const MeasuredRun& run) {
  const std::string head = section.body.substr(0, section.body.find('\n'));
  if (const auto ranks = first_match(head, R"(ranks (\d+))")) {
    // 053: 64 stands in the job's name only; busbw/algbw is that of 96 ranks, as the index says.
    const bool renamed = section.file.rfind("053-", 0) == 0;
    CHECK(run.nranks == (renamed ? 96 : std::stoi(*ranks)));
  }
  if (const auto nodes = first_match(head, R"(nodes (\d+);)"))
    CHECK(run.nnodes == std::stoi(*nodes));
  const auto collective = first_match(head, R"(collective ([a-z_]+))");
  if (collective && collective_named(*collective)) {
    REQUIRE(run.collective);
    CHECK(name_of(*run.collective) == name_of(*collective_named(*collective)));
  }
}

void check_section(const Section& section, const std::string& folder, int& spots) {
  INFO(section.file);
  const std::vector<MeasuredRun> runs = read_logs(folder + "/" + section.file);
  const bool several = first_match(section.checks.at(0), R"(^(\w+)_perf:)").has_value();
  if (several) {
    REQUIRE(runs.size() == section.checks.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      spots += check_run(runs[i], section.checks[i]);
      const auto name = first_match(section.checks[i], R"(^(\w+_perf):)");
      REQUIRE(runs[i].collective);
      CHECK(runs[i].collective == collective_named(*name));
    }
  } else {
    REQUIRE_FALSE(runs.empty());
    spots += check_run(runs[0], section.checks[0]);
    check_machine(section, runs[0]);
  }
  for (const MeasuredRun& run : runs) CHECK(run.sha256.size() == 64);
}

std::string corpus_folder() {
  const char* folder = std::getenv("AMSP_CORPUS");
  return folder == nullptr ? "" : folder;
}

const MeasuredRow& row_of(const MeasuredRun& run, double bytes) {
  for (const MeasuredRow& row : run.rows)
    if (row.bytes == Bytes(bytes)) return row;
  FAIL("no row of " << bytes << " B in " << run.variant);
  return run.rows.front();
}

const MeasuredRun& run_named(const std::vector<MeasuredRun>& runs, const std::string& variant,
                             std::size_t nth = 0) {
  for (const MeasuredRun& run : runs)
    if (run.variant == variant && nth-- == 0) return run;
  FAIL("no run named " << variant);
  return runs.front();
}

double busbw(const MeasuredRow& row) { return row.out_of_place.busbw.value().value() * 1e-9; }

}  // namespace

TEST_CASE("every log of the corpus reads as its index says") {
  const std::string folder = corpus_folder();
  if (folder.empty()) {
    std::cout << "skipped: AMSP_CORPUS does not name the NCCL corpus\n";
    return;
  }
  int logs = 0;
  int spots = 0;
  for (const Section& section : read_index(read_file(folder + "/INDEX.md"))) {
    if (section.file.empty() || section.checks.empty()) continue;
    if (section.file.rfind("topo-", 0) == 0 || section.file.rfind("xml-", 0) == 0) continue;
    check_section(section, folder, spots);
    ++logs;
  }
  CHECK(logs >= 86);  // 87 logs and tables, 3 JSON, one tuning table; some are kept elsewhere
  CHECK(spots >= 220);
}

TEST_CASE("tables without the layout of nccl-tests: what the index says in words") {
  const std::string folder = corpus_folder();
  if (folder.empty()) return;
  SECTION("117: a column for each number of nodes") {
    const auto runs = read_logs(folder + "/117-b200-2to32n-sendrecv-markdown-run1.md");
    REQUIRE(runs.size() == 5);
    const double expected[] = {41.86, 43.88, 26.21, 14.61, 14.43};
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(runs[i].rows.size() == 19);
      CHECK(runs[i].nnodes == 2 << i);
      CHECK(runs[i].nranks == 16 << i);
      CHECK(busbw(row_of(runs[i], 64 << 20)) == Approx(expected[i]));
    }
  }
  SECTION("119: algorithm, protocol and channels of each row") {
    const auto runs = read_logs(folder + "/119-mi350x-2n16g-all_reduce-tsv-algo.txt");
    const MeasuredRow& after = row_of(run_named(runs, "After"), 134217728);
    CHECK(busbw(after) == Approx(249.40));
    CHECK(after.algorithm == "ring");
    CHECK(after.protocol == "Simple");
    CHECK(after.channels == 48);
    const MeasuredRow& before = row_of(run_named(runs, "Before"), 33554432);
    CHECK(busbw(before) == Approx(127.38));
    CHECK(before.algorithm == "tree");
    CHECK(before.protocol == "LL128");
    CHECK(before.channels == 64);
  }
  SECTION("132: algorithms, protocols, channels, and times") {
    const auto runs = read_logs(folder + "/132-b300-1n8g-all_reduce-algo-proto-channel.md");
    CHECK(busbw(row_of(run_named(runs, "Ring"), 16 << 20)) == Approx(337.4));
    CHECK(run_named(runs, "Ring").algorithm == "ring");
    CHECK(busbw(row_of(run_named(runs, "Default(NVLS)"), 8.0 * (1 << 30))) == Approx(836.3));
    CHECK(busbw(row_of(run_named(runs, "Tree"), 128 << 20)) == Approx(285.2));
    CHECK(busbw(row_of(run_named(runs, "nch 32"), 128 << 20)) == Approx(624.5));
    CHECK(run_named(runs, "nch 32").channels == 32);
    CHECK(run_named(runs, "nch 1").algorithm == "ring");
    CHECK(busbw(row_of(run_named(runs, "nch 1"), 128 << 20)) == Approx(29.4));
    CHECK(run_named(runs, "LL").protocol == "LL");
    CHECK(row_of(run_named(runs, "Default (us)"), 8).out_of_place.time->value() == Approx(31.6e-6));
    row_of(run_named(runs, "Default (us)"), 262144);  // "262KB"
  }
  SECTION("133: bold cells") {
    const auto runs = read_logs(folder + "/133-b300-1n8g-all_reduce-5rep-mean.md");
    const MeasuredRun& run = run_named(runs, "Default");
    CHECK(run.rows.size() == 24);
    CHECK(busbw(row_of(run, 1 << 20)) == Approx(49.49));
    CHECK(busbw(row_of(run, 64 << 20)) == Approx(425.06));
    CHECK(busbw(row_of(run, 8.0 * (1 << 30))) == Approx(836.11));
  }
  SECTION("123, 125: halves that are missing") {
    const auto cut = read_logs(folder + "/123-gb200-1n4g-all_reduce-mscclpp-rsag-trunc.txt");
    REQUIRE(cut.at(0).rows.size() == 7);
    CHECK(cut[0].rows[6].out_of_place.busbw->value() == Approx(370.99e9));
    CHECK_FALSE(cut[0].rows[6].in_place.time.has_value());
    const auto swapped = read_logs(folder + "/125-a100-2n16g-all_reduce-mscclpp-mpiprefix.txt");
    REQUIRE(swapped.at(0).rows.size() == 1);
    CHECK(swapped[0].nranks == 16);
    CHECK(swapped[0].rows[0].in_place.time->value() == Approx(28286e-6));
    CHECK_FALSE(swapped[0].rows[0].out_of_place.time.has_value());
  }
}

TEST_CASE("JSON logs and the tuning table of the corpus") {
  const std::string folder = corpus_folder();
  if (folder.empty()) return;
  SECTION("120: rccl-tests, one half a line") {
    const auto runs = read_logs(folder + "/120-rccl-tests-jsonlines-4g-all_reduce.jsonl");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].nranks == 4);
    CHECK(runs[0].collective == CollectiveKind::all_reduce);
    const MeasuredRow& row = row_of(runs[0], 1024);
    CHECK(row.out_of_place.time->value() * 1e6 == Approx(19.18415));
    CHECK(row.out_of_place.busbw->value() * 1e-9 == Approx(0.080066).epsilon(1e-5));
    CHECK(row.in_place.time->value() * 1e6 == Approx(19.89765));
    CHECK(runs[0].refused.size() == 1);
  }
  SECTION("122: nccl-tests -J") {
    const auto runs = read_logs(folder + "/122-DERIVED-h100-2n16g-all_reduce-J3.json");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].nranks == 16);
    CHECK(runs[0].nnodes == 2);
    CHECK(runs[0].nccl_version == "2.23.4");
    CHECK(runs[0].rows.size() == 5);
    CHECK(row_of(runs[0], 1073741824).out_of_place.time->value() == Approx(4478.8e-6));
    CHECK(busbw(row_of(runs[0], 1073741824)) == Approx(449.51));
  }
  SECTION("129: performance targets of mscclpp") {
    const auto runs = read_logs(folder + "/129-mscclpp-a100-h100-targets.jsonl");
    std::size_t rows = 0;
    std::set<std::size_t> lines;
    for (const MeasuredRun& run : runs) {
      rows += run.rows.size();
      CHECK(run.library == "MSCCL++");
      for (const MeasuredRow& row : run.rows) {
        lines.insert(row.line);
        if (row.line == 4) CHECK(busbw(row) == Approx(243.96));
        if (row.line == 24) {
          CHECK(run.nranks == 16);
          CHECK(row.bytes == Bytes(8192));
          CHECK(row.out_of_place.time->value() == Approx(15.10e-6));
        }
      }
    }
    CHECK(rows == 29);
    CHECK(lines.size() == 29);
  }
}

TEST_CASE("the tuner's table and choices, in a log without rows") {
  const std::string folder = corpus_folder();
  if (folder.empty()) return;
  SECTION("tuning-001") {
    const auto runs = read_logs(folder + "/tuning-001-rtx5090-2n2g-nccl2.29.7.txt");
    REQUIRE(runs.size() == 1);
    const auto model = [&](CollectiveKind kind, const char* algorithm, const char* protocol) {
      for (const TuningModel& entry : runs[0].tuning_models)
        if (entry.collective == kind && entry.algorithm == algorithm && entry.protocol == protocol)
          return entry;
      FAIL("no entry for " << algorithm);
      return runs[0].tuning_models.front();
    };
    CHECK(model(CollectiveKind::all_reduce, "tree", "LL").latency.value() == Approx(16.8e-6));
    CHECK(model(CollectiveKind::all_reduce, "tree", "LL").algbw.value() == Approx(0.5e9));
    CHECK(model(CollectiveKind::all_reduce, "ring", "Simple").latency.value() == Approx(36.4e-6));
    CHECK(model(CollectiveKind::all_gather, "ring", "Simple").algbw.value() == Approx(4.8e9));
    CHECK(model(CollectiveKind::all_gather, "pat", "Simple").latency.value() == Approx(17.6e-6));
    for (const TuningChoice& choice : runs[0].tuning_choices) {
      CHECK(choice.algorithm == "ring");
      CHECK(choice.protocol == (choice.bytes <= Bytes(16384) ? "LL" : "Simple"));
      if (choice.bytes == Bytes(16384)) CHECK(choice.channels == 2);
      if (choice.bytes == Bytes(32768)) CHECK(choice.channels == 1);
      if (choice.bytes >= Bytes(131072)) CHECK(choice.channels == 4);
    }
    CHECK(runs[0].tuning_choices.size() == 18);
  }
}
