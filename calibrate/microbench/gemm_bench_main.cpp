// SPDX-License-Identifier: Apache-2.0
// gemm-bench: times of bf16 GEMMs (forward shape m x n x k of every Linear of a model, and the two
// shapes of its backward pass) and of an element-wise kernel, as CSV that `amsp calibrate` reads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>
#include <vector>

#include "base/median.hpp"
#include "calibrate/microbench/device.hpp"
#include "calibrate/microbench/stream_kernels.hpp"

namespace amsp::bench {
namespace {

struct Shape {
  int m, n, k;
  auto operator<=>(const Shape&) const = default;
};

struct Settings {
  std::vector<int> tokens{1024, 2048, 4096, 8192};
  std::vector<int> hidden{2048, 4096, 5120, 6144, 8192};
  std::vector<std::pair<int, int>> weights;  // more (out, in) shapes
  int repetitions = 20;
  int warm_up = 5;
  long long elements = 1LL << 28;
};

// Median of several measurements of one launch; caches hold nothing of use between launches that
// touch more than they hold.
template <class Launch>
Seconds median_time(const Settings& settings, const DeviceStream& stream, const Launch& launch) {
  for (int i = 0; i < settings.warm_up; ++i) launch();
  Stopwatch watch;
  std::vector<Seconds> times;
  for (int i = 0; i < settings.repetitions; ++i) {
    watch.start(stream);
    launch();
    watch.stop(stream);
    times.push_back(watch.elapsed());
  }
  return median(times);
}

std::set<Shape> shapes_of(const Settings& settings) {
  std::set<Shape> shapes;
  auto weights = settings.weights;
  for (const int h : settings.hidden) weights.emplace_back(h, h);
  for (const int tokens : settings.tokens) {
    for (const auto& [out, in] : weights) {
      shapes.insert({tokens, out, in});  // forward
      shapes.insert({tokens, in, out});  // gradient of the input
      shapes.insert({out, in, tokens});  // gradient of the weights
    }
  }
  return shapes;
}

void measure(const Settings& settings) {
  device_count();
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  fmt::print("# gemm-bench on {}, {} repetitions, median\n", properties.name, settings.repetitions);
  const DeviceStream stream;
  const auto count = static_cast<std::size_t>(settings.elements) / 4 * 4;
  {
    const Buffer out(4 * count), a(4 * count), b(4 * count);
    const Seconds time = median_time(settings, stream, [&] {
      launch_triad(out.as<float>(), a.as<float>(), b.as<float>(), 2.0F, count, stream.get());
    });
    const double rate = 12.0 * static_cast<double>(count) / time.value() / 1e9;
    fmt::print("# element-wise (triad): {:.1f} GB/s over {} elements\n", rate, count);
  }
  fmt::print("kernel,m,n,k,dtype,time_s\n");
  for (const Shape& shape : shapes_of(settings)) {
    Gemm gemm(shape.m, shape.n, shape.k);
    const Seconds time = median_time(settings, stream, [&] { gemm.launch(stream); });
    fmt::print("gemm,{},{},{},bf16,{:.6e}\n", shape.m, shape.n, shape.k, time.value());
  }
}

std::pair<int, int> parse_weight(const std::string& text) {
  int out = 0, in = 0;
  char x = 0, end = 0;
  if (std::sscanf(text.c_str(), "%d%c%d%c", &out, &x, &in, &end) != 3 || x != 'x' || out < 1 ||
      in < 1) {
    throw InputError("--weights takes shapes such as 11008x4096, not \"" + text + "\"");
  }
  return {out, in};
}

}  // namespace
}  // namespace amsp::bench

int main(int argc, char** argv) {
  amsp::bench::Settings settings;
  std::vector<std::string> weights;
  CLI::App app("Times of GEMMs and of an element-wise kernel on the first GPU, as CSV");
  app.add_option("--tokens", settings.tokens, "rows of the activations")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--hidden", settings.hidden, "square weights")->check(CLI::Range(1, 1 << 17));
  app.add_option("--weights", weights, "more weights, OUTxIN");
  app.add_option("--repetitions", settings.repetitions)->check(CLI::Range(1, 100000));
  app.add_option("--elements", settings.elements, "of the element-wise kernel")
      ->check(CLI::Range(1LL << 10, 1LL << 34));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // CLI11's own numbers are 100 and more
  }
  try {
    for (const std::string& text : weights) {
      settings.weights.push_back(amsp::bench::parse_weight(text));
    }
    amsp::bench::measure(settings);
  } catch (const amsp::InputError& error) {
    fmt::print(stderr, "gemm-bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm-bench: {}\n", error.what());
    return 3;
  }
  return 0;
}
