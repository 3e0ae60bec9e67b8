// SPDX-License-Identifier: Apache-2.0
#include "report/collective_text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace amsp;

namespace {

CollectiveEstimate of_interval(double low, double time, double high) {
  CollectiveEstimate estimate;
  estimate.time = estimate.fluid = Seconds(time);
  estimate.low = Seconds(low);
  estimate.high = Seconds(high);
  return estimate;
}

std::string note_of(const CollectiveEstimate& estimate) {
  const ClusterSpec cluster = load_cluster("dgx-h100");
  const CollectiveQuestion question{CollectiveKind::all_reduce, Bytes(1024), {8, 8, 1, 0}};
  const auto json = nlohmann::json::parse(collective_json(question, cluster, estimate));
  const std::string note = json.value("note", "");
  const std::string table = collective_table(question, cluster, estimate);
  CHECK(note.empty() == (table.find("  note ") == std::string::npos));
  CHECK(table.find(note) != std::string::npos);
  return note;
}

}  // namespace

TEST_CASE("an interval that says little is said to say little") {
  CHECK(note_of(of_interval(0.5, 1, 9.9)).empty());
  CHECK(note_of(of_interval(0.2, 1, 10)).find("spans a factor of 50, hardly a prediction") !=
        std::string::npos);
  CHECK(note_of(of_interval(1e-6, 1, 10)).find("spans more than a factor of 1000") !=
        std::string::npos);
}
