// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/run_facts.hpp"

#include <algorithm>
#include <cctype>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/log_names.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostDevices = 1U << 20U;
constexpr std::size_t kMostHosts = 1U << 16U;
constexpr std::int64_t kMostRanks = 10'000'000;

std::optional<int> small_number(std::string_view word) {
  const auto value = parse_whole_number(word);
  if (!value || *value > kMostRanks) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<int> number_after(std::string_view text, std::string_view mark) {
  std::string_view word = word_after(text, mark);
  while (!word.empty() && (word.back() == ',' || word.back() == ')')) word.remove_suffix(1);
  return small_number(word);
}

void set_if_empty(std::string& value, std::string_view found) {
  if (value.empty()) value = std::string(found.substr(0, 80));
}

// The digits and dots at the front: "2.16.5+cuda11.8" → "2.16.5".
std::string_view version_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
                               (text[end] == '.' && end > 0)))
    ++end;
  while (end > 0 && text[end - 1] == '.') --end;
  const std::string_view version = text.substr(0, end);
  return contains(version, ".") ? version : std::string_view{};
}

void take_version(std::string_view text, RunFacts& facts) {
  for (const std::string_view library : {"NCCL", "RCCL"}) {
    const std::string mark = std::string(library) + " version";
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view rest = text.substr(at + mark.size());
    const std::size_t begin = rest.find_first_not_of(" :=\t");
    if (begin == std::string_view::npos) continue;
    const std::string_view version = version_at(rest.substr(begin));
    if (version.empty() || version.size() > 20) continue;
    facts.library = library;
    facts.library_version = version;
  }
  const std::string_view code = word_after(text, "nccl-library=");
  if (const auto number = parse_whole_number(code)) {
    set_if_empty(facts.library, "NCCL");
    facts.header_version = version_of_code(*number);
  }
  if (contains(text, "rccl-tests")) set_if_empty(facts.library, "RCCL");
  if (contains(text, "MSCCL++")) set_if_empty(facts.library, "MSCCL++");
}

// "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB ib0:…"
void take_nics(std::string_view text, RunFacts& facts) {
  const std::size_t at = text.find(" : Using [");
  if (at == std::string_view::npos || !contains(text, "NET/")) return;
  int seen = 0;
  const Words words = split_words(text.substr(at + 9));
  for (std::size_t i = 0; i < words.size; ++i) {
    const std::size_t close = words[i].find(']');
    if (words[i][0] != '[' || close == std::string_view::npos) continue;
    std::string_view nic = words[i].substr(close + 1);
    nic = nic.substr(0, nic.find('<'));
    if (nic.empty() || nic == ";") continue;
    ++seen;
    std::string name(nic.substr(0, 60));
    if (facts.nics.size() < 64 &&
        std::find(facts.nics.begin(), facts.nics.end(), name) == facts.nics.end())
      facts.nics.push_back(std::move(name));
  }
  if (seen > 0) facts.nics_per_node = std::max(facts.nics_per_node.value_or(0), seen);
}

// "NCCL_ALGO=Ring", "NCCL_ALGO set by environment to Ring"; a list or an exclusion forces nothing.
void take_forced(std::string_view text, std::string_view variable, bool (*known)(std::string_view),
                 std::string (*name)(std::string_view), std::string& forced) {
  const std::size_t at = text.find(variable);
  if (at == std::string_view::npos) return;
  std::string_view rest = text.substr(at + variable.size());
  std::string_view value;
  if (!rest.empty() && rest[0] == '=') {
    value = rest.substr(1, 40);
    value = value.substr(0, value.find_first_of(" \t;&\\"));
  } else {
    value = word_after(rest.substr(0, 60), "set by environment to ");
  }
  while (!value.empty() && contains("'\".", value.substr(value.size() - 1))) value.remove_suffix(1);
  while (!value.empty() && contains("'\"", value.substr(0, 1))) value.remove_prefix(1);
  if (known(value)) forced = name(value);
}

void take_launcher(std::string_view text, RunFacts& facts) {
  for (const std::string_view mark : {"SLURM_NTASKS=", "SLURM_NPROCS=", "WORLD_SIZE="})
    if (const auto ranks = number_after(text, mark)) facts.launched_ranks = ranks;
  if (!contains(text, "mpirun") && !contains(text, "mpiexec") && !contains(text, "srun")) return;
  for (const std::string_view mark : {" -np ", " --np ", " -n ", " --ntasks=", " --ntasks "}) {
    const std::string_view launcher = text.substr(0, text.find("_perf"));
    if (const auto ranks = number_after(launcher, mark)) facts.launched_ranks = ranks;
  }
}

