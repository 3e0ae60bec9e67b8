// SPDX-License-Identifier: Apache-2.0
#include "sim/perturbation_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.hpp"
#include "base/output_path.hpp"
#include "sim/jitter.hpp"

namespace amsp {
namespace {

// "NAME=NUMBER", split at the last "="; the number must be a share.
std::pair<std::string_view, double> split(std::string_view text, std::string_view option,
                                          std::string_view zero) {
  const std::size_t equals = text.rfind('=');
  double number = 0;
  if (equals != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data() + equals + 1, end, number);
    if (result.ec == std::errc{} && result.ptr == end) {
      if (number >= kLeastShare && number <= 1) return {text.substr(0, equals), number};
      throw InputError({"command line", std::string(option)},
                       fmt::format("\"{}\": a factor must be between {:.6f} and 1 (1: healthy){}",
                                   text, kLeastShare, zero));
    }
  }
  throw InputError({"command line", std::string(option)},
                   fmt::format("\"{}\" is not NAME=FACTOR; write e.g. 5=0.8", text));
}

std::string nic_name(const ClusterSpec& cluster, int node, std::size_t nic) {
  return fmt::format("node{}/{}", node, cluster.node.nics[nic].name);
}

[[noreturn]] void refuse_name(const Network& network, const std::string& name) {
  constexpr std::size_t most_names = 200000;  // enough to search for the nearest
  std::vector<std::string> names;
  const ClusterSpec& cluster = network.cluster();
  for (int node = 0; node < cluster.nodes; ++node)
    for (std::size_t nic = 0; nic < cluster.node.nics.size(); ++nic)
      names.push_back(nic_name(cluster, node, nic));
  for (std::size_t l = 0; l < network.links().size() && names.size() < most_names; ++l)
    names.push_back(network.name_of(LinkId(l)));
  throw InputError(unknown_name("link or NIC", name, names));
}

std::vector<LinkId> links_named(const Network& network, const std::string& name) {
  const ClusterSpec& cluster = network.cluster();
  for (int node = 0; node < cluster.nodes; ++node) {
    if (name.rfind(fmt::format("node{}/", node), 0) != 0) continue;
    for (std::size_t nic = 0; nic < cluster.node.nics.size(); ++nic)
      if (name == nic_name(cluster, node, nic)) {
        const auto links = network.nic_links(NodeId(node), NicId(nic));
        if (links.empty())
          throw InputError(
              fmt::format("NIC \"{}\" carries nothing here: the cluster is one node", name));
        return links;
      }
  }
  if (const auto link = network.find_link(name)) return {*link};
  refuse_name(network, name);
}

const std::vector<std::string>& placements() {
  static const std::vector<std::string> words{"packed", "rail", "random"};
  return words;
}

// Why it is none; empty when it is one. Files are read later.
std::string wrong_placement(const std::string& how) {
  std::error_code error;
  if (!is_placement_file(how) || std::filesystem::exists(how, error)) return "";
  return unknown_name("placement", how, placements()) +
         ", or a JSON file with the GPU of each rank";
}

}  // namespace

PerturbationSpec parse_perturbations(const JsonValue& json) {
  json.accept_keys({"slow_gpus", "degraded", "failed", "kernel_jitter", "link_jitter", "seed",
                    "repetitions", "placement"});
  PerturbationSpec spec;
  if (const auto slow = json.find("slow_gpus"))
    for (const JsonValue& item : slow->items()) {
      item.accept_keys({"gpu", "speed"});
      spec.slow_gpus.push_back(
          {GpuId(static_cast<std::int32_t>(item.at("gpu").as_integer(0, INT32_MAX))),
           item.at("speed").as_number(kLeastShare, 1)});
    }
  if (const auto degraded = json.find("degraded"))
    for (const JsonValue& item : degraded->items()) {
      item.accept_keys({"name", "factor"});
      spec.degraded.push_back(
          {item.at("name").as_string(), item.at("factor").as_number(kLeastShare, 1)});
    }
  if (const auto failed = json.find("failed"))
    for (const JsonValue& item : failed->items()) spec.failed.push_back(item.as_string());
  if (const auto jitter = json.find("kernel_jitter")) spec.kernel_jitter = jitter->as_number(0, 1);
  if (const auto jitter = json.find("link_jitter")) spec.link_jitter = jitter->as_number(0, 1);
  if (const auto seed = json.find("seed"))
    spec.seed = static_cast<std::uint64_t>(seed->as_integer(0, INT64_MAX));
  if (const auto repetitions = json.find("repetitions"))
    spec.repetitions = static_cast<int>(repetitions->as_integer(1, 10000));
  if (const auto placement = json.find("placement")) {
    spec.placement = beside(placement->place().file, placement->as_string());
    if (const std::string why = wrong_placement(spec.placement); !why.empty()) placement->fail(why);
  }
  return spec;
}

