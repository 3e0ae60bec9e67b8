// SPDX-License-Identifier: Apache-2.0
// Tables of kernel times: GPUs without bf16, tables of several element types, and the CSV's form.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "calibrate/calibration.hpp"
#include "calibrate/kernel_calibration.hpp"
#include "calibrate/kernel_report.hpp"

using namespace amsp;

namespace {

// GEMMs at 70 % of a rate, in a CSV.
std::string table(const std::string& dtype, double rate) {
  std::string text = "kernel,m,n,k,dtype,time_s\n";
  for (const double n : {512.0, 1024.0, 2048.0, 4096.0, 8192.0})
    text += fmt::format("gemm,{0:.0f},{0:.0f},{0:.0f},{1},{2:.6e}\n", n, dtype,
                        2 * n * n * n / (0.7 * rate) + 5e-6);
  return text;
}

std::string message_of(const std::vector<KernelTime>& rows, const GpuSpec& gpu) {
  try {
    fit_kernels(rows, gpu);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a GPU without bf16 is judged by its fp16 or fp32 peak, which the file names") {
  for (const auto& [name, dtype] : {std::pair{"v100-sxm2-32gb", Dtype::fp16},
                                    {"t4", Dtype::fp16},
                                    {"k80", Dtype::fp32},
                                    {"a800-sxm4-80gb", Dtype::bf16}}) {
    INFO(name);
    const GpuSpec gpu = find_gpu_type(name).spec;
    const double peak = gpu.peak.at(dtype).value();
    const KernelCalibration fit =
        fit_kernels(read_kernel_csv(table(std::string(name_of(dtype)), peak), "k.csv"), gpu);
    CHECK(fit.peak_dtype == dtype);
    CHECK(fit.peak == gpu.peak.at(dtype));
    const KernelCalibration read =
        read_kernel_calibration(JsonValue::parse_text(to_json(fit), "written"));
    CHECK(read.peak_dtype == fit.peak_dtype);
    CHECK(read.peak == fit.peak);
    Kernel kernel;
    kernel.kind = KernelClass::gemm;
    kernel.dtype = dtype;
    kernel.m = kernel.n = kernel.k = 4096;
    const double truth = 2 * std::pow(4096.0, 3) / (0.7 * peak) + 5e-6;
    CHECK(read.surfaces.at(0).second.at(kernel).time.value() == Approx(truth).epsilon(0.05));
  }
}

TEST_CASE("a class is fitted against the peak of its own element type, also when read back") {
  const GpuSpec gpu = find_gpu_type("a800-sxm4-80gb").spec;
  const KernelCalibration fit =
      fit_kernels(read_kernel_csv(table("fp32", gpu.peak.at(Dtype::fp32).value()), "k.csv"), gpu);
  CHECK(fit.surfaces.at(0).second.peak() == gpu.peak.at(Dtype::fp32));
  const KernelCalibration read =
      read_kernel_calibration(JsonValue::parse_text(to_json(fit), "written"));
  CHECK(read.surfaces.at(0).second.peak() == gpu.peak.at(Dtype::fp32));
  CHECK(read.peak == gpu.peak.at(Dtype::bf16));
}

TEST_CASE("times of two element types in one class are refused, with the line") {
  const std::string mixed = table("bf16", 312e12) + "gemm,4096,4096,4096,fp32,1e-2\n";
  const std::string message =
      message_of(read_kernel_csv(mixed, "mixed.csv"), find_gpu_type("a800-sxm4-80gb").spec);
  CHECK(message.find("mixed.csv: line 7: is of fp32, but line 2 of mixed.csv is of bf16") !=
        std::string::npos);
}

TEST_CASE("a kernel table is known by its first column, quoted or not, after blank lines") {
  const std::string body = table("bf16", 312e12);
  CHECK(looks_like_kernel_csv(body));
  for (const std::string before : {"\n", "\r\n", "# a comment\n\n", "  \n"}) {
    CHECK(looks_like_kernel_csv(before + body));
    CHECK(read_kernel_csv(before + body, "k.csv").size() == 5);
  }
  const std::string quoted = "\"kernel\",\"m\",\"n\",\"k\",\"time_s\"\ngemm,64,64,64,1e-5\n";
  CHECK(looks_like_kernel_csv(quoted));
  CHECK(read_kernel_csv(quoted, "k.csv").size() == 1);
  CHECK_FALSE(looks_like_kernel_csv("kernel\n"));
  CHECK_FALSE(looks_like_kernel_csv("collective,gpus,time_s\n"));
}

TEST_CASE("a kernel time far from its neighbours is named, and neither they nor the curve follow") {
  const GpuSpec gpu = find_gpu_type("a800-sxm4-80gb").spec;
  const std::string smooth = table("bf16", 312e12) + table("bf16", 312e12).substr(26);
  const auto text = [&](const KernelCalibration& fit, bool all) { return kernel_report(fit, all); };
  const KernelCalibration clean = fit_kernels(read_kernel_csv(smooth, "k.csv"), gpu);
  CHECK(text(clean, false).find("outliers") == std::string::npos);

  const double truth = 2 * std::pow(4096.0, 3) / (0.7 * 312e12) + 5e-6;
  const KernelCalibration fit = fit_kernels(
      read_kernel_csv(smooth + fmt::format("gemm,4096,4096,4096,bf16,{:.6e}\n", 3 * truth),
                      "k.csv"),
      gpu);
  const std::string outliers = text(fit, false);
  INFO(outliers);
  CHECK(outliers.find("outliers (error: model / measured - 1)") != std::string::npos);
  CHECK(outliers.find("k.csv line 12") != std::string::npos);
  CHECK(outliers.find("-66.") != std::string::npos);  // a third of what was measured
  CHECK(outliers.find("trust") == outliers.rfind("trust"));
  for (int line = 2; line <= 12; ++line)
    CHECK(text(fit, true).find(fmt::format("k.csv line {}\n", line)) != std::string::npos);

  Kernel kernel;
  kernel.kind = KernelClass::gemm;
  kernel.m = kernel.n = kernel.k = 4096;
  CHECK(fit.surfaces.at(0).second.at(kernel).time.value() == Approx(truth).epsilon(0.05));
  const KernelCalibration read =
      read_kernel_calibration(JsonValue::parse_text(to_json(fit), "written"));
  CHECK(read.surfaces.at(0).second.at(kernel).time.value() ==
        Approx(fit.surfaces.at(0).second.at(kernel).time.value()));
}

TEST_CASE("of fewer than four kernel times none is left out, and the report says so") {
  const GpuSpec gpu = find_gpu_type("a800-sxm4-80gb").spec;
  const std::string whole = table("bf16", 312e12);
  for (const int rows : {1, 3, 4}) {
    std::size_t end = whole.find('\n');
    for (int i = 0; i < rows; ++i) end = whole.find('\n', end + 1);
    const std::string text =
        kernel_report(fit_kernels(read_kernel_csv(whole.substr(0, end + 1), "k.csv"), gpu), false);
    INFO(text);
    const bool few = text.find("too few to leave one out (4 or more)") != std::string::npos;
    CHECK(few == (rows < 4));
    CHECK((text.find("leave-one-out error") == std::string::npos) == few);
    CHECK(text.find(rows == 1 ? "gemm: 1 row, " : fmt::format("gemm: {} rows, ", rows)) !=
          std::string::npos);
  }
}
