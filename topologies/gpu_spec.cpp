// SPDX-License-Identifier: Apache-2.0
#include "topologies/gpu_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <mutex>

#include "base/file.hpp"

namespace amsp {
namespace {

constexpr std::string_view kFolder = "topologies/gpus";

std::map<Dtype, FlopRate> parse_rates(const JsonValue& json) {
  std::map<Dtype, FlopRate> rates;
  for (const auto& [key, value] : json.members()) {
    const FlopRate rate = value.as_flop_rate();
    if (rate <= FlopRate(0)) value.fail("a rate must be positive");
    rates[parse_dtype(key, value.place())] = rate;
  }
  if (rates.empty()) json.fail("needs a rate for at least one element type, e.g. \"bf16\"");
  return rates;
}

// Measured rates: each of a type that has a peak, and not above it.
std::map<Dtype, FlopRate> parse_achievable(const JsonValue& json, const GpuSpec& gpu) {
  const std::map<Dtype, FlopRate> rates = parse_rates(json);
  for (const auto& [dtype, rate] : rates) {
    const auto peak = gpu.peak.find(dtype);
    if (peak == gpu.peak.end() || rate > peak->second)
      json.fail(
          fmt::format("{}: an achievable rate needs a peak that is not below it", name_of(dtype)));
  }
  return rates;
}

// Not above the peak of 16-bit types, and both given.
AttentionRates parse_attention(const JsonValue& json, const GpuSpec& gpu) {
  json.accept_keys({"forward", "backward"});
  const auto rate = [&](std::string_view key) {
    const FlopRate value = json.at(key).as_flop_rate();
    if (value <= FlopRate(0)) json.at(key).fail("a rate must be positive");
    auto peak = gpu.peak.find(Dtype::bf16);
    if (peak == gpu.peak.end()) peak = gpu.peak.find(Dtype::fp16);
    if (peak == gpu.peak.end() || value > peak->second)
      json.at(key).fail("an attention rate needs a bf16 or fp16 peak that is not below it");
    return value;
  };
  return {rate("forward"), rate("backward")};
}

GpuSpec parse_spec(const JsonValue& json) {
  GpuSpec gpu;
  gpu.name = json.at("name").as_string();
  gpu.memory = json.at("memory").as_bytes();
  gpu.hbm = json.at("hbm").as_bandwidth();
  gpu.peak = parse_rates(json.at("peak"));
  if (const auto rates = json.find("achievable")) gpu.achievable = parse_achievable(*rates, gpu);
  if (const auto rates = json.find("achievable_attention"))
    gpu.attention = parse_attention(*rates, gpu);
  gpu.multiprocessors = static_cast<int>(json.at("multiprocessors").as_integer(1, 100000));
  if (gpu.memory <= Bytes(0)) json.at("memory").fail("memory must be positive");
  if (gpu.hbm <= Bandwidth(0)) json.at("hbm").fail("the memory rate must be positive");
  return gpu;
}

std::vector<std::string> parse_strings(const JsonValue& json) {
  std::vector<std::string> strings;
  for (const JsonValue& item : json.items()) strings.push_back(item.as_string());
  return strings;
}

std::filesystem::path file_of(std::string_view stem) {
  return data_folder(kFolder) / fmt::format("{}.json", stem);
}

bool is_plain_stem(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-';
  });
}

GpuType read_type(const std::filesystem::path& file) {
  const JsonValue json = JsonValue::parse_file(file);
  json.accept_keys({"name", "aliases", "sources", "memory", "hbm", "peak", "achievable",
                    "achievable_attention", "multiprocessors", "architecture", "pci_devices",
                    "typical", "nvlinks", "nvlink_rate", "pcie_rate"});
  GpuType type;
  type.spec = parse_spec(json);
  type.aliases = parse_strings(json.at("aliases"));
  type.sources = parse_strings(json.at("sources"));
  type.architecture = json.at("architecture").as_string();
  type.pci_devices = parse_strings(json.at("pci_devices"));
  type.typical = json.at("typical").as_bool();
  type.nvlinks = static_cast<int>(json.at("nvlinks").as_integer(0, 1000));
  if (type.nvlinks > 0) type.nvlink_rate = json.at("nvlink_rate").as_bandwidth();
  type.pcie_rate = json.at("pcie_rate").as_bandwidth();
  return type;
}

// Each file is read once in a process: planners load a cluster for every candidate.
GpuType load_type(std::string_view stem) {
  static std::mutex guard;
  static std::map<std::filesystem::path, GpuType> known;
  const std::filesystem::path file = file_of(stem);
  const std::lock_guard<std::mutex> lock(guard);
  const auto entry = known.find(file);
  return entry != known.end() ? entry->second : known.emplace(file, read_type(file)).first->second;
}

std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.starts_with("nvidia") && text.size() > 6) text.erase(0, 6);
  return text;
}

// "NVIDIA GeForce RTX 4070 Ti" → "rtx-4090": the types whose names begin most alike, at most four.
std::vector<std::string> begins_alike(const std::string& wanted,
                                      const std::vector<std::string>& stems) {
  constexpr std::size_t kFewest = 2, kMost = 4;
  std::vector<std::string> best;
  std::size_t longest = kFewest;
  for (const std::string& stem : stems) {
    const GpuType type = load_type(stem);
    std::vector<std::string> names = type.aliases;
    names.insert(names.end(), {stem, type.spec.name});
    std::size_t common = 0;
    for (const std::string& name : names) {
      const std::string other = folded(name);
      const auto end = std::mismatch(wanted.begin(), wanted.end(), other.begin(), other.end());
      common = std::max(common, static_cast<std::size_t>(end.first - wanted.begin()));
    }
    if (common > longest) best.clear();
    longest = std::max(longest, common);
    if (common == longest && best.size() < kMost) best.push_back(stem);
  }
  return best;
}

}  // namespace

std::vector<std::string> gpu_type_names() { return data_names(kFolder); }

std::vector<GpuType> gpu_types() {
  std::vector<GpuType> types;
  for (const std::string& stem : gpu_type_names()) types.push_back(load_type(stem));
  return types;
}

GpuType find_gpu_type(std::string_view name, const Place& place) {
  // Cluster files and importers name the file itself: no need to look at the others.
  if (is_plain_stem(name) && std::filesystem::exists(file_of(name))) return load_type(name);
  const std::string wanted = folded(name);
  const std::vector<std::string> stems = gpu_type_names();
  for (const std::string& stem : stems)
    if (folded(stem) == wanted) return load_type(stem);
  for (const std::string& stem : stems) {
    const GpuType type = load_type(stem);
    if (folded(type.spec.name) == wanted) return type;
    for (const std::string& alias : type.aliases)
      if (folded(alias) == wanted) return type;
  }
  std::string message = unknown_name("GPU type", name, stems);
  if (const auto alike = begins_alike(wanted, stems); !alike.empty())
    message += fmt::format("; nearest by name: {}", fmt::join(alike, ", "));
  throw InputError(place, message);
}

GpuSpec parse_gpu(const JsonValue& json) {
  if (json.is_string()) return find_gpu_type(json.as_string(), json.place()).spec;
  json.accept_keys(
      {"name", "memory", "hbm", "peak", "achievable", "achievable_attention", "multiprocessors"});
  return parse_spec(json);
}

}  // namespace amsp
