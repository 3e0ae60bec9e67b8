// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/log_names.hpp"

#include <array>
#include <cctype>
#include <utility>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/table_row.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

struct NamePair {
  std::string_view written;  // lower case, letters and digits only
  std::string_view name;
};
constexpr std::array<NamePair, 3> kProtocols{
    {{"ll", "LL"}, {"ll128", "LL128"}, {"simple", "Simple"}}};

std::string letters_and_digits(std::string_view word) {
  std::string result;
  for (const char c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <std::size_t N>
std::string_view find_name(const std::array<NamePair, N>& names, std::string_view word) {
  if (word.size() > 24) return {};
  const std::string wanted = letters_and_digits(word);
  for (const NamePair& pair : names)
    if (pair.written == wanted) return pair.name;
  return {};
}

// The algorithm that a word means, and its name.
std::pair<std::optional<Algorithm>, std::string_view> find_algorithm(std::string_view word) {
  if (word.size() > 24) return {};
  const std::string written = letters_and_digits(word);
  for (const Algorithm algorithm : nccl_algorithms()) {
    const std::string_view name = algorithm->name_in_logs(written);
    if (!name.empty()) return {algorithm, name};
  }
  return {};
}

struct KindName {
  std::string_view written;
  CollectiveKind kind;
};
constexpr std::array<KindName, 9> kKinds{{{"allreduce", CollectiveKind::all_reduce},
                                          {"allgather", CollectiveKind::all_gather},
                                          {"reducescatter", CollectiveKind::reduce_scatter},
                                          {"broadcast", CollectiveKind::broadcast},
                                          {"reduce", CollectiveKind::reduce},
                                          {"alltoall", CollectiveKind::all_to_all},
                                          {"sendrecv", CollectiveKind::send_recv},
                                          {"scatter", CollectiveKind::scatter},
                                          {"gather", CollectiveKind::gather}}};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::optional<Algorithm> algorithm_named(std::string_view word) {
  return find_algorithm(word).first;
}

std::string algorithm_name(std::string_view word) {
  const std::string_view name = find_algorithm(word).second;
  return name.empty() ? to_lower(word.substr(0, 24)) : std::string(name);
}

std::string protocol_name(std::string_view word) {
  const std::string_view name = find_name(kProtocols, word);
  return std::string(name.empty() ? word.substr(0, 24) : name);
}

bool is_algorithm(std::string_view word) { return find_algorithm(word).first.has_value(); }
bool is_protocol(std::string_view word) { return !find_name(kProtocols, word).empty(); }

std::optional<CollectiveKind> collective_named(std::string_view word) {
  const std::size_t slash = word.find_last_of("/\\");
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (word.size() > 40) return std::nullopt;
  const std::size_t perf = word.find("_perf");
  std::string wanted = letters_and_digits(word.substr(0, perf));
  for (const std::string_view prefix : {"nccl", "rccl"})
    if (wanted.compare(0, 4, prefix) == 0) wanted.erase(0, 4);
  if (wanted.size() > 4 && wanted.compare(wanted.size() - 4, 4, "test") == 0)
    wanted.erase(wanted.size() - 4);
  if (wanted == "bcast") wanted = "broadcast";
  for (const KindName& name : kKinds)
    if (name.written == wanted) return name.kind;
  return std::nullopt;
}

std::string_view test_program(std::string_view line) {
  for (std::size_t at = line.find("_perf"); at != std::string_view::npos;
       at = line.find("_perf", at + 5)) {
    std::size_t begin = at;
    while (begin > 0 && is_word_character(line[begin - 1])) --begin;
    std::size_t end = at + 5;
    while (end < line.size() && is_word_character(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    if (collective_named(word) || contains(word, "hypercube") || contains(word, "alltoallv"))
      return word;
  }
  return {};
}

std::string version_of_code(long long code) {
  // nccl.h: X*1000+Y*100+Z up to 2.8, X*10000+Y*100+Z from 2.9 on.
  const long long major_unit = code < 10000 ? 1000 : 10000;
  if (code < 1000 || code > 999999) return "";
  return std::to_string(code / major_unit) + "." + std::to_string(code % major_unit / 100) + "." +
         std::to_string(code % 100);
}

std::optional<Dtype> log_dtype(std::string_view word) {
  struct TypeName {
    std::string_view written;
    Dtype dtype;
  };
  // nccl-tests of every age, rccl-tests and PyTorch; unsigned types are as wide as the signed ones.
  static constexpr std::array<TypeName, 26> kTypes{
      {{"float", Dtype::fp32},    {"half", Dtype::fp16},    {"double", Dtype::fp64},
       {"bfloat16", Dtype::bf16}, {"int8", Dtype::int8},    {"uint8", Dtype::uint8},
       {"int32", Dtype::int32},   {"uint32", Dtype::int32}, {"int64", Dtype::int64},
       {"uint64", Dtype::int64},  {"char", Dtype::int8},    {"int", Dtype::int32},
       {"f8e4m3", Dtype::fp8},    {"f8e5m2", Dtype::fp8},   {"fp8_e4m3", Dtype::fp8},
       {"fp8_e5m2", Dtype::fp8},  {"fp8", Dtype::fp8},      {"float8", Dtype::fp8},
       {"bf16", Dtype::bf16},     {"fp16", Dtype::fp16},    {"fp32", Dtype::fp32},
       {"fp64", Dtype::fp64},     {"float16", Dtype::fp16}, {"float32", Dtype::fp32},
       {"float64", Dtype::fp64},  {"bool", Dtype::uint8}}};
  for (const TypeName& type : kTypes)
    if (type.written == word) return type.dtype;
  return std::nullopt;
}

}  // namespace amsp
