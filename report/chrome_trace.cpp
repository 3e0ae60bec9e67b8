// SPDX-License-Identifier: Apache-2.0
#include "report/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/collective_kind.hpp"
#include "base/kernel.hpp"
#include "report/instances.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

// Microseconds to the nanosecond, so that the text is short and the same everywhere.
double microseconds_of(Seconds time) { return std::round(time.value() * 1e9) / 1e3; }
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

// Events in the order of their time; metadata first.
class Events {
 public:
  void add(double time, Json event) {
    order_.push_back({time, order_.size()});
    events_.push_back(std::move(event));
  }
  [[nodiscard]] std::string text() {
    std::sort(order_.begin(), order_.end());
    std::string result;
    for (const auto& [time, i] : order_)
      result += (result.empty() ? "" : ",\n") +
                events_[i].dump(-1, ' ', false, Json::error_handler_t::replace);
    return result;
  }

 private:
  std::vector<std::pair<double, std::size_t>> order_;
  std::vector<Json> events_;
};

class TraceWriter {
 public:
  explicit TraceWriter(const TraceInput& input)
      : input_(input), schedule_(input.schedule), instances_(input.schedule, input.result) {
    for (std::size_t i = 0; i < input.result.rank_classes.size(); ++i)
      process_[input.result.rank_classes[i].representative] = static_cast<int>(i) + 1;
    links_process_ = static_cast<int>(input.result.rank_classes.size()) + 1;
  }

  std::string text();

 private:
  void name_process(int pid, const std::string& name);
  void name_thread(int pid, int tid, const std::string& name);
  void add_names();
  void add_operation(const OpRecord& record);
  void add_arrows(const OpRecord& record);
  void add_skipped();
  void add_memory();
  void add_links();
  void add_link_slice(const LinkSpan& span, int tid);
  static std::string lane_name(const std::string& link, std::int64_t members, bool shared);
  void add_link_load(const std::string& name, int tid, const std::vector<LinkSpan>& spans);
  [[nodiscard]] Json arguments(const OpRecord& record) const;
  [[nodiscard]] std::string rank_name(const RankClass& ranks) const;
  [[nodiscard]] std::string link_name(LinkId link) const;
  [[nodiscard]] double time(Seconds absolute) const {
    return microseconds_of(absolute - input_.result.period_start);
  }
  // From the rounded times, so that a slice never reaches into the next one of its thread.
  [[nodiscard]] double duration(Seconds start, Seconds end) const {
    return std::max(0.0, std::round((time(end) - time(start)) * 1e3) / 1e3);
  }
  [[nodiscard]] int thread_of(const OpRecord& record) const {
    return schedule_.op(record.op).stream.index + 1;
  }

  const TraceInput& input_;
  const Schedule& schedule_;
  Instances instances_;
  std::map<Rank, int> process_;
  int links_process_ = 0;
  int arrows_ = 0;
  Events events_;
};

constexpr double kBeforeAll = -INFINITY;

void TraceWriter::name_process(int pid, const std::string& name) {
  events_.add(kBeforeAll,
              {{"ph", "M"}, {"pid", pid}, {"name", "process_name"}, {"args", {{"name", name}}}});
  events_.add(
      kBeforeAll,
      {{"ph", "M"}, {"pid", pid}, {"name", "process_sort_index"}, {"args", {{"sort_index", pid}}}});
}

void TraceWriter::name_thread(int pid, int tid, const std::string& name) {
  events_.add(kBeforeAll, {{"ph", "M"},
                           {"pid", pid},
                           {"tid", tid},
                           {"name", "thread_name"},
                           {"args", {{"name", name}}}});
  events_.add(kBeforeAll, {{"ph", "M"},
                           {"pid", pid},
                           {"tid", tid},
                           {"name", "thread_sort_index"},
                           {"args", {{"sort_index", tid}}}});
}

std::string TraceWriter::rank_name(const RankClass& ranks) const {
  const Rank rank = ranks.representative;
  std::string name = fmt::format("rank {}", rank.index);
  if (input_.network != nullptr) {
    const GpuId gpu =
        input_.gpu_of_rank.empty() ? GpuId(rank.index) : input_.gpu_of_rank[rank.position()];
    const ClusterSpec& cluster = input_.network->cluster();
    name += fmt::format(" (node {}, GPU {})", cluster.node_of(gpu).index, cluster.slot_of(gpu));
  }
  if (ranks.members > 1) name += fmt::format(", stands for {} ranks", ranks.members);
  return name;
}

std::string TraceWriter::link_name(LinkId link) const {
  return input_.network != nullptr ? input_.network->name_of(link)
                                   : fmt::format("link {}", link.index);
}

