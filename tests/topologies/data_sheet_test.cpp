// SPDX-License-Identifier: Apache-2.0
// Shipped clusters and GPU types against figures typed from the data sheets in the data sheets' own
// units: memory in GB as sold, NVLink in both directions together, NICs in Gb/s.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.hpp"
#include "topologies/cluster.hpp"
#include "topologies/gpu_json.hpp"

namespace amsp {
namespace {

struct Sheet {
  std::string cluster;
  int gpus;
  double memory_gb;
  Dtype dtype;
  double tflops;  // dense
  double hbm_tb;  // TB/s
  int multiprocessors;
  double nvlink_gb;  // per GPU, both directions; 0 = none
  int nics;
  double nic_gbit;
};

// DGX-1/DGX-2/A100/H100/H200/B200 and GB200 NVL72 data sheets, MI300X platform data sheet, Ada
// whitepaper, L40S data sheet; A800: A100's with NVLink 400 GB/s and the paper's four HDR NICs.
const std::vector<Sheet>& sheets() {
  static const std::vector<Sheet> all{
      {"a800-4hdr", 8, 80, Dtype::bf16, 312, 2.039, 108, 400, 4, 200},
      {"dgx-a100", 8, 80, Dtype::bf16, 312, 2.039, 108, 600, 8, 200},
      {"a100-4x100g-roce", 8, 40, Dtype::bf16, 312, 1.555, 108, 600, 4, 100},
      {"dgx-h100", 8, 80, Dtype::bf16, 989, 3.35, 132, 900, 8, 400},
      {"dgx-h200", 8, 141, Dtype::bf16, 989, 4.8, 132, 900, 8, 400},
      {"dgx-b200", 8, 180, Dtype::bf16, 2250, 8.0, 148, 1800, 8, 400},
      {"gb200-nvl72", 72, 186, Dtype::bf16, 2500, 8.0, 152, 1800, 72, 400},
      {"dgx-1-v100", 8, 32, Dtype::fp16, 125, 0.9, 80, 300, 4, 100},
      {"dgx-2", 16, 32, Dtype::fp16, 125, 0.9, 80, 300, 8, 100},
      {"mi300x-8gpu", 8, 192, Dtype::bf16, 1307, 5.3, 304, 896, 8, 400},
      {"rtx4090-8gpu-pcie", 8, 24, Dtype::bf16, 165.2, 1.008, 128, 0, 2, 100},
      {"l40s-8gpu-pcie", 8, 48, Dtype::bf16, 362, 0.864, 142, 0, 2, 200},
  };
  return all;
}

}  // namespace

TEST_CASE("shipped clusters agree with their data sheets") {
  CHECK(sheets().size() == data_names("topologies").size());
  for (const Sheet& sheet : sheets()) {
    INFO(sheet.cluster);
    const ClusterSpec cluster = load_cluster(sheet.cluster);
    const NodeSpec& node = cluster.node;
    CHECK(node.gpus == sheet.gpus);
    // Memory chips hold binary GB of which ECC and the driver keep up to 7 %; HBM3e parts are
    // sold with less than they hold.
    CHECK(node.gpu.memory.value() / 1073741824.0 <= 1.01 * sheet.memory_gb);
    CHECK(node.gpu.memory.value() / 1073741824.0 >= 0.93 * sheet.memory_gb);
    CHECK(node.gpu.peak.at(sheet.dtype).value() == Approx(sheet.tflops * 1e12).epsilon(1e-3));
    CHECK(node.gpu.hbm.value() == Approx(sheet.hbm_tb * 1e12));
    CHECK(node.gpu.multiprocessors == sheet.multiprocessors);
    const bool nvlink = node.intra.kind != IntraNodeKind::pcie;
    CHECK((nvlink ? 2 * node.intra.gpu_rate.value() : 0) == Approx(sheet.nvlink_gb * 1e9));
    CHECK(static_cast<int>(node.nics.size()) == sheet.nics);
    for (const NicSpec& nic : node.nics) CHECK(nic.rate == gigabits_per_second(sheet.nic_gbit));
  }
}

TEST_CASE("the V100 cube has six links at every GPU") {
  const ClusterSpec cluster = load_cluster("dgx-1-v100");
  std::vector<int> links(8, 0);
  for (const auto& [pair, count] : cluster.node.intra.mesh_links) {
    links[static_cast<std::size_t>(pair.first)] += count;
    links[static_cast<std::size_t>(pair.second)] += count;
  }
  CHECK(links == std::vector<int>(8, 6));
}

TEST_CASE("GPU types are found by any of their names, and are complete") {
  CHECK(find_gpu_type("A800").spec.name == "NVIDIA A800-SXM4-80GB");
  CHECK(find_gpu_type("nvidia h100 80gb hbm3").nvlinks == 18);
  CHECK(find_gpu_type("V100_SXM2_32GB").spec.multiprocessors == 80);
  CHECK_THROWS_WITH(find_gpu_type("h1000-sxm5-80gb"), Catch::Contains("h100-sxm5-80gb"));
  for (const GpuType& type : gpu_types()) {
    INFO(type.spec.name);
    CHECK_FALSE(type.sources.empty());
    CHECK_FALSE(type.pci_devices.empty());
    CHECK((type.nvlinks == 0) == (type.nvlink_rate == Bandwidth(0)));
    CHECK(type.pcie_rate > Bandwidth(0));
  }
}

TEST_CASE("look-alikes are types of their own") {
  // Data sheets: the A10G of AWS has more units than the A10 and half its tensor rate; the MI250
  // has 208 CUs and six links where the MI250X has 220 and eight, each in two GCDs.
  struct Part {
    const char* name;
    int multiprocessors;
    double bf16_tflops;
    int links;
  };
  for (const Part& part :
       {Part{"A10", 72, 125, 0}, Part{"NVIDIA A10G", 80, 70, 0},
        Part{"MI250X", 220 / 2, 383 / 2.0, 8 / 2}, Part{"MI250", 208 / 2, 362.1 / 2, 6 / 2}}) {
    INFO(part.name);
    const GpuType type = find_gpu_type(part.name);
    CHECK(type.spec.multiprocessors == part.multiprocessors);
    CHECK(type.spec.peak.at(Dtype::bf16).value() == Approx(part.bf16_tflops * 1e12));
    CHECK(type.nvlinks == part.links);
  }
  std::map<std::string, std::string> owner;  // no PCI device is of two types
  for (const GpuType& type : gpu_types())
    for (const std::string& device : type.pci_devices) {
      INFO(device << ": " << owner[device] << ", " << type.spec.name);
      CHECK(std::exchange(owner[device], type.spec.name).empty());
    }
}

TEST_CASE("attention rates: both, positive, below the peak, and written as they are read") {
  const auto gpu = [](const std::string& rates) {
    return parse_gpu(JsonValue::parse_text(
        R"({"name": "X", "memory": "8 GiB", "hbm": "1 TB/s", "multiprocessors": 8,
            "peak": {"bf16": "100 TFLOPS"}, "achievable_attention": )" +
            rates + "}",
        "gpu.json"));
  };
  const GpuSpec good = gpu(R"({"forward": "40 TFLOPS", "backward": "30 TFLOPS"})");
  CHECK(good.attention == AttentionRates{FlopRate(40e12), FlopRate(30e12)});
  CHECK(parse_gpu(JsonValue::parse_text(gpu_json(good).dump(), "copy")) == good);
  CHECK_THROWS_WITH(gpu(R"({"forward": "40 TFLOPS"})"), Catch::Contains("backward"));
  CHECK_THROWS_WITH(gpu(R"({"forward": "140 TFLOPS", "backward": "30 TFLOPS"})"),
                    Catch::Contains("/achievable_attention/forward"));
  CHECK_THROWS_WITH(gpu(R"({"forward": "0 TFLOPS", "backward": "30 TFLOPS"})"),
                    Catch::Contains("positive"));
}

