// SPDX-License-Identifier: Apache-2.0
// Which GPUs' switches reduce, against NVIDIA's data sheets: third-generation NVSwitch (Hopper) on.
#include "topologies/gpu_architecture.hpp"

#include <catch2/catch.hpp>

using namespace amsp;

TEST_CASE("a compute capability is a number, not a text") {
  CHECK(compute_capability("sm_90") == 90);
  CHECK(compute_capability("sm_103") == 103);
  CHECK(compute_capability("sm_90a") == 90);
  CHECK_FALSE(compute_capability("gfx942"));
  CHECK_FALSE(compute_capability("sm_"));
}

TEST_CASE("switches reduce from Hopper on, between three GPUs and more") {
  for (const char* name : {"h100-sxm5-80gb", "h800-sxm5-80gb", "h200-sxm-141gb", "h20-96gb",
                           "b200-sxm-180gb", "b300-sxm-288gb", "gb200-186gb"}) {
    INFO(name);
    CHECK(reduces_in_switch(find_gpu_type(name), 8));
    CHECK_FALSE(reduces_in_switch(find_gpu_type(name), 2));
  }
  for (const char* name : {"a100-sxm4-80gb", "a800-sxm4-80gb", "v100-sxm3-32gb", "h100-pcie-80gb",
                           "h100-nvl-94gb", "mi300x-192gb", "rtx-5090", "l40s"}) {
    INFO(name);
    CHECK_FALSE(reduces_in_switch(find_gpu_type(name), 8));
  }
}

TEST_CASE("PCIe cards have bridges, modules have not") {
  for (const char* name :
       {"a100-pcie-80gb", "h100-pcie-80gb", "h100-nvl-94gb", "a30", "a40", "rtx-a6000", "rtx-3090",
        "quadro-rtx-6000", "mi50-32gb", "mi60-32gb", "mi100-32gb", "mi210-64gb"}) {
    INFO(name);
    CHECK(has_bridges_only(find_gpu_type(name)));
  }
  for (const char* name :
       {"a100-sxm4-40gb", "v100-sxm2-16gb", "p100-sxm2-16gb", "h100-sxm5-80gb", "h800-sxm5-80gb",
        "gb200-186gb", "mi250x-gcd", "mi250-gcd", "mi300x-192gb", "l40s"}) {
    INFO(name);
    CHECK_FALSE(has_bridges_only(find_gpu_type(name)));
  }
}
