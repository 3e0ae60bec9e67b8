// SPDX-License-Identifier: Apache-2.0
// Quantities as text. A unit is always required. Decimal: B KB MB GB TB; binary: KiB MiB GiB TiB;
// rates: bps Kbps Mbps Gbps Tbps (bits), Bps KBps … TiBps and GB/s … (bytes); times: ns us ms s
// min h; FLOP: FLOP … PFLOP; FLOP rates: FLOPS GFLOPS TFLOPS PFLOPS (or GFLOP/s …). Also tc's
// "400mbit" for rates. parse(print(q)) == q for every finite q >= 0.
#pragma once
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace amsp {

// Throw InputError at `place` when the text is not a number with an accepted unit.
Bytes parse_bytes(std::string_view text, const Place& place = {});
Seconds parse_seconds(std::string_view text, const Place& place = {});
Bandwidth parse_bandwidth(std::string_view text, const Place& place = {});
Flops parse_flops(std::string_view text, const Place& place = {});
FlopRate parse_flop_rate(std::string_view text, const Place& place = {});
// "4Mi tokens", "300B tokens", "2Ttokens": K M G (or B) T decimal, Ki Mi Gi binary.
Tokens parse_tokens(std::string_view text, const Place& place = {});

// Exact: shortest text that parses back to the same value.
std::string to_text(Bytes quantity);
std::string to_text(Seconds quantity);
std::string to_text(Bandwidth quantity);
std::string to_text(Flops quantity);
std::string to_text(FlopRate quantity);

// For people: three or four significant digits, a fitting unit (1.5 GiB, 12.3 ms, 97.1 GB/s).
std::string human(Bytes quantity);
std::string human(Seconds quantity);
std::string human(Bandwidth quantity);
std::string human(Flops quantity);
std::string human(FlopRate quantity);

}  // namespace amsp
