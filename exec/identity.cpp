// SPDX-License-Identifier: Apache-2.0
#include "exec/identity.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/error.hpp"

namespace amsp {
namespace {

// Without MASTER_PORT the port is derived from the job's id, so that two jobs on one host differ:
// 20000 to 29999 lies below Linux's ephemeral ports (32768 and up).
constexpr int kFirstPort = 20000, kPorts = 10000;

int number(const std::string& name, const std::string& text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    throw InputError(Place{"environment", name},
                     fmt::format("\"{}\" is not a whole number from {} to {}", text, low, high));
  return value;
}

int required(const Environment& environment, const std::string& name, const std::string& launcher,
             int low, int high) {
  const auto text = environment(name);
  if (!text)
    throw InputError(Place{"environment", name},
                     "is missing, though other variables of " + launcher + " are set");
  return number(name, *text, low, high);
}

int optional(const Environment& environment, const std::string& name, int fallback) {
  const auto text = environment(name);
  return text ? number(name, *text, 0, 1 << 24) : fallback;
}

int port_of_job(const std::string& id) {
  unsigned hash = 2166136261U;  // FNV-1a
  for (char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return kFirstPort + static_cast<int>(hash % kPorts);
}

struct Variables {
  const char *launcher, *rank, *world, *local_rank;
};
constexpr Variables kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

void find_rank_zero(const Environment& environment, RankIdentity& self) {
  self.address = environment("MASTER_ADDR").value_or("");
  if (const auto port = environment("MASTER_PORT"))
    self.port = number("MASTER_PORT", *port, 1, 65534);
  if (self.launcher == "torchrun") {
    // torchrun's agent keeps its own store on MASTER_PORT while the ranks run.
    if (self.port != 0 && environment("TORCHELASTIC_USE_AGENT_STORE") == "True") ++self.port;
    if (self.port == 0) self.port = 29500;  // torchrun's default
  }
  if (self.launcher == "srun") {
    if (self.port == 0)
      self.port = port_of_job(environment("SLURM_JOB_ID").value_or("") + "." +
                              environment("SLURM_STEP_ID").value_or(""));
    const auto nodes = environment("SLURM_STEP_NODELIST");
    if (self.address.empty())
      self.address = first_slurm_host(nodes ? *nodes : environment("SLURM_NODELIST").value_or(""));
  }
  if (self.launcher == "mpirun") {
    if (self.port == 0)
      self.port = port_of_job(environment("PMIX_NAMESPACE")
                                  .value_or(environment("OMPI_MCA_ess_base_jobid").value_or("")));
    if (self.address.empty() &&
        optional(environment, "OMPI_COMM_WORLD_LOCAL_SIZE", 0) == self.world)
      self.address = "127.0.0.1";
  }
  if (self.address.empty())
    throw InputError(Place{"environment", "MASTER_ADDR"},
                     "is missing: name the host of rank 0 (mpirun: -x MASTER_ADDR=HOST)");
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

std::optional<RankIdentity> rank_identity(const Environment& environment) {
  for (const Variables& variables : kLaunchers) {
    if (!environment(variables.rank)) continue;
    RankIdentity self;
    self.launcher = variables.launcher;
    self.world = required(environment, variables.world, self.launcher, 1, 1 << 24);
    self.rank = Rank(required(environment, variables.rank, self.launcher, 0, self.world - 1));
    self.local_rank = optional(environment, variables.local_rank, 0);
    find_rank_zero(environment, self);
    return self;
  }
  return std::nullopt;
}

std::string first_slurm_host(const std::string& node_list) {
  const std::size_t open = node_list.find('[');
  const std::size_t comma = node_list.find(',');
  if (open == std::string::npos || comma < open) return node_list.substr(0, comma);
  const std::size_t end = node_list.find_first_of(",-]", open);
  return node_list.substr(0, open) + node_list.substr(open + 1, end - open - 1);
}

}  // namespace amsp
