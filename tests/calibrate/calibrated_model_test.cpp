// SPDX-License-Identifier: Apache-2.0
// The shipped A800 calibration: what it must reach on its own data, and what the simulator relies
// on (docs/model/20-collectives.md).
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/file.hpp"
#include "calibrate/calibrate_files.hpp"
#include "calibrate/collective_algorithm.hpp"
#include "calibrate/compute_model.hpp"
#include "calibrate/cross_validation.hpp"

using namespace amsp;

namespace {

const ClusterSpec& a800() {
  static const ClusterSpec cluster = load_cluster("a800-4hdr");
  return cluster;
}

const CollectiveModel& model() {
  static const auto loaded = load_collective_model("a800-4hdr", a800());
  return *loaded;
}

Measurements a800_measurements() {
  const auto folder = data_folder("calibrate/data");
  return read_measurements({(folder / "a800_collectives.csv").string(),
                            (folder / "a800_collectives_by_nics.csv").string()},
                           "a800-4hdr");
}

// The effective rates that the simulator gives the links: the fluid phase alone must fit.
double wire_efficiency(const CollectiveEstimate& estimate, CollectiveKind kind, Bytes bytes,
                       const std::vector<GpuId>& group, const Network& network) {
  const Traffic traffic =
      find_collective_algorithm(estimate.algorithm).traffic(kind, bytes, group, 0, network);
  double least = HUGE_VAL;
  for (const LinkLoad& load : traffic.links) {
    least = std::min(least, network.links()[load.link.position()].capacity.value() / load.load);
  }
  return traffic.flow.value() / estimate.fluid.value() / least;
}

}  // namespace

TEST_CASE("a collective's fluid phase fits its links: efficiency at most 1") {
  const ClusterSpec cluster = resized(a800(), 128);
  const Network network(cluster, model().achievable());
  rc::prop("for any kind, size and whole-node scale", [&] {
    const auto kind = *rc::gen::element(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                        CollectiveKind::reduce_scatter, CollectiveKind::broadcast);
    const int ranks = *rc::gen::element(2, 4, 8, 16, 32, 64, 128);
    const Bytes bytes(std::exp2(*rc::gen::inRange(10, 33)));
    std::vector<GpuId> group;
    for (int i = 0; i < ranks; ++i) group.emplace_back(i);
    const GroupShape shape = shape_on(cluster, ranks);
    const CollectiveEstimate estimate = model().estimate(kind, bytes, Dtype::bf16, shape);
    RC_ASSERT(wire_efficiency(estimate, kind, bytes, group, network) <= 1 + 1e-9);
    RC_ASSERT(estimate.latency >= Seconds(0));
    RC_ASSERT(std::abs((estimate.latency + estimate.fluid) / estimate.time - 1) < 1e-12);
    RC_ASSERT(estimate.low <= estimate.time && estimate.time <= estimate.high);
    RC_ASSERT(estimate.sm_share > 0 && estimate.sm_share < 1);
  });
}

TEST_CASE("one rank takes no time; unknown clusters get the default model, marked") {
  CHECK(model().estimate(CollectiveKind::all_reduce, Bytes(1e9), Dtype::bf16, {1, 1, 1, 0}).time ==
        Seconds(0));
  const ClusterSpec h100 = load_cluster("dgx-h100");
  const auto plain = load_collective_model("", h100);
  const CollectiveEstimate estimate =
      plain->estimate(CollectiveKind::all_reduce, Bytes(8589934592.0), Dtype::bf16, {8, 8, 1, 0});
  CHECK(estimate.range == PredictionRange::default_model);
  CHECK(estimate.algorithm == "nvls");
  // Public logs of 8 H100: 470 to 483 GB/s busbw.
  const double busbw = 8589934592.0 / estimate.time.value() * 1.75 / 1e9;
  CHECK(busbw > 430);
  CHECK(busbw < 500);
}

