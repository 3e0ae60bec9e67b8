// SPDX-License-Identifier: Apache-2.0
#include "calibrate/collective_model.hpp"

#include "base/file.hpp"
#include "calibrate/default_collective_model.hpp"

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

std::unique_ptr<CollectiveModel> load_collective_model(std::string_view,
                                                       const ClusterSpec& cluster) {
  return default_collective_model(cluster);
}

}  // namespace amsp
