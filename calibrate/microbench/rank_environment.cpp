// SPDX-License-Identifier: Apache-2.0
#include "calibrate/microbench/rank_environment.hpp"

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

}  // namespace

RankEnvironment rank_environment() {
  const char* sets[][3] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"}};
  for (const auto& names : sets) {
    const auto rank = number(names[0]);
    const auto size = number(names[1]);
    if (!rank || !size) continue;
    if (*rank >= *size) throw InputError(std::string(names[0]) + " is not below " + names[1]);
    return {*rank, *size, number(names[2]).value_or(0)};
  }
  return {};
}

ncclUniqueId shared_id(const std::string& file, const std::string& name, bool creator) {
  const std::filesystem::path path = file + "." + name;
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