void TraceWriter::add_names() {
  for (const RankClass& ranks : input_.result.rank_classes) {
    const int pid = process_.at(ranks.representative);
    name_process(pid, rank_name(ranks));
    for (std::size_t i = 0; i < schedule_.streams.size(); ++i)
      name_thread(pid, static_cast<int>(i) + 1, schedule_.streams[i].name);
  }
}

Json TraceWriter::arguments(const OpRecord& record) const {
  const Op& op = schedule_.op(record.op);
  Json args{{"phase", name_of(op.phase)}};
  if (op.layer >= 0) args["layer"] = op.layer;
  const Block& block = instances_.block_of(record.op);
  args["block"] = block.name;
  if (block.repeat > 1) args["repetition"] = record.repetition;
  args["wait_us"] = microseconds_of(record.start - record.ready);
  const double seconds = (record.end - record.start).value();
  if (op.collective) {
    const CollectivePart& part = *op.collective;
    const Communicator& communicator = schedule_.communicators[part.communicator.position()];
    const int ranks = communicator.group_size();
    args["collective"] = name_of(part.kind);
    args["communicator"] = communicator.name;
    args["ranks"] = ranks;
    args["groups"] = communicator.group_count();
    args["bytes"] = part.bytes.value();
    if (seconds > 0) {
      const double rate = part.bytes.value() / seconds / 1e9;
      args["algbw_GBps"] = rounded(rate);
      args["busbw_GBps"] = rounded(rate * bus_factor(part.kind, ranks));
    }
  } else if (!op.kernels.empty()) {
    double flops = 0;
    for (const Kernel& kernel : op.kernels) flops += flops_of(kernel).value();
    args["kernels"] = op.kernels.size();
    if (flops > 0) args["flops"] = flops;
    if (flops > 0 && seconds > 0) args["tflops_per_s"] = rounded(flops / seconds / 1e12);
  }
  return args;
}

void TraceWriter::add_operation(const OpRecord& record) {
  const Op& op = schedule_.op(record.op);
  const double start = time(record.start);
  const std::string_view category =
      op.collective ? name_of(op.collective->kind) : (op.kernels.empty() ? "marker" : "compute");
  events_.add(start, {{"ph", "X"},
                      {"pid", process_.at(record.rank)},
                      {"tid", thread_of(record)},
                      {"ts", start},
                      {"dur", duration(record.start, record.end)},
                      {"name", op.name},
                      {"cat", category},
                      {"args", arguments(record)}});
}

void TraceWriter::add_arrows(const OpRecord& record) {
  for (const OpId before : schedule_.op(record.op).after) {
    if (schedule_.op(before).stream == schedule_.op(record.op).stream) continue;
    const auto found = instances_.predecessor(record, before);
    if (!found) continue;
    const OpRecord& from = instances_.records()[*found];
    // The arrow leaves inside its slice (Perfetto binds it to the slice that encloses the time).
    const double leaves = std::max(time(from.start), time(from.end) - 0.001);
    const int id = ++arrows_;
    const Json common{{"pid", process_.at(record.rank)},
                      {"cat", "dependency"},
                      {"name", "dependency"},
                      {"id", id}};
    Json start = common, finish = common;
    start.update({{"ph", "s"}, {"tid", thread_of(from)}, {"ts", leaves}});
    finish.update({{"ph", "f"},
                   {"bp", "e"},
                   {"tid", thread_of(record)},
                   {"ts", std::max(leaves, time(record.start))}});
    events_.add(leaves, std::move(start));
    events_.add(std::max(leaves, time(record.start)), std::move(finish));
  }
}

// One slice for all repetitions that were not replayed because they look like the one before.
void TraceWriter::add_skipped() {
  const Seconds end = input_.result.period_start + input_.result.step_time;
  for (const SkippedRepetitions& skipped : input_.result.skipped) {
    if (skipped.from < input_.result.period_start || skipped.from >= end) continue;
    const double start = time(skipped.from + skipped.period);
    const std::string& block = schedule_.blocks[static_cast<std::size_t>(skipped.block)].name;
    for (const auto& [rank, pid] : process_) {
      name_thread(pid, 0, "repetitions");
      events_.add(start,
                  {{"ph", "X"},
                   {"pid", pid},
                   {"tid", 0},
                   {"ts", start},
                   {"dur", microseconds_of(skipped.period * static_cast<double>(skipped.count))},
                   {"name", fmt::format("{} more times {}, alike", skipped.count, block)},
                   {"cat", "repetitions"},
                   {"args", {{"period_us", microseconds_of(skipped.period)}}}});
    }
  }
}

