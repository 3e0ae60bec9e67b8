// SPDX-License-Identifier: Apache-2.0
#include "workloads/idle_switches.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "workloads/adam_cost.hpp"

namespace amsp {
namespace {

// Why a switch cannot act; empty where it can.
class Reasons {
 public:
  Reasons(const Strategy& strategy, Mesh data_parallel)
      : s_(strategy),
        gathers_(s_.parameters.size() > 1),
        reduces_(s_.parameters != data_parallel),
        spreads_(s_.optimizer != s_.parameters) {}

  [[nodiscard]] std::string of(std::string_view key) const {
    if (key == "overlap_broadcast" || key == "update" || key == "inter_tensor_ownership")
      return spreads_
                 ? ""
                 : "optimizer states are sharded no further than parameters: no update spreads";
    if (key == "overlap_all_reduce" || key == "boundary" || key == "reduction" ||
        key == "reduce_every_micro_batch")
      return of_reduction(key);
    if (key == "contiguous_gradients")
      return gathers_ || leaves() ? "" : "whole gradients stay on every GPU (stages 2 and 3)";
    if (key == "bucket")
      return gathers_ || reduces_ || spreads_ ? "" : "nothing is reduced or gathered in buckets";
    if (key == "flat_layers") return gathers_ || reduces_ ? "" : "nothing is gathered or reduced";
    if (key == "parameters" || key == "gradients" || key == "optimizer" || key == "name" ||
        key == "adam")
      return "";
    if (key == "sub_group")
      return adam_cost(s_.adam).temporaries > Bytes(0)
                 ? ""
                 : "a fused update needs no temporaries, of whatever it updates at a time";
    return of_gather(key);
  }

 private:
  [[nodiscard]] bool leaves() const { return s_.gradients != s_.parameters; }

  [[nodiscard]] std::string of_reduction(std::string_view key) const {
    if (!reduces_)
      return "the parameters are sharded over the whole job: no replicas to reduce over";
    if (key == "reduce_every_micro_batch" && leaves())
      return "gradients are sharded further than parameters and are reduced so in any case";
    if (key == "reduction" && !spreads_)
      return "optimizer states are sharded no further than parameters: all-reduced in any case";
    if (key == "boundary" && !s_.overlap_all_reduce)
      return "without overlap_all_reduce all buckets wait for the end of the backward pass";
    // Two of DeepSpeed's buffers instead of one, even so.
    const bool buffers = s_.contiguous_gradients && !gathers_ && leaves();
    if (key == "overlap_all_reduce" && s_.boundary == BoundaryReduction::synchronous && !buffers)
      return "a synchronous boundary reduces behind the backward pass";
    return "";
  }

  [[nodiscard]] std::string of_gather(std::string_view key) const {
    if (!gathers_) return "parameters are not sharded: nothing is gathered";
    if (key == "secondary" && s_.secondary == s_.parameters)
      return "it is the parameters' mesh, so that backward gathers as forward does (it only takes "
             "memory)";
    if (key == "hierarchical_gather" && s_.parameters.across == 1)
      return "the parameters' mesh lies inside a node";
    if (key == "root_unit" && !s_.flat_layers)
      return "without flat_layers modules are gathered one by one";
    if (key == "gather_per_layer" && s_.flat_layers) return "flat_layers gathers whole layers";
    if ((key == "gather_per_layer" || key == "gathers_in_flight") && !s_.overlap_gather_scatter &&
        !s_.flat_layers)
      return "without overlap_gather_scatter modules are gathered one at a time";
    if (key == "gathers_in_flight" && !s_.overlap_gather_scatter)
      return "without overlap_gather_scatter layers are gathered one at a time";
    return "";
  }

  const Strategy& s_;
  bool gathers_, reduces_, spreads_;
};

}  // namespace

std::vector<std::string> idle_switches(const JsonValue& json, Mesh data_parallel) {
  if (!json.is_object()) return {};
  const auto values = [](const Strategy& strategy) {
    return nlohmann::json::parse(to_json(strategy));
  };
  const Strategy strategy = parse_strategy(json, data_parallel);
  const auto preset = json.find("preset");
  const auto usual = values(find_strategy_preset(preset ? preset->as_string() : "amsp",
                                                 preset ? preset->place() : json.place())
                                .make(data_parallel));
  const auto set = values(strategy);
  const Reasons reasons(strategy, data_parallel);
  std::vector<std::string> notes;
  for (const auto& [key, value] : json.members()) {
    if (!set.contains(key) || set[key] == usual[key]) continue;
    if (const std::string reason = reasons.of(key); !reason.empty())
      notes.push_back(fmt::format("strategy.{} changes nothing in this job: {}", key, reason));
  }
  return notes;
}

}  // namespace amsp