TEST_CASE("default model: a faster network never makes a collective slower") {
  rc::prop("time falls with the NICs' and the GPUs' rates, rises with the bytes", [] {
    const auto* name = *rc::gen::element("dgx-h100", "dgx-a100", "mi300x-8gpu", "l40s-8gpu-pcie");
    const auto kind = *rc::gen::element(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                        CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                        CollectiveKind::all_to_all, CollectiveKind::send_recv);
    const int ranks = *rc::gen::element(2, 8, 16, 32);
    const Bytes bytes(std::exp2(*rc::gen::inRange(80, 330) / 10.0));
    const double faster = 1 + *rc::gen::inRange(1, 300) / 100.0;
    const ClusterSpec cluster = load_cluster(name);
    ClusterSpec fast = cluster;
    for (NicSpec& nic : fast.node.nics) nic.rate = nic.rate * faster;
    fast.node.intra.gpu_rate = fast.node.intra.gpu_rate * faster;
    fast.node.intra.mesh_link_rate = fast.node.intra.mesh_link_rate * faster;
    const GroupShape shape = shape_on(cluster, ranks);
    const auto time = [&](const ClusterSpec& machine, Bytes size) {
      return load_collective_model("", machine)->estimate(kind, size, Dtype::bf16, shape).time;
    };
    const Seconds plain = time(cluster, bytes);
    RC_ASSERT(time(fast, bytes) <= plain * (1 + 1e-12));
    RC_ASSERT(time(cluster, bytes * faster) >= plain * (1 - 1e-12));
  });
}

TEST_CASE("default model: the ends of the interval never fall when the buffer grows") {
  rc::prop("low and high rise with the bytes and hold the time", [] {
    const auto* name = *rc::gen::element("dgx-h100", "dgx-a100", "a800-4hdr", "gb200-nvl72",
                                         "dgx-1-v100", "mi300x-8gpu", "l40s-8gpu-pcie");
    const ClusterSpec cluster = load_cluster(name);
    const auto kind = *rc::gen::element(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                        CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                        CollectiveKind::all_to_all, CollectiveKind::send_recv);
    const int nodes = cluster.node.nics.empty() ? 1 : *rc::gen::element(1, 2, 3, 16, 128);
    const int per_node = *rc::gen::element(1, 2, 4, cluster.node.gpus);
    RC_PRE(nodes * per_node > 1);
    const GroupShape shape = shape_on(cluster, nodes * per_node, per_node);
    const auto plain = load_collective_model("", cluster);
    const double bytes = std::exp2(*rc::gen::inRange(0, 360) / 10.0);
    const double more = 1 + *rc::gen::inRange(1, 100) / 100.0;
    const auto small = plain->estimate(kind, Bytes(bytes), Dtype::bf16, shape);
    const auto great = plain->estimate(kind, Bytes(bytes * more), Dtype::bf16, shape);
    RC_ASSERT(great.low >= small.low * (1 - 1e-12));
    RC_ASSERT(great.high >= small.high * (1 - 1e-12));
    RC_ASSERT(small.low <= small.time);
    RC_ASSERT(small.time <= small.high);
  });
}

TEST_CASE("default model: a collective alone takes no longer on the links than its curve says") {
  for (const char* name : {"a800-4hdr", "a100-4x100g-roce", "dgx-1-v100", "dgx-2", "dgx-a100",
                           "dgx-h100", "mi300x-8gpu"}) {
    const ClusterSpec cluster = load_cluster(name);
    const auto plain = load_collective_model("", cluster);
    for (const int ranks : {2, 4, 8, 16, 32}) {
      if (ranks > cluster.node.gpus && ranks % cluster.node.gpus != 0) continue;
      const Network network(resized(cluster, ranks), plain->achievable());
      std::vector<GpuId> group;
      for (int i = 0; i < ranks; ++i) group.emplace_back(i);
      const GroupShape shape = shape_on(cluster, ranks);
      for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                              CollectiveKind::broadcast, CollectiveKind::all_to_all}) {
        // A DGX-1's GPUs are not all joined: sends between the others take two hops, uncounted.
        const std::string_view cube = "dgx-1-v100";
        if (kind == CollectiveKind::all_to_all && name == cube && ranks <= 8) continue;
        const CollectiveEstimate estimate = plain->estimate(kind, Bytes(1e9), Dtype::bf16, shape);
        CAPTURE(name, ranks, name_of(kind));
        CHECK(wire_efficiency(estimate, kind, Bytes(1e9), group, network) <= 1 + 1e-9);
      }
    }
  }
}

