// SPDX-License-Identifier: Apache-2.0
// Which GPU type a file means.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/import/machine_facts.hpp"

namespace amsp {

// The catalogue stem that a line "GPU 0: NVIDIA H100 80GB HBM3 (UUID: …)" (nvidia-smi -L,
// environment reports) names, if any. A name that the catalogue does not know becomes a note.
std::optional<std::string> gpu_type_in_text(std::string_view text, std::vector<std::string>& notes);

// The catalogue stem of a PCI device ("0x20b2"), if any.
std::optional<std::string> gpu_type_of_device(std::string_view pci_device);

struct GpuGuess {
  std::string type;                 // catalogue stem
  std::string because;              // what it rests on; empty when the file names the type
  std::vector<std::string> others;  // that fit as well
};
// The guess as an assumption: what it rests on, which models cannot be told apart, what memory is
// taken.
std::string said_as_assumption(const GpuGuess& guess);

// From what the file says (type, architecture, units, NVLinks); falls back on a stated default.
GpuGuess guess_gpu_type(const MachineFacts& facts);

// NVLinks of a GPU: to the switch, as most GPUs show it, or to all other GPUs together (of the GPU
// that has most). 0 = none, -1 = unknown.
int nvlinks_per_gpu(const MachineFacts& facts);
// Whether GPUs reach each other through a switch rather than by direct links: the file names one,
// or a GPU's NV# over all others sum to more links than its type (unknown: any type) has.
bool through_switch(const MachineFacts& facts);

// Why the NVLinks that two files show cannot be of GPUs of one model: how each file's GPUs read.
// Nothing where they can be: links that are down, or GPUs of which a file does not show them.
struct ModelsByLinks {
  std::string first, second;
};
std::optional<ModelsByLinks> models_differ(const MachineFacts& first, const MachineFacts& second);

}  // namespace amsp
