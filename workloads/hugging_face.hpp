// SPDX-License-Identifier: Apache-2.0
// Hugging Face's config.json, read as it is: keys that say nothing about the shape are ignored,
// keys that are needed are demanded (docs/formats/model.md lists the model types).
#pragma once
#include "workloads/model_shape.hpp"

namespace amsp {

bool is_hugging_face(const JsonValue& json);

// Throws InputError for mixtures of experts and other shapes that the cost model does not know.
void refuse_unmodelled(const JsonValue& json);

// Name and hash are left empty; a head dimension that is not stated stays 0.
ModelShape parse_hugging_face(const JsonValue& json);

}  // namespace amsp
