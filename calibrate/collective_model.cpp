// SPDX-License-Identifier: Apache-2.0
#include "calibrate/collective_model.hpp"

namespace amsp {

std::string_view name_of(PredictionRange range) {
  switch (range) {
    case PredictionRange::measured:
      return "measured range";
    case PredictionRange::extrapolated:
      return "extrapolated";
    case PredictionRange::default_model:
      return "default";
  }
  return "";
}

}  // namespace amsp