TEST_CASE("A800: nine of ten left-out times lie in their 90 % intervals") {
  Measurements measurements = a800_measurements();
  std::erase_if(measurements.observations.rows, [](const Observation& row) {
    return row.kind != CollectiveKind::all_gather || row.shape.nics_per_node != 0;
  });
  const auto held_out =
      cross_validate(measurements.observations.rows, measurements.cluster, {LeftOut::scale});
  const ErrorSummary summary = summarise(held_out);
  CHECK(summary.rows > 50);
  CAPTURE(summary.median, summary.p95);
  CHECK(summary.covered >= 0.82);  // 90 % less two standard deviations of about 70 rows
  CHECK(summary.covered <= 0.99);
}

TEST_CASE("default model: time never falls when the buffer grows") {
  for (const char* name : {"dgx-h100", "dgx-a100", "a800-4hdr"}) {
    const ClusterSpec cluster = load_cluster(name);
    const auto plain = load_collective_model("", cluster);
    for (const auto kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::broadcast,
          CollectiveKind::all_to_all, CollectiveKind::send_recv}) {
      for (const int ranks : {8, 16, 128}) {
        Seconds before;
        for (double bytes = 1024; bytes < 1e11; bytes *= 2) {
          const Seconds time =
              plain->estimate(kind, Bytes(bytes), Dtype::bf16, shape_on(cluster, ranks)).time;
          CAPTURE(name, name_of(kind), ranks, bytes);
          CHECK(time >= before * 0.999);
          before = time;
        }
      }
    }
  }
}

TEST_CASE("the shipped calibration is what its tables give") {
  const Measurements measurements = a800_measurements();
  CHECK(measurements.observations.rows.size() > 900);
  const CollectiveCalibration fresh =
      fit_collectives(measurements.observations.rows, measurements.cluster);
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
    for (const int ranks : {8, 64, 512}) {
      const GroupShape shape = shape_on(a800(), ranks);
      const Seconds shipped = model().estimate(kind, Bytes(268435456.0), Dtype::bf16, shape).time;
      CAPTURE(name_of(kind), ranks);
      CHECK(fresh.at(kind, Bytes(268435456.0), shape).time.value() ==
            Approx(shipped.value()).epsilon(0.01));
    }
  }
}

TEST_CASE("A800: predicts scales that it has not seen") {
  const Measurements measurements = a800_measurements();
  // Fit to 64 GPUs and fewer, predict 128 (2x) and 256 (4x).
  std::vector<Observation> kept;
  std::vector<HeldOutRow> twice, four;
  for (const Observation& row : measurements.observations.rows) {
    if (row.shape.ranks <= 64) kept.push_back(row);
  }
  const CollectiveCalibration fit = fit_collectives(kept, measurements.cluster);
  for (const Observation& row : measurements.observations.rows) {
    if (row.bytes < large_size || row.shape.ranks <= 64 || row.shape.ranks > 256) continue;
    HeldOutRow result;
    result.log_error = std::log(fit.at(row.kind, row.bytes, row.shape).time / row.time);
    (row.shape.ranks == 128 ? twice : four).push_back(result);
  }
  const ErrorSummary at_twice = summarise(twice);
  const ErrorSummary at_four = summarise(four);
  CAPTURE(at_twice.median, at_twice.p95, at_four.median, at_four.p95);
  CHECK(at_twice.median <= 0.12);
  CHECK(at_four.median <= 0.12);
}

TEST_CASE("kernels: the table's own shapes, what lies between them, and the roofline") {
  const auto compute = load_compute_model("a800-4hdr", a800().node.gpu);
  Kernel gemm;
  gemm.kind = KernelClass::gemm;
  gemm.m = 4096;
  gemm.n = gemm.k = 8192;
  const KernelEstimate measured = compute->estimate(gemm);
  CHECK(measured.time.value() == Approx(2.445e-3).epsilon(0.05));
  CHECK(measured.range == PredictionRange::measured);
  gemm.m = 1 << 20;
  CHECK(compute->estimate(gemm).range == PredictionRange::extrapolated);
  // Never above the GPU's peak.
  CHECK(flops_of(gemm) / compute->estimate(gemm).time <= a800().node.gpu.peak.at(Dtype::bf16));
  Kernel attention;
  attention.kind = KernelClass::attention_backward;
  attention.sequences = 1;
  attention.sequence_length = 4096;
  attention.heads = attention.kv_heads = 40;
  attention.head_dim = 128;
  CHECK(compute->estimate(attention).time.value() == Approx(2.882e-3).epsilon(0.05));
  Kernel copy;
  copy.kind = KernelClass::elementwise;
  copy.hbm = Bytes(2e9);
  CHECK(compute->estimate(copy).time > copy.hbm / a800().node.gpu.hbm);
  const auto roofline = load_compute_model("", a800().node.gpu);
  CHECK(roofline->estimate(gemm).range == PredictionRange::default_model);
}

