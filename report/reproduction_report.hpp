// SPDX-License-Identifier: Apache-2.0
// The reproduction of the paper as table, CSV, JSON and figures.
#pragma once
#include <string>

#include "scenarios/reproduction.hpp"

namespace amsp {

std::string reproduction_table(const Reproduction& reproduction);
std::string reproduction_csv(const Reproduction& reproduction);
std::string reproduction_json(const Reproduction& reproduction);
// reproduction.json, reproduction.csv and a scaling curve per model.
void write_reproduction(const Reproduction& reproduction, const std::string& directory);

}  // namespace amsp
