// SPDX-License-Identifier: Apache-2.0
#include "exec/job_text.hpp"

#include <nlohmann/json.hpp>

#include "base/json_value.hpp"

namespace amsp {

std::string to_text(const ExecJob& job) {
  const ExecOptions& options = job.options;
  nlohmann::ordered_json json;
  json["schedule"] = nlohmann::ordered_json::parse(to_json(job.schedule));
  auto& durations = json["durations_s"] = nlohmann::ordered_json::array();
  for (Seconds duration : job.durations) durations.push_back(duration.value());
  json["backend"] = options.backend;
  json["compute"] = name_of(options.compute);
  json["warmup"] = options.warmup;
  json["steps"] = options.steps;
  json["check"] = options.check;
  json["timeout_s"] = options.timeout.value();
  return json.dump();
}

ExecJob parse_job(const std::string& text) {
  constexpr double kLongest = 1e9;  // seconds
  constexpr std::int64_t kMostSteps = 1 << 30;
  const JsonValue json = JsonValue::parse_text(text, "job");
  ExecJob job;
  job.schedule = parse_schedule(json.at("schedule"));
  for (const JsonValue& duration : json.at("durations_s").items())
    job.durations.emplace_back(duration.as_number(0, kLongest));
  job.options.backend = json.at("backend").as_string();
  job.options.compute = parse_compute_mode(json.at("compute").as_string());
  job.options.warmup = static_cast<int>(json.at("warmup").as_integer(0, kMostSteps));
  job.options.steps = static_cast<int>(json.at("steps").as_integer(1, kMostSteps));
  job.options.check = json.at("check").as_bool();
  job.options.timeout = Seconds(json.at("timeout_s").as_number(0, kLongest));
  return job;
}

}  // namespace amsp
