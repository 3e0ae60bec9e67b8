// SPDX-License-Identifier: Apache-2.0
// A schedule for people: one line for each run of ops of one block, phase and layer.
#include <fmt/format.h>

#include "base/units_text.hpp"
#include "workloads/schedule.hpp"

namespace amsp {
namespace {

std::string describe(const Communicator& communicator) {
  return fmt::format("{} of {}", communicator.group_count(), communicator.group_size());
}

class Text {
 public:
  explicit Text(const Schedule& schedule) : schedule_(schedule) {}

  std::string build() {
    text_ = fmt::format("{}: {} ranks\n", schedule_.name, schedule_.world);
    for (const Communicator& communicator : schedule_.communicators)
      text_ += fmt::format("communicator {}: {}\n", communicator.name, describe(communicator));
    for (const PersistentMemory& memory : schedule_.persistent)
      text_ += fmt::format("holds {} {}\n", name_of(memory.component), human(memory.bytes));
    for (const Block& block : schedule_.blocks) print(block);
    return std::move(text_);
  }

 private:
  void print(const Block& block) {
    text_ += fmt::format("block {} x {}", block.name, block.repeat);
    Phase phase{};
    int layer = -2;
    for (const OpId id : block.ops) {
      const Op& op = schedule_.op(id);
      if (layer == -2 || op.phase != phase || op.layer != layer) {
        phase = op.phase;
        layer = op.layer;
        text_ += fmt::format("\n  {}:", name_of(phase));
      }
      text_ += " " + print(op);
    }
    text_ += "\n";
  }

  std::string print(const Op& op) const {
    const Stream& stream = schedule_.streams[op.stream.position()];
    std::string text = op.name.substr(op.name.find('.') + 1);
    if (op.collective)
      text += fmt::format("[{} {}]", human(op.collective->bytes),
                          schedule_.communicators[op.collective->communicator.position()].name);
    if (!stream.compute) text = stream.name + "/" + text;
    std::string waits;
    for (const OpId after : op.after) {
      const Op& other = schedule_.op(after);
      waits += (waits.empty() ? "" : ",") + other.name;
    }
    if (!waits.empty()) text += "<" + waits + ">";
    return text;
  }

  const Schedule& schedule_;
  std::string text_;
};

}  // namespace

std::string to_text(const Schedule& schedule) { return Text(schedule).build(); }

}  // namespace amsp
