// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/measurement.hpp"
#include "calibrate/logs/wrapped_text.hpp"

namespace amsp {
namespace {

std::vector<LogFormat> ordered_formats() {
  std::vector<LogFormat> formats = log_formats();
  std::stable_sort(formats.begin(), formats.end(),
                   [](const LogFormat& a, const LogFormat& b) { return a.order < b.order; });
  return formats;
}

// Text logs hold no zero bytes and few control characters; the first part of a file tells.
bool is_binary(std::string_view content) {
  const std::string_view head = content.substr(0, 1U << 16U);
  if (head.find('\0') != std::string_view::npos) return true;
  const auto controls = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' && c != '\b' &&
           c != '\f';
  });
  return static_cast<std::size_t>(controls) * 50 > head.size();
}

// PowerShell and Notepad write UTF-16 after a byte-order mark. What is beyond ASCII in it (names,
// "µ") becomes UTF-8; other text is returned as it is.
std::string_view without_utf16(std::string_view content, std::string& converted) {
  const bool little = content.starts_with("\xff\xfe");
  if (!little && !content.starts_with("\xfe\xff")) return content;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(content[i]); };
  for (std::size_t i = 2; i + 1 < content.size(); i += 2) {
    const unsigned code = little ? byte(i) | (byte(i + 1) << 8U) : (byte(i) << 8U) | byte(i + 1);
    if (code < 0x80U) {
      converted += static_cast<char>(code);
    } else if (code < 0x800U) {
      converted += static_cast<char>(0xc0U | (code >> 6U));
      converted += static_cast<char>(0x80U | (code & 0x3fU));
    } else {
      converted += '?';
    }
  }
  return converted;
}

// What else the file seems to be, for the message.
std::string other_kind(std::string_view content) {
  const std::string_view head = content.substr(0, 1U << 16U);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && head[first] == '<')
    return contains(head, "<system") || contains(head, "<graphs") || contains(head, "<pci")
               ? "is an NCCL topology or graph XML, not a measurement log; see amsp import"
               : "is XML or HTML, not a measurement log";
  if (contains(head, "GPU0") && (contains(head, "GPU1") || contains(head, "Legend")))
    return "is an nvidia-smi topo -m matrix, not a measurement log; see amsp import";
  struct Program {
    std::string_view mark, name;
  };
  for (const Program& known :
       {Program{"# OSU ", "the OSU micro-benchmarks (MPI's times, not NCCL's)"},
        {"Memory type:", "ucc_perftest"},
        {" BW Test", "perftest (ib_write_bw and others)"},
        {"nvbandwidth Version", "nvbandwidth"},
        {"Throughput (Gbps)", "DeepSpeed's communication benchmark"}})
    if (contains(head, known.mark))
      return fmt::format(
          "looks like the output of {}, which is not read; if its times are of "
          "collectives over GPUs, give them as CSV "
          "\"collective,gpus,message_bytes,time_s\" (docs/formats/logs.md)",
          known.name);
  return "";
}

std::string kinds() {
  std::string text;
  for (const LogFormat& format : ordered_formats())
    text += (text.empty() ? "" : ", ") + format.name;
  return text;
}

// By the first reader that finds a run.
std::vector<MeasuredRun> read_any(std::string_view content, std::string_view name) {
  for (const LogFormat& format : ordered_formats()) {
    if (!format.may_be(content)) continue;
    std::vector<MeasuredRun> runs = format.read(content, name);
    for (MeasuredRun& run : runs)
      if (run.format.empty()) run.format = format.name;
    if (!runs.empty()) return runs;
  }
  return {};
}

bool without_rows(const std::vector<MeasuredRun>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const MeasuredRun& run) { return run.rows.empty(); });
}

// A rewritten text, with the note on what was done; nothing when it holds no row.
std::vector<MeasuredRun> read_rewritten(const std::string& text, std::string_view name,
                                        const std::string& note) {
  if (text.empty()) return {};
  std::vector<MeasuredRun> runs;
  try {
    runs = read_any(text, name);
  } catch (const InputError&) {
    return {};  // the text as it stands says more
  }
  if (without_rows(runs)) return {};
  for (MeasuredRun& run : runs) run.notes.push_back(note);
  return runs;
}

}  // namespace

std::vector<std::string> log_format_names() {
  std::vector<std::string> names;
  for (const LogFormat& format : ordered_formats())
    names.push_back(format.name + ": " + format.description);
  return names;
}

std::vector<MeasuredRun> read_log_text(std::string_view given, std::string_view name) {
  const Place place{std::string(name), ""};
  std::string converted;
  const std::string_view content = without_utf16(given, converted);
  if (content.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(place, "is empty; expected a measurement log (" + kinds() + ")");
  if (is_binary(content))
    throw InputError(place, "is binary; expected a measurement log (" + kinds() + ")");
  const std::string docker = without_docker_json(content);
  const std::string_view lines = docker.empty() ? content : std::string_view(docker);
  std::vector<MeasuredRun> runs =
      read_rewritten(without_string_escapes(lines), name,
                     "the log stands in a string with \\n for line ends; lines are counted in it");
  if (runs.empty()) runs = read_any(lines, name);
  if (runs.empty() && !docker.empty()) runs = read_any(content, name);
  if (without_rows(runs)) {
    auto parted = read_rewritten(with_line_ends(lines), name,
                                 "line ends are missing in the log: it is parted before rows and "
                                 "comments, and lines are counted in that");
    if (!parted.empty()) runs = std::move(parted);
  }
  for (MeasuredRun& run : runs) run.file = name;
  if (!runs.empty()) return runs;
  const std::string other = other_kind(content);
  if (!other.empty()) throw InputError(place, other);
  throw InputError(place, "holds no measurement that is known; accepted: " + kinds() +
                              "; or a CSV \"collective,gpus,message_bytes,time_s\"");
}

std::vector<MeasuredRun> read_logs(const std::filesystem::path& file) {
  const std::string content = read_file(file);
  std::vector<MeasuredRun> runs = read_log_text(content, file.string());
  const std::string digest = sha256(content);
  for (MeasuredRun& run : runs) run.sha256 = digest;
  return runs;
}

}  // namespace amsp
