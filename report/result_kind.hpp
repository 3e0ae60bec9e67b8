// SPDX-License-Identifier: Apache-2.0
// Which of our results a JSON text holds (docs/formats/results.md): what amsp report can draw.
#pragma once
#include <string>
#include <string_view>

namespace amsp {

// What amsp report accepts, for messages.
inline constexpr std::string_view kReportable =
    "results.json, trace.json, reproduction.json, or what plan, calibrate and validate write with "
    "-o";

// "results", "plan", "reproduction", "trace", "validation", "calibration"; empty: none of them.
// Throws InputError with the path when the text is not JSON.
std::string_view result_kind(const std::string& text, const std::string& path);

}  // namespace amsp