TEST_CASE("an achievable rate above its peak, or without one, is refused") {
  const auto gpu = [](const char* achievable) {
    return parse_gpu(JsonValue::parse_text(
        fmt::format(R"({{"name": "X", "memory": "8 GiB", "hbm": "1 TB/s", "multiprocessors": 1,
                         "peak": {{"bf16": "100 TFLOPS"}}, "achievable": {}}})",
                    achievable),
        "gpu.json"));
  };
  CHECK(gpu(R"({"bf16": "80 TFLOPS"})").achievable.at(Dtype::bf16) == FlopRate(80e12));
  CHECK_THROWS_WITH(gpu(R"({"bf16": "120 TFLOPS"})"), Catch::Contains("/achievable"));
  CHECK_THROWS_WITH(gpu(R"({"fp8": "80 TFLOPS"})"), Catch::Contains("needs a peak"));
}

TEST_CASE("NVLink of the shipped clusters is links x rate of the GPU type") {
  for (const Sheet& sheet : sheets()) {
    INFO(sheet.cluster);
    const ClusterSpec cluster = load_cluster(sheet.cluster);
    const GpuType type = find_gpu_type(cluster.node.gpu.name);
    if (cluster.node.intra.kind == IntraNodeKind::pcie)
      CHECK(type.nvlinks == 0);
    else
      CHECK(cluster.node.intra.gpu_rate == type.nvlink_rate * type.nvlinks);
  }
}

}  // namespace amsp
