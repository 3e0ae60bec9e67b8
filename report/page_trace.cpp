// SPDX-License-Identifier: Apache-2.0
#include "report/page_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

// About 30 bytes each: a page of less than 1 MB, and more slices than a screen has pixels.
constexpr std::size_t kMostSlices = 12000;
// Of many links only those that are busy longest get a lane; the table of links has all.
constexpr std::size_t kMostLinks = 12;
constexpr std::size_t kMostMemoryPoints = 2000;

struct Slice {
  std::int64_t start = 0, length = 0;  // ns
  std::int64_t text = 0, kind = 0;
  double wait = 0, rate = 0;  // us; in the unit of the kind
  int repetition = -1;
  std::int64_t merged = 1;
  [[nodiscard]] std::int64_t end() const { return start + length; }
};

struct Lane {
  std::string process, name;
  bool links = true;
  std::vector<Slice> slices;
};

// Tolerant of traces by other programs, like the page itself: what is no number is 0.
double number(const Json& object, const char* key, double missing = 0) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : missing;
}
std::string text(const Json& object, const char* key, const char* missing = "") {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : missing;
}
std::int64_t whole(const Json& object, const char* key) {
  return std::llround(number(object, key));
}
std::int64_t nanoseconds(const Json& event, const char* key) {
  return std::llround(number(event, key) * 1e3);
}
Json arguments(const Json& event) {
  const auto found = event.find("args");
  return found != event.end() && found->is_object() ? *found : Json::object();
}

// Each distinct value once, in the order of appearance.
class Numbered {
 public:
  std::int64_t of(const Json& value) {
    const auto [it, added] =
        numbers_.emplace(value.dump(), static_cast<std::int64_t>(values_.size()));
    if (added) values_.push_back(value);
    return it->second;
  }
  [[nodiscard]] const Json& at(std::int64_t i) const {
    return values_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const Json& values() const { return values_; }

 private:
  std::map<std::string, std::int64_t> numbers_;
  Json values_ = Json::array();
};

class PageTrace {
 public:
  explicit PageTrace(const Json& trace) {
    for (const Json& event : trace["traceEvents"]) add(event);
    for (auto& [key, lane] : lanes_)
      std::stable_sort(lane.slices.begin(), lane.slices.end(),
                       [](const Slice& a, const Slice& b) { return a.start < b.start; });
    for (const auto& [key, lane] : lanes_) link_lanes_ += lane.links && !lane.slices.empty();
    keep_busiest_links();
    merge_shortest();
    other_ = trace.value("otherData", Json::object());
  }
  [[nodiscard]] Json json() const;

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // process and thread

  void add(const Json& event);
  void add_slice(const Json& event);
  void keep_busiest_links();
  void merge_shortest();
  std::vector<Slice> merged(const std::vector<Slice>& slices, std::int64_t longest);
  [[nodiscard]] Json memory() const;
  [[nodiscard]] std::size_t slices() const {
    std::size_t count = 0;
    for (const auto& [key, lane] : lanes_) count += lane.slices.size();
    return count;
  }

