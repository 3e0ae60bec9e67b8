// SPDX-License-Identifier: Apache-2.0
#include "workloads/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units_text.hpp"

namespace amsp {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;

// "4194304 tokens", "4Mi tokens", "4MTokens".
std::int64_t whole_tokens(const JsonValue& json) {
  const std::string text = json.as_string();
  double count = 0;
  try {
    count = parse_tokens(text, json.place()).value();
  } catch (const InputError&) {
    json.fail(
        fmt::format("\"{}\" is not a batch; write a number of sequences (1024) or tokens "
                    "(\"4Mi tokens\", \"4M tokens\")",
                    text));
  }
  const double whole = std::round(count);  // 0.07M are 70000.00000000001
  if (std::abs(count - whole) > 1e-15 * count || whole < 1 || whole > static_cast<double>(kLargest))
    json.fail(fmt::format("\"{}\" is not a whole number of tokens from 1 to {}", text, kLargest));
  return static_cast<std::int64_t>(whole);
}

}  // namespace

Training parse_training(const JsonValue& json) {
  json.accept_keys({"sequence_length", "micro_batch", "global_batch", "dtype", "recompute", "loss",
                    "memory_reserve"});
  Training training;
  if (const auto length = json.find("sequence_length"))
    training.sequence_length = length->as_integer(1, 1 << 26);
  if (const auto batch = json.find("micro_batch"))
    training.micro_batch = batch->as_integer(1, 1 << 20);
  if (const auto batch = json.find("global_batch")) {
    if (batch->is_string()) {
      const std::int64_t tokens = whole_tokens(*batch);
      if (tokens % training.sequence_length != 0)
        batch->fail(fmt::format(
            "{} tokens are not a whole number of sequences of {} tokens; the nearest "
            "that are: {} tokens",
            tokens, training.sequence_length, nearest_multiples(tokens, training.sequence_length)));
      training.global_batch = tokens / training.sequence_length;
    } else {
      training.global_batch = batch->as_integer(1, kLargest);
    }
  }
  if (const auto dtype = json.find("dtype")) {
    training.dtype = parse_dtype(dtype->as_string(), dtype->place());
    if (size_of(training.dtype) != Bytes(2))
      dtype->fail("mixed-precision training in bf16 or fp16 is modelled");
  }
  if (const auto recompute = json.find("recompute"))
    training.recompute =
        static_cast<Recompute>(recompute->as_one_of("recompute", recompute_names()));
  if (const auto loss = json.find("loss"))
    training.loss = static_cast<Loss>(loss->as_one_of("loss", {"fused", "plain"}));
  if (const auto reserve = json.find("memory_reserve"))
    training.memory_reserve = reserve->as_bytes();
  if (training.memory_reserve < Bytes(0))
    json.at("memory_reserve").fail("the memory reserve cannot be negative");
  return training;
}

std::vector<std::string> recompute_names() { return {"none", "selective", "full"}; }

std::string_view name_of(Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return "none";
    case Recompute::selective:
      return "selective";
    case Recompute::full:
      return "full";
  }
  return "";
}

std::string nearest_multiples(std::int64_t value, std::int64_t unit) {
  const std::int64_t below = value / unit * unit;
  return below > 0 ? fmt::format("{} or {}", below, below + unit) : fmt::format("{}", unit);
}

std::int64_t micro_batches(const Training& training, int data_parallel_ranks) {
  const std::int64_t wave = training.micro_batch * data_parallel_ranks;
  if (training.global_batch % wave == 0) return training.global_batch / wave;
  throw InputError(fmt::format(
      "a global batch of {} sequences cannot be shared evenly by {} GPUs with micro-batches of {}; "
      "a multiple of {} would do, such as {}",
      training.global_batch, data_parallel_ranks, training.micro_batch, wave,
      nearest_multiples(training.global_batch, wave)));
}

}  // namespace amsp
