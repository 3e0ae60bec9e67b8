// SPDX-License-Identifier: Apache-2.0
// amsp list: the names that other commands accept, with a line on each.
#include <cstdio>

#include "base/file.hpp"
#include "base/json_value.hpp"
#include "calibrate/collective_algorithm.hpp"
#include "cli/command.hpp"
#include "report/table.hpp"
#include "scenarios/scenario.hpp"

namespace amsp {
namespace {

Table names_table() { return Table({{"name", "", Align::left}, {"what it is", "", Align::left}}); }

// The "description" of a shipped file, without judging the rest of it.
std::string described(const std::filesystem::path& file) {
  const auto text = JsonValue::parse_file(file).find("description");
  return text ? text->as_string() : "";
}

Table shipped(std::string_view kind) {
  Table table = names_table();
  for (const std::string& name : data_names(kind))
    table.add_row({name, described(data_folder(kind) / (name + ".json"))});
  return table;
}

Table strategies() {
  Table table = names_table();
  for (const StrategyPreset* preset : strategy_presets())
    table.add_row({std::string(preset->name()), std::string(preset->description())});
  return table;
}

// Kinds of collectives, and the algorithms that carry them out.
Table collectives() {
  Table table({{"name", "", Align::left}, {"algorithms", "", Align::left}});
  for (const std::string& kind : collective_kind_names()) {
    std::string able;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms())
      if (algorithm->supports(parse_collective_kind(kind)))
        able += (able.empty() ? "" : ", ") + std::string(algorithm->name());
    table.add_row({kind, able});
  }
  for (const CollectiveAlgorithm* algorithm : collective_algorithms())
    table.add_row({std::string(algorithm->name()), std::string(algorithm->description())});
  return table;
}

const std::vector<std::string> kLists{"clusters", "models", "strategies", "scenarios",
                                      "collectives"};

class ListCommand : public Command {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view description() const override {
    return "list clusters, models, strategies, scenarios or collectives";
  }
  void declare(Options& options) override {
    options.positional("WHAT", "clusters, models, strategies, scenarios or collectives", what_);
  }
  int run() override {
    std::fputs(table_text(table()).c_str(), stdout);
    return 0;
  }

 private:
  [[nodiscard]] Table table() const {
    if (what_ == "clusters") return shipped("topologies");
    if (what_ == "models") return shipped("workloads/models");
    if (what_ == "scenarios") return shipped("scenarios");
    if (what_ == "strategies") return strategies();
    if (what_ == "collectives") return collectives();
    throw InputError(unknown_name("list", what_, kLists));
  }
  std::string what_;
};

}  // namespace

std::unique_ptr<Command> command_list() { return std::make_unique<ListCommand>(); }

}  // namespace amsp
