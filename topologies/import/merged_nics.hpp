// SPDX-License-Identifier: Apache-2.0
// Which NICs of two files of one machine are the same.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "topologies/import/machine_facts.hpp"

namespace amsp {

// Whether a reader or a file without a legend numbered the NIC ("NIC0", "nic0"): such a name says
// nothing of the device.
bool is_numbered_nic(std::string_view device);

// Adds the other file's NICs to `facts`, with notes of what is assumed and contradicted. Returns
// for each NIC of `other` its position in `facts.nics`; none for one that is left out.
//
// NICs are the same by their names. Numbered ones of the one file are, in order, the named ones of
// the other where there are as many and each has a partner at its place; else they are left out.
std::vector<std::optional<std::size_t>> merge_nics(MachineFacts& facts, const MachineFacts& other);

}  // namespace amsp