Perturbations::SlowGpu parse_slow_gpu(std::string_view text, std::string_view option) {
  const auto [name, speed] = split(text, option, "");
  int gpu = -1;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), gpu);
  if (result.ec != std::errc{} || result.ptr != name.data() + name.size() || gpu < 0)
    throw InputError({"command line", std::string(option)},
                     fmt::format("\"{}\" is not the number of a GPU; write e.g. 5=0.8", name));
  return {GpuId(gpu), speed};
}

PerturbationSpec::Degraded parse_degraded(std::string_view text, std::string_view option) {
  const auto [name, factor] = split(text, option, "; what is down: --fail NAME");
  return {std::string(name), factor};
}

PerturbedNetwork apply(const PerturbationSpec& spec, const Network& network, int ranks) {
  PerturbedNetwork result{&network, {}, {}, {}};
  result.perturbations.slow_gpus = spec.slow_gpus;
  result.perturbations.kernel_jitter = spec.kernel_jitter;
  result.perturbations.link_jitter = spec.link_jitter;
  result.perturbations.seed = spec.seed;
  for (const PerturbationSpec::Degraded& degraded : spec.degraded)
    for (const LinkId link : links_named(network, degraded.name))
      result.perturbations.links.push_back({link, degraded.factor});
  for (const std::string& name : spec.failed)
    for (const LinkId link : links_named(network, name)) {
      if (!result.without_failed) result.without_failed.emplace(network);
      result.without_failed->scale_capacity(link, 0);
    }
  if (!spec.placement.empty())
    result.gpu_of_rank = make_placement(spec.placement, ranks, network.cluster(), spec.seed);
  return result;
}

std::vector<std::string> notes_on(const PerturbationSpec& spec) {
  std::vector<std::string> notes;
  for (const std::string& name : spec.failed)
    notes.push_back(fmt::format(
        "{} is down from the start, as after a restart: collectives are laid out without it (a "
        "node uses its other NICs, in fewer rings), which can be faster than rings through a slow "
        "NIC",
        name));
  if (spec.repetitions > 1 && !spec.random())
    notes.push_back("nothing is random, so that one repetition says it all");
  return notes;
}

bool is_placement_file(std::string_view how) {
  return !how.empty() &&
         std::find(placements().begin(), placements().end(), how) == placements().end();
}

std::vector<GpuId> make_placement(std::string_view how, int ranks, const ClusterSpec& cluster,
                                  std::uint64_t seed) {
  if (ranks > cluster.gpus())
    throw InputError(fmt::format("{} ranks do not fit on the {} GPUs of cluster \"{}\"", ranks,
                                 cluster.gpus(), cluster.name));
  std::vector<GpuId> gpus;
  if (how == "packed") {
    for (int rank = 0; rank < ranks; ++rank) gpus.emplace_back(rank);
  } else if (how == "rail") {
    const int nodes = (ranks + cluster.node.gpus - 1) / cluster.node.gpus;
    for (int rank = 0; rank < ranks; ++rank)
      gpus.emplace_back(rank % nodes * cluster.node.gpus + rank / nodes);
  } else if (how == "random") {
    for (int gpu = 0; gpu < cluster.gpus(); ++gpu) gpus.emplace_back(gpu);
    std::uint64_t state = mix64(seed);
    for (std::size_t i = gpus.size(); i > 1; --i) {  // Fisher and Yates
      state = mix64(state);
      std::swap(gpus[i - 1], gpus[state % i]);
    }
    gpus.resize(static_cast<std::size_t>(ranks));
  } else {
    if (const std::string why = wrong_placement(std::string(how)); !why.empty())
      throw InputError(why);
    for (const JsonValue& gpu : JsonValue::parse_file(std::filesystem::path(how)).items())
      gpus.emplace_back(static_cast<std::int32_t>(gpu.as_integer(0, cluster.gpus() - 1)));
  }
  return gpus;
}

}  // namespace amsp