TEST_CASE("a calibration used on other hardware follows its data sheets and says so") {
  const GroupShape shape{32, 8, 4, 0};
  const auto time = [&](const CollectiveModel& model) {
    return model.estimate(CollectiveKind::all_gather, Bytes(268435456.0), Dtype::bf16, shape);
  };
  ClusterSpec cluster = a800();
  const auto own = load_collective_model("a800-4hdr", cluster);
  CHECK(own->note().empty());
  cluster.name = "renamed";
  cluster.nodes = 2;
  CHECK(load_collective_model("a800-4hdr", cluster)->note().empty());

  for (NicSpec& nic : cluster.node.nics) nic.rate = nic.rate / 2.0;
  const auto half = load_collective_model("a800-4hdr", cluster);
  CHECK_THAT(half->note(), Catch::Contains("NIC rates x 0.5"));
  CHECK(time(*half).range == PredictionRange::extrapolated);
  CHECK(time(*half).time / time(*own).time == Approx(2.0).epsilon(0.2));
  CHECK(half->achievable().nic / own->achievable().nic == Approx(0.5));
  CHECK(time(*half).high / time(*half).time > time(*own).high / time(*own).time);

  Kernel gemm;
  gemm.kind = KernelClass::gemm;
  gemm.m = 4096;
  gemm.n = gemm.k = 8192;
  const GpuSpec h100 = find_gpu_type("h100-sxm5-80gb").spec;
  const auto foreign = load_compute_model("a800-4hdr", h100);
  CHECK_THAT(foreign->note(), Catch::Contains("A800") && Catch::Contains("H100"));
  CHECK(foreign->estimate(gemm).range == PredictionRange::extrapolated);
  // About what the roofline of the type itself says.
  CHECK(foreign->estimate(gemm).time / load_compute_model("", h100)->estimate(gemm).time ==
        Approx(1.0).epsilon(0.1));
  CHECK(load_compute_model("a800-4hdr", a800().node.gpu)->note().empty());
}

TEST_CASE("kernels without a table: never faster than the best product measured on the type") {
  Kernel gemm;
  gemm.kind = KernelClass::gemm;
  gemm.m = gemm.n = gemm.k = 8192;
  for (const GpuType& type : gpu_types()) {
    if (type.spec.achievable.empty()) continue;
    const auto roofline = load_compute_model("", type.spec);
    const FlopRate rate = flops_of(gemm) / roofline->estimate(gemm).time;
    INFO(type.spec.name);
    CHECK(rate < type.spec.achievable.at(Dtype::bf16));
    CHECK(rate > 0.75 * type.spec.achievable.at(Dtype::bf16));
  }
  // An MI300X has the higher peak, the H100 the faster products.
  const auto h100 = load_compute_model("", find_gpu_type("h100-sxm5-80gb").spec);
  const auto mi300x = load_compute_model("", find_gpu_type("mi300x-192gb").spec);
  CHECK(h100->estimate(gemm).time < mi300x->estimate(gemm).time);
}

