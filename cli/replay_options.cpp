// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_options.hpp"

#include "base/error.hpp"

namespace amsp {

void ReplayFlags::declare(Options& options) {
  options.choice("--engine", "ENGINE",
                 "fluid (folded, fast) or simgrid (every GPU and link on SimGrid)", engine_,
                 {"fluid", "simgrid"});
  options.flag("--unfolded", "fluid: every rank and link, no classes", unfolded_);
  options.flag("--messages", "simgrid: every ring or tree step a communication (small clusters)",
               messages_);
  options.flag("--all-repeats", "replay every micro-batch, also once the step is periodic",
               all_repeats_);
  options.integer("--steps", "K", "training steps to replay; the last is reported", steps_, 1,
                  1000);
}

ReplayOptions ReplayFlags::options() const {
  if (messages_ && engine_ != "simgrid")
    throw InputError("--messages needs --engine simgrid (the fluid engine has no messages)");
  ReplayOptions result;
  result.engine = engine_ == "simgrid" ? EngineKind::simgrid : EngineKind::fluid;
  result.folded = !unfolded_ && result.engine == EngineKind::fluid;
  result.messages = messages_;
  result.fold_repeats = !all_repeats_;
  result.steps = static_cast<int>(steps_);
  return result;
}

}  // namespace amsp