void take_failure(std::string_view text, RunFacts& facts) {
  if (!facts.failure.empty()) return;
  for (const std::string_view mark :
       {"Test NCCL failure", "Test CUDA failure", "Test HIP failure", "Test timeout",
        "Test failure", "srun: error", "slurmstepd: error", "mpirun noticed", "mpirun detected",
        "unhandled cuda error", "unhandled system error", "Segmentation fault", "start failed on",
        "PMIX ERROR", "# error:"})
    if (contains(text, mark)) {
      facts.failure = printable(trim(text));
      return;
    }
}

void take_info(std::string_view noise, RunFacts& facts) {
  const auto take = [&](std::string_view mark, std::optional<int>& value) {
    const auto number = number_after(noise, mark);
    if (number && *number > 0) value = number;
  };
  take("nranks ", facts.info_ranks);
  take("nRanks ", facts.info_ranks);
  take("nNodes ", facts.info_nodes);
  take("localRanks ", facts.info_local_ranks);
  take_nics(noise, facts);
  const std::string_view network = word_after(noise, "Using network ");
  if (!network.empty()) {
    const std::size_t at = noise.find("Using network ") + 14;
    facts.network = printable(trim(noise.substr(at).substr(0, 40)));
  }
  if (contains(noise, "NET/OFI") && contains(noise, "(found "))
    if (const auto nics = number_after(noise, "(found ")) facts.nics_per_node = nics;
  const std::size_t colon = noise.find(':');
  const std::size_t space = noise.find(' ');
  if (colon != std::string_view::npos && space != std::string_view::npos && colon < space &&
      colon > 0 && colon < 64 && facts.info_hosts.size() < kMostHosts)
    facts.info_hosts.emplace(noise.substr(0, colon));
  const std::size_t op = noise.find(": opCount");
  if (op != std::string_view::npos && facts.info_test.empty()) {
    const std::size_t begin = noise.find_last_of(' ', op);
    const std::string_view word = noise.substr(begin == std::string_view::npos ? 0 : begin + 1);
    const std::string_view name = word.substr(0, word.find(':'));
    if (collective_named(name)) facts.info_test = name;
  }
}

}  // namespace

void take_device(DeviceLine device, RunFacts& facts) {
  facts.devices_open_end = false;
  if (facts.devices.size() < kMostDevices) facts.devices.push_back(std::move(device));
}

bool take_device_line(std::string_view cleaned, RunFacts& facts) {
  const std::size_t at = cleaned.find("Rank ");
  if (at == std::string_view::npos || !contains(cleaned, "device")) return false;
  const std::string_view text = cleaned.substr(at);
  const auto rank = number_after(text, "Rank ");
  const bool stated = contains(text, "Pid") || contains(text, " on ") || contains(text, " uses ");
  if (!rank || !stated) return false;
  DeviceLine device;
  device.rank = *rank;
  device.group = number_after(text, "Group ").value_or(0);
  device.host = word_after(text, " on ");
  device.device = number_after(text, "device ");
  const std::size_t close = text.find(']');
  if (close != std::string_view::npos) device.name = trim(text.substr(close + 1).substr(0, 80));
  take_device(std::move(device), facts);
  return true;
}

void take_fact_line(std::string_view cleaned, std::size_t line, RunFacts& facts) {
  const NoiseSplit split = split_nccl_noise(cleaned);
  take_version(cleaned, facts);
  take_forced(cleaned, "NCCL_ALGO", is_algorithm, algorithm_name, facts.algorithm);
  take_forced(cleaned, "NCCL_PROTO", is_protocol, protocol_name, facts.protocol);
  take_failure(cleaned, facts);
  if (!split.noise.empty()) {
    take_info(split.noise, facts);
    take_tuning_line(split.noise, line, facts);
    return;
  }
  if (contains(cleaned, "Collective test")) {
    set_if_empty(facts.stated_test, word_after(cleaned, "starting: "));
    set_if_empty(facts.stated_test, word_after(cleaned, "concluded: "));
    return;
  }
  if (contains(cleaned, "nThread")) {
    facts.threads = number_after(cleaned, "nThread ");
    facts.gpus_a_process = number_after(cleaned, "nGpus ");
    return;
  }
  const std::string_view program = test_program(cleaned);
  if (!program.empty()) facts.command_test = program;
  take_launcher(cleaned, facts);
}

}  // namespace amsp
