// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kernel_calibration.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "base/units_text.hpp"
#include "calibrate/kernel_defaults.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

constexpr KernelClass measured_classes[] = {KernelClass::gemm, KernelClass::attention_forward,
                                            KernelClass::attention_backward};

Json row_json(const KernelTime& row, double trust) {
  const Kernel& k = row.kernel;
  Json json;
  if (k.kind == KernelClass::gemm) {
    json["m"] = k.m;
    json["n"] = k.n;
    json["k"] = k.k;
  } else {
    json["sequences"] = k.sequences;
    json["sequence_length"] = k.sequence_length;
    json["heads"] = k.heads;
    json["kv_heads"] = k.kv_heads;
    json["head_dim"] = k.head_dim;
  }
  json["dtype"] = name_of(k.dtype);
  json["time"] = to_text(row.time);
  if (trust <= kernel_outlier) json["trust"] = trust;
  return json;
}

KernelTime read_row(const JsonValue& json, KernelClass kind) {
  KernelTime row;
  row.kernel.kind = kind;
  const auto whole = [&](const char* key) { return json.at(key).as_integer(1, 1'000'000'000'000); };
  if (kind == KernelClass::gemm) {
    json.accept_keys({"m", "n", "k", "dtype", "time", "trust"});
    row.kernel.m = whole("m");
    row.kernel.n = whole("n");
    row.kernel.k = whole("k");
  } else {
    json.accept_keys({"sequences", "sequence_length", "heads", "kv_heads", "head_dim", "dtype",
                      "time", "trust"});
    row.kernel.sequences = whole("sequences");
    row.kernel.sequence_length = whole("sequence_length");
    row.kernel.heads = whole("heads");
    row.kernel.kv_heads = whole("kv_heads");
    row.kernel.head_dim = whole("head_dim");
  }
  row.kernel.dtype = parse_dtype(json.at("dtype").as_string(), json.at("dtype").place());
  row.time = json.at("time").as_seconds();
  if (!(row.time > Seconds(0))) json.at("time").fail("must be above zero");
  if (const auto trust = json.find("trust")) row.trust = trust->as_number(1e-6, 1);
  return row;
}

FlopRate positive_rate(const JsonValue& json) {
  const FlopRate rate = json.as_flop_rate();
  if (!(rate > FlopRate(0))) json.fail("must be above zero");
  return rate;
}

Json surface_json(const KernelSurface& surface) {
  Json json;
  for (const auto& parameter : surface.parameters()) {
    Json value;
    if (parameter.name == "floor") {
      value = to_text(Seconds(parameter.value));
    } else if (parameter.name == "rate") {
      value = to_text(FlopRate(parameter.value));
    } else {
      value = parameter.value;
    }
    json["parameters"][parameter.name] = {{"value", value},
                                          {"relative_error", parameter.relative_error}};
  }
  const Kernel3& kernel = surface.correction().kernel();
  json["correction"] = {
      {"length", kernel.length}, {"amplitude", kernel.amplitude}, {"noise", kernel.noise}};
  return json;
}

// The element type that a GPU is judged by: the first of these that its data sheet has.
std::pair<Dtype, FlopRate> main_peak(const GpuSpec& gpu) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::fp32}) {
    const auto peak = gpu.peak.find(dtype);
    if (peak != gpu.peak.end()) return *peak;
  }
  throw InputError("GPU " + gpu.name + " has no peak of bf16, fp16 or fp32");
}

// One surface is of one element type.
void check_one_dtype(const std::vector<KernelTime>& rows) {
  const KernelTime& first = rows.front();
  for (const KernelTime& row : rows) {
    if (row.kernel.dtype == first.kernel.dtype) continue;
    throw InputError({row.source, row.place},
                     fmt::format("is of {}, but {} of {} is of {}; the {} times of one calibration "
                                 "are of one element type",
                                 name_of(row.kernel.dtype), first.place, first.source,
                                 name_of(first.kernel.dtype), name_of(first.kernel.kind)));
  }
}

}  // namespace