  std::map<std::int64_t, std::string> processes_;
  std::map<Key, Lane> lanes_;
  std::vector<std::pair<std::int64_t, double>> memory_;  // ns, bytes
  Numbered texts_, kinds_;
  std::int64_t link_lanes_ = 0;
  Json other_;
};

void PageTrace::add(const Json& event) {
  const std::string phase = text(event, "ph"), name = text(event, "name");
  const std::int64_t process = whole(event, "pid");
  if (phase == "X") add_slice(event);
  if (phase == "M" && name == "process_name") processes_[process] = text(arguments(event), "name");
  if (phase == "M" && name == "thread_name")
    lanes_[{process, whole(event, "tid")}].name = text(arguments(event), "name");
  if (phase != "C" || name != "memory") return;
  const Json parts = arguments(event);
  double bytes = 0;
  for (const auto& part : parts.items()) bytes += number(parts, part.key().c_str());
  memory_.emplace_back(nanoseconds(event, "ts"), bytes);
}

void PageTrace::add_slice(const Json& event) {
  Lane& lane = lanes_[{whole(event, "pid"), whole(event, "tid")}];
  const Json args = arguments(event);
  Json kind{{"cat", text(event, "cat", "other")}};
  for (const char* key : {"phase", "ranks", "groups", "bytes", "period_us"})
    if (args.contains(key)) kind[key] = args[key];
  Slice slice;
  for (const char* key : {"busbw_GBps", "GBps", "tflops_per_s"})
    if (args.contains(key)) {
      kind["rate"] = key;
      slice.rate = number(args, key);
    }
  if (args.contains("wait_us")) kind["waits"] = true;
  slice.start = nanoseconds(event, "ts");
  slice.length = nanoseconds(event, "dur");
  slice.text = texts_.of(text(event, "name"));
  slice.kind = kinds_.of(kind);
  slice.wait = number(args, "wait_us");
  slice.repetition = static_cast<int>(number(args, "repetition", -1));
  lane.links = lane.links && kind["cat"] == "link";
  lane.slices.push_back(slice);
}

void PageTrace::keep_busiest_links() {
  std::vector<std::pair<std::int64_t, Key>> busy;  // the busiest first, then in their order
  for (const auto& [key, lane] : lanes_) {
    if (!lane.links || lane.slices.empty()) continue;
    std::int64_t time = 0;
    for (const Slice& slice : lane.slices) time -= slice.length;
    busy.emplace_back(time, key);
  }
  std::sort(busy.begin(), busy.end());
  for (std::size_t i = kMostLinks; i < busy.size(); ++i) lanes_.erase(busy[i].second);
}

// Neighbours of the same category become one slice where together they are not longer than that.
std::vector<Slice> PageTrace::merged(const std::vector<Slice>& slices, std::int64_t longest) {
  std::vector<Slice> result;
  const auto category = [this](const Slice& slice) {
    const Json& kind = kinds_.at(slice.kind);
    return std::pair(kind["cat"], kind.value("phase", ""));
  };
  for (const Slice& slice : slices) {
    if (result.empty() || slice.end() - result.back().start > longest ||
        category(slice) != category(result.back())) {
      result.push_back(slice);
      continue;
    }
    Slice& last = result.back();
    last.length = std::max(last.end(), slice.end()) - last.start;
    last.merged += slice.merged;
    last.text = texts_.of(fmt::format("{} operations", last.merged));
    const auto [cat, phase] = category(last);
    Json kind{{"cat", cat}};
    if (!phase.empty()) kind["phase"] = phase;
    last.kind = kinds_.of(kind);
    last.wait = last.rate = 0;
    if (last.repetition != slice.repetition) last.repetition = -1;
  }
  return result;
}

void PageTrace::merge_shortest() {
  const auto original = lanes_;
  for (std::int64_t longest = 1024; slices() > kMostSlices; longest *= 2)  // ns
    for (auto& [key, lane] : lanes_) {
      lane.slices = merged(original.at(key).slices, longest);
      if (longest > (std::int64_t{1} << 50)) return;  // a fortnight: there is nothing to merge
    }
}

// The least and the most of each of equal stretches of time, so that no peak is lost.
Json PageTrace::memory() const {
  Json points = Json::array();
  const std::size_t stretch = std::max<std::size_t>(1, 2 * memory_.size() / kMostMemoryPoints);
  for (std::size_t from = 0; from < memory_.size(); from += stretch) {
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(stretch, memory_.size() - from));
    const auto [low, high] = std::minmax_element(
        begin, end, [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto add = [&points](const auto& point) {
      points.push_back({point.first, std::llround(point.second)});
    };
    add(*std::min(low, high));
    if (low != high) add(*std::max(low, high));
  }
  return points;
}

Json PageTrace::json() const {
  Numbered texts, kinds;  // only what is still drawn
  Json lanes = Json::array();
  for (const auto& [key, lane] : lanes_) {
    if (lane.slices.empty()) continue;
    Json numbers = Json::array();
    std::int64_t before = 0;  // where the last one ended: gaps are short numbers, and often 0
    for (const Slice& slice : lane.slices) {
      for (const std::int64_t number :
           {slice.start - before, slice.length, texts.of(texts_.at(slice.text)),
            kinds.of(kinds_.at(slice.kind))})
        numbers.push_back(number);
      numbers.push_back(slice.wait == 0 ? Json(0) : Json(slice.wait));
      numbers.push_back(slice.rate == 0 ? Json(0) : Json(slice.rate));
      numbers.push_back(slice.repetition);
      before = slice.end();
    }
    const auto process = processes_.find(key.first);
    lanes.push_back(
        {{"pid", key.first},
         {"tid", key.second},
         {"process",
          process != processes_.end() ? process->second : fmt::format("process {}", key.first)},
         {"name", lane.name.empty() ? fmt::format("thread {}", key.second) : lane.name},
         {"slices", std::move(numbers)}});
  }
  return {{"format", "amsp-page-trace-1"},
          {"other", other_},
          {"links", link_lanes_},
          {"texts", texts.values()},
          {"kinds", kinds.values()},
          {"memory", memory()},
          {"lanes", lanes}};
}

}  // namespace

std::string page_trace(const std::string& chrome_trace) {
  return PageTrace(Json::parse(chrome_trace)).json().dump();
}

}  // namespace amsp
