// SPDX-License-Identifier: Apache-2.0
// The cluster in a box (exec/testbed) for programs: up while the object lives.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"

namespace amsp {

struct TestbedShape {
  int nodes = 2;
  int ranks_per_node = 4;
  Bandwidth intra;                   // of a rank's link to its node's bridge, per direction
  Bandwidth inter;                   // of a node's uplink
  std::map<int, Bandwidth> uplinks;  // of nodes whose uplink differs

  [[nodiscard]] int ranks() const { return nodes * ranks_per_node; }
};

// "3x2": nodes x ranks per node. Throws InputError.
void parse_testbed_size(std::string_view text, TestbedShape& shape);
// "1=40mbit". Throws InputError.
void parse_uplink(std::string_view text, TestbedShape& shape);

class Testbed {
 public:
  // Builds it with all uplinks at the rate `inter`. A testbed left by a crash of an earlier run of
  // that name is taken down first. Throws InputError with the reason when it cannot be built.
  Testbed(std::string name, const TestbedShape& shape);
  ~Testbed();
  Testbed(const Testbed&) = delete;
  Testbed& operator=(const Testbed&) = delete;

  void set_uplink(int node, Bandwidth rate);
  [[nodiscard]] std::vector<std::string> namespaces() const;
  [[nodiscard]] const std::string& name() const { return name_; }

  // Why this machine has no testbeds; empty when it has. Changes nothing.
  static std::string unavailable();

 private:
  std::string name_;
};

// Share of a shaped rate that is payload: frames of 9000 bytes carry 20 of IP, 32 of TCP with time
// stamps, and count 14 of Ethernet in the shaper.
constexpr double testbed_payload_share = (9000.0 - 52) / (9000 + 14);

}  // namespace amsp