KernelCalibration fit_kernels(const std::vector<KernelTime>& rows, const GpuSpec& gpu) {
  KernelCalibration kernels;
  kernels.gpu = gpu.name;
  std::tie(kernels.peak_dtype, kernels.peak) = main_peak(gpu);
  for (const KernelClass kind : measured_classes) {
    std::vector<KernelTime> of_kind;
    for (const KernelTime& row : rows) {
      if (row.kernel.kind == kind) of_kind.push_back(row);
    }
    if (of_kind.empty()) continue;
    check_one_dtype(of_kind);
    const auto own = gpu.peak.find(of_kind.front().kernel.dtype);
    kernels.surfaces.emplace_back(
        kind,
        KernelSurface::fit(std::move(of_kind), own == gpu.peak.end() ? kernels.peak : own->second));
  }
  kernels.hbm_share = default_hbm_share;
  kernels.hbm_origin = default_hbm_origin;
  kernels.launch = default_launch;
  kernels.launch_origin = default_launch_origin;
  return kernels;
}

std::string to_json(const KernelCalibration& kernels) {
  Json json;
  json["gpu"] = kernels.gpu;
  json["peak"] = to_text(kernels.peak);
  if (kernels.peak_dtype != Dtype::bf16) json["peak_dtype"] = name_of(kernels.peak_dtype);
  json["hbm_share"] = {{"value", kernels.hbm_share}, {"origin", kernels.hbm_origin}};
  json["launch"] = {{"value", to_text(kernels.launch)}, {"origin", kernels.launch_origin}};
  json["classes"] = Json::object();
  for (const auto& [kind, surface] : kernels.surfaces) {
    Json entry;
    if (surface.peak() != kernels.peak) entry["peak"] = to_text(surface.peak());
    entry["surface"] = surface_json(surface);
    entry["rows"] = Json::array();
    for (std::size_t i = 0; i < surface.rows().size(); ++i) {
      entry["rows"].push_back(row_json(surface.rows()[i], surface.trust()[i]));
    }
    json["classes"][std::string(name_of(kind))] = std::move(entry);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

KernelCalibration read_kernel_calibration(const JsonValue& json) {
  json.accept_keys({"gpu", "peak", "peak_dtype", "hbm_share", "launch", "classes"});
  KernelCalibration kernels;
  kernels.gpu = json.at("gpu").as_string();
  kernels.peak = positive_rate(json.at("peak"));
  if (const auto dtype = json.find("peak_dtype"))
    kernels.peak_dtype = parse_dtype(dtype->as_string(), dtype->place());
  const JsonValue share = json.at("hbm_share");
  share.accept_keys({"value", "origin"});
  kernels.hbm_share = share.at("value").as_number(0.01, 1.0);
  kernels.hbm_origin = share.at("origin").as_string();
  const JsonValue launch = json.at("launch");
  launch.accept_keys({"value", "origin"});
  kernels.launch = launch.at("value").as_seconds();
  kernels.launch_origin = launch.at("origin").as_string();
  for (const auto& [name, entry] : json.at("classes").members()) {
    const KernelClass kind = parse_kernel_class(name, entry.place());
    if (kind != KernelClass::gemm && kind != KernelClass::attention_forward &&
        kind != KernelClass::attention_backward) {
      entry.fail("only gemm, attention_forward and attention_backward have tables");
    }
    entry.accept_keys({"peak", "surface", "rows"});
    const auto own = entry.find("peak");
    std::vector<KernelTime> rows;
    for (const JsonValue& row : entry.at("rows").items()) rows.push_back(read_row(row, kind));
    if (rows.empty()) entry.at("rows").fail("is empty");
    kernels.surfaces.emplace_back(
        kind, KernelSurface::read(std::move(rows), own ? positive_rate(*own) : kernels.peak,
                                  entry.at("surface")));
  }
  return kernels;
}

}  // namespace amsp
