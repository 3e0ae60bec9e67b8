// SPDX-License-Identifier: Apache-2.0
// amsp list: the names that other commands accept, with a line on each.
#include <fmt/format.h>

#include <cstdio>

#include "base/file.hpp"
#include "base/json_value.hpp"
#include "calibrate/collective_algorithm.hpp"
#include "cli/command.hpp"
#include "report/table.hpp"
#include "scenarios/scenario.hpp"
#include "workloads/generator.hpp"

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

// The shapes of models, shipped or in files, and how many parameters they come to.
Table shapes(const std::vector<std::string>& models) {
  Table table({{"name", "", Align::left},
               {"parameters", "1e9"},
               {"layers"},
               {"hidden"},
               {"heads"},
               {"KV heads"},
               {"head width"},
               {"intermediate"},
               {"vocabulary"},
               {"embeddings", "", Align::left}});
  for (const std::string& name : models) {
    const ModelShape model = load_model(name);
    table.add_row({model.name, fmt::format("{:.3f}", parameter_count(model) / 1e9),
                   std::to_string(model.layers), std::to_string(model.hidden),
                   std::to_string(model.heads), std::to_string(model.kv_heads),
                   std::to_string(model.head_dim), std::to_string(model.intermediate),
                   std::to_string(model.vocabulary),
                   model.tied_embeddings ? "tied" : "two tables"});
  }
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
  std::string_view group() const override { return "Inputs"; }
  std::string_view example() const override { return "amsp list models llama-7b ./config.json"; }
  std::string_view details() const override {
    return "With models, names or files (Hugging Face config.json too) show their shapes and how\n"
           "many parameters they come to.";
  }
  void declare(Options& options) override {
    options.positional("WHAT", "clusters, models, strategies, scenarios or collectives", what_,
                       kLists);
    options.optional_positionals("MODEL", "with models: those whose shape is wanted", models_);
  }
  int run() override {
    std::fputs(table_text(table()).c_str(), stdout);
    return 0;
  }

 private:
  [[nodiscard]] Table table() const {
    if (!models_.empty() && what_ != "models")
      throw InputError("only amsp list models takes names; amsp topology shows a cluster");
    if (!models_.empty()) return shapes(models_);
    if (what_ == "clusters") return shipped("topologies");
    if (what_ == "models") return shipped("workloads/models");
    if (what_ == "scenarios") return shipped("scenarios");
    if (what_ == "strategies") return strategies();
    if (what_ == "collectives") return collectives();
    throw InputError(unknown_name("list", what_, kLists));
  }
  std::string what_;
  std::vector<std::string> models_;
};

}  // namespace

std::unique_ptr<Command> command_list() { return std::make_unique<ListCommand>(); }

}  // namespace amsp