TEST_CASE("the default model against the A800's measured times: near the middle, honest in width") {
  const auto file = resolve_data("calibration", "calibrate/data", "a800-4hdr");
  const Calibration measured = load_calibration(file);
  const ClusterSpec cluster = a800();
  const auto model = load_collective_model("", cluster);
  CHECK_THAT(model->note(), Catch::Contains("no collective was measured"));
  // The default was fitted to this table among others (docs/model/20-collectives.md); of its kinds
  // reduce-scatter takes longer than any other says, and is 19 % too fast.
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    double sum = 0, count = 0, inside = 0;
    for (const KindFit& fit : measured.collectives->kinds) {
      if (fit.kind != kind) continue;
      for (const Observation& row : fit.rows) {
        if (row.shape.nodes < 2 || row.bytes < Bytes(16777216)) continue;
        const auto estimate = model->estimate(kind, row.bytes, Dtype::bf16, row.shape);
        sum += std::log(estimate.time / row.time);
        inside += row.time >= estimate.low && row.time <= estimate.high;
        ++count;
      }
    }
    REQUIRE(count > 50);
    CAPTURE(name_of(kind), std::exp(sum / count), inside / count);
    CHECK(std::abs(sum / count) < (kind == CollectiveKind::reduce_scatter ? 0.25 : 0.1));
    CHECK(inside / count > 0.85);
  }
}

TEST_CASE("attention without a table: at the rate measured on the type, else at the A800's share") {
  Kernel kernel;
  kernel.kind = KernelClass::attention_forward;
  kernel.sequences = 1;  // a row of the table
  kernel.sequence_length = 4096;
  kernel.heads = kernel.kv_heads = 32;
  kernel.head_dim = 128;
  const auto rate = [&](const char* calibration, const char* gpu) {
    const auto model = load_compute_model(calibration, find_gpu_type(gpu).spec);
    return flops_of(kernel) / model->estimate(kernel).time;
  };
  // Rates of the FlashAttention-3 paper for FlashAttention-2; the fitted surface leaves its rows by
  // up to 3 %.
  CHECK(rate("", "h100-sxm5-80gb") / FlopRate(319e12) == Approx(1).epsilon(0.03));
  CHECK(rate("", "a800-sxm4-80gb") / FlopRate(0.53 * 312e12) == Approx(1).epsilon(0.03));
  // The A800's table on an H100: as many times faster as attention is, not as products are.
  CHECK(rate("a800-4hdr", "h100-sxm5-80gb") / rate("a800-4hdr", "a800-sxm4-80gb") ==
        Approx(319 / (0.53 * 312)).epsilon(0.001));
  kernel.kind = KernelClass::attention_backward;
  CHECK(rate("", "h100-sxm5-80gb") / FlopRate(310e12) == Approx(1).epsilon(0.03));
  const auto note = load_compute_model("", find_gpu_type("h100-sxm5-80gb").spec)->note();
  CHECK_THAT(note, Catch::Contains("A800") && Catch::Contains("2.93"));
}

TEST_CASE("calibration files: written and read alike; wrong ones are refused with the place") {
  const auto file = resolve_data("calibration", "calibrate/data", "a800-4hdr");
  const Calibration calibration = load_calibration(file);
  CHECK(to_json(calibration) ==
        to_json(parse_calibration(JsonValue::parse_text(to_json(calibration), "copy"))));
  CHECK_THROWS_WITH(parse_calibration(JsonValue::parse_text(R"({"format": "x"})", "bad.json")),
                    Catch::Contains("bad.json"));
  CHECK_THROWS_WITH(
      read_kernel_csv("kernel,tokens,hidden,time_s\nlinear,4096,4096,-1\n", "bad.csv"),
      Catch::Contains("line 2"));
}

TEST_CASE("kernel times: in the unit of their title; a column that is not there is named") {
  const auto time_of = [](const std::string& title, const std::string& time) {
    return read_kernel_csv("kernel,m,n,k," + title + "\ngemm,64,64,64," + time + "\n", "k.csv")
        .front()
        .time;
  };
  for (const auto& [title, time] :
       {std::pair{"time_s", "2.5e-4"}, {"time_ms", "0.25"}, {"time_us", "250"}})
    CHECK(time_of(title, time).value() == Approx(2.5e-4));
  CHECK_THROWS_WITH(time_of("time", "250"),
                    Catch::Contains("k.csv: line 1: has no column of times") &&
                        Catch::Contains("kernel, m, n, k, time;"));
  CHECK_THROWS_WITH(read_kernel_csv("kernel,m,k,time_s\ngemm,64,64,1e-4\n", "k.csv"),
                    Catch::Contains("the header has no column n"));
}