void TraceWriter::add_memory() {
  if (input_.memory.points.empty()) return;
  const int pid = process_.at(input_.memory.rank);
  for (const MemoryPoint& point : input_.memory.points)
    events_.add(time(point.time), {{"ph", "C"},
                                   {"pid", pid},
                                   {"ts", time(point.time)},
                                   {"name", "memory"},
                                   {"args", {{"bytes", point.total.value()}}}});
}

// A step function of the summed mean rates of the collectives on the link.
void TraceWriter::add_link_load(const std::string& name, int tid,
                                const std::vector<LinkSpan>& spans) {
  std::map<double, double> change;  // time: bytes/s more or less
  for (const LinkSpan& span : spans) {
    if (span.end <= span.start) continue;
    const double rate = (span.bytes / (span.end - span.start)).value();
    change[time(span.start)] += rate;
    change[time(span.end)] -= rate;
  }
  double rate = 0;
  for (const auto& [when, delta] : change) {
    rate += delta;
    events_.add(
        when, {{"ph", "C"},
               {"pid", links_process_},
               {"tid", tid},
               {"ts", when},
               {"name", "load of " + name},
               {"args", {{"GBps", std::max(0.0, rounded(std::abs(rate) < 1 ? 0 : rate / 1e9))}}}});
  }
}

void TraceWriter::add_links() {
  if (input_.result.links.empty()) return;
  name_process(links_process_, "links");
  int tid = 0;
  for (const LinkUse& use : input_.result.links) {
    std::vector<LinkSpan> spans;
    std::copy_if(input_.links.begin(), input_.links.end(), std::back_inserter(spans),
                 [&](const LinkSpan& span) { return span.link == use.link; });
    const std::string name = link_name(use.link);
    const int first = tid + 1;
    // Slices of one thread must not overlap: what shares the link has threads of its own.
    std::vector<Seconds> busy_until;
    for (const LinkSpan& span : spans) {
      const auto free = std::find_if(busy_until.begin(), busy_until.end(),
                                     [&](Seconds end) { return end <= span.start; });
      const auto lane = free - busy_until.begin();
      if (free == busy_until.end()) {
        busy_until.push_back(span.end);
        name_thread(links_process_, ++tid, lane_name(name, use.members, lane > 0));
      } else {
        *free = span.end;
      }
      add_link_slice(span, first + static_cast<int>(lane));
    }
    if (!spans.empty()) add_link_load(name, first, spans);
  }
}

std::string TraceWriter::lane_name(const std::string& link, std::int64_t members, bool shared) {
  const std::string stands = members > 1 ? fmt::format("stands for {}", members) : "";
  const std::string_view with = shared ? "shared with the above" : "";
  if (stands.empty() && with.empty()) return link;
  return fmt::format("{} ({}{}{})", link, stands, stands.empty() || with.empty() ? "" : "; ", with);
}

void TraceWriter::add_link_slice(const LinkSpan& span, int tid) {
  const double length = duration(span.start, span.end);
  events_.add(time(span.start),
              {{"ph", "X"},
               {"pid", links_process_},
               {"tid", tid},
               {"ts", time(span.start)},
               {"dur", length},
               {"name", schedule_.op(span.op).name},
               {"cat", "link"},
               {"args",
                {{"bytes", span.bytes.value()},
                 {"GBps", length > 0 ? rounded(span.bytes.value() / length / 1e3) : 0.0}}}});
}

std::string TraceWriter::text() {
  add_names();
  for (const OpRecord& record : instances_.records()) {
    if (process_.count(record.rank) == 0) continue;
    add_operation(record);
    add_arrows(record);
  }
  add_skipped();
  add_memory();
  add_links();
  Json links = Json::array();
  for (const LinkUse& use : input_.result.links)
    links.push_back({{"name", link_name(use.link)},
                     {"members", use.members},
                     {"carried_bytes", use.carried.value()},
                     {"busy", rounded(use.busy)}});
  Json memory = Json::object();
  for (const auto& [component, bytes] : input_.memory.at_peak)
    memory[std::string(name_of(component))] = bytes.value();
  const Json other{{"program", "amsp " AMSP_VERSION},
                   {"schedule", schedule_.name},
                   {"world", schedule_.world},
                   {"step_time_s", input_.result.step_time.value()},
                   {"repeats_folded", input_.result.repeats_folded},
                   {"peak_memory_bytes", input_.memory.peak.value()},
                   {"memory_at_peak_bytes", memory},
                   {"links", links}};
  return "{\"displayTimeUnit\":\"ms\",\n\"otherData\":" +
         other.dump(-1, ' ', false, Json::error_handler_t::replace) + ",\n\"traceEvents\":[\n" +
         events_.text() + "\n]}\n";
}

}  // namespace

std::string chrome_trace(const TraceInput& input) { return TraceWriter(input).text(); }

}  // namespace amsp
