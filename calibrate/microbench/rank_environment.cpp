// SPDX-License-Identifier: Apache-2.0
#include "calibrate/microbench/rank_environment.hpp"

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"

namespace amsp::bench {
namespace {

std::optional<int> number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 0 || value > 1 << 24) {
    throw InputError(std::string(name) + " is \"" + text + "\", not a rank or a number of ranks");
  }
  return static_cast<int>(value);
}

std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

struct Launcher {
  const char *rank, *size, *local_rank, *local_size;
  const char *job, *step;  // its name of the run
};

}  // namespace

RankEnvironment rank_environment() {
  const Launcher launchers[] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID", ""},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID",
       "SLURM_STEP_ID"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
       "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", ""}};
  for (const Launcher& launcher : launchers) {
    const auto rank = number(launcher.rank);
    const auto size = number(launcher.size);
    if (!rank || !size) continue;
    if (*rank >= *size)
      throw InputError(std::string(launcher.rank) + " is not below " + launcher.size);
    RankEnvironment here{*rank, *size, number(launcher.local_rank).value_or(0),
                         number(launcher.local_size), text_of(launcher.job)};
    if (here.local_size && (*here.local_size < 1 || here.local_rank >= *here.local_size))
      throw InputError(std::string(launcher.local_rank) + " is not below " + launcher.local_size);
    if (const std::string step = text_of(launcher.step); !step.empty()) here.job += "-" + step;
    return here;
  }
  return {0, 1, 0, 1, ""};
}

std::filesystem::path id_file(const std::string& file, const RankEnvironment& here,
                              const std::string& name) {
  std::string job = here.job;
  for (char& c : job)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return file + (job.empty() ? "" : "." + job) + "." + name;
}

ncclUniqueId shared_id(const std::filesystem::path& path, bool creator) {
  ncclUniqueId id{};
  if (creator) {
    if (ncclGetUniqueId(&id) != ncclSuccess) throw std::runtime_error("ncclGetUniqueId failed");
    write_file(path, std::string_view(id.internal, sizeof id.internal));
    return id;
  }
  for (int tenths = 0; tenths < 1200; ++tenths) {
    std::error_code ignored;
    if (std::filesystem::file_size(path, ignored) == sizeof id.internal && !ignored) {
      const std::string text = read_file(path);
      std::memcpy(id.internal, text.data(), sizeof id.internal);
      return id;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw InputError({path.string(), ""}, "rank 0 has not written NCCL's id here within two minutes");
}

}  // namespace amsp::bench
