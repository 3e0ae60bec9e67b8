// SPDX-License-Identifier: Apache-2.0
// A GPU type: what its data sheet says. Shipped types lie in topologies/gpus/NAME.json.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "base/json_value.hpp"
#include "base/quantity.hpp"

namespace amsp {

// Causal attention of 4096 tokens and heads of 128 elements, as somebody measured it on this type.
struct AttentionRates {
  FlopRate forward, backward;
  bool operator==(const AttentionRates&) const = default;
};

struct GpuSpec {
  std::string name;                // "NVIDIA A800-SXM4-80GB"
  Bytes memory;                    // in all, as nvidia-smi shows
  std::map<Dtype, FlopRate> peak;  // dense peak of the matrix units
  // Best rate of a matrix product that somebody measured on this type; may be empty.
  std::map<Dtype, FlopRate> achievable;
  std::optional<AttentionRates> attention;  // in 16-bit types
  Bandwidth hbm;                            // data-sheet memory rate
  int multiprocessors = 0;                  // SMs (or CUs)
  bool operator==(const GpuSpec&) const = default;
};

// What the catalogue says besides: how the type is linked, for importers and checks.
struct GpuType {
  GpuSpec spec;
  std::vector<std::string> aliases;  // other names that are accepted ("A100", "gfx90a")
  std::vector<std::string> sources;
  std::string architecture;              // "sm_80", "gfx942"
  std::vector<std::string> pci_devices;  // "0x20b2"
  bool typical = false;                  // taken for its architecture when nothing says more
  int nvlinks = 0;                       // NVLink or XGMI links of one GPU (0 = none)
  Bandwidth nvlink_rate;                 // one link, per direction
  Bandwidth pcie_rate;                   // the host slot or bus, per direction
};

// A JSON string names a catalogue type; an object is the type itself.
GpuSpec parse_gpu(const JsonValue& json);

// By file stem, full name or alias, ignoring case, blanks, '-' and '_'. Throws InputError that
// lists the accepted names.
GpuType find_gpu_type(std::string_view name, const Place& place = {});
std::vector<std::string> gpu_type_names();  // file stems, sorted
std::vector<GpuType> gpu_types();           // all of them, in that order

}  // namespace amsp
