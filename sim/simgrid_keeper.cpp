// SPDX-License-Identifier: Apache-2.0
#include "sim/simgrid_keeper.hpp"

#include <simgrid/s4u.hpp>

namespace amsp {

void SimgridKeeper::keep(boost::intrusive_ptr<simgrid::s4u::Activity> activity) {
  const double clock = simgrid::s4u::Engine::get_clock();
  if (clock > clock_) {
    before_.swap(now_);
    now_.clear();
  }
  clock_ = clock;
  now_.push_back(std::move(activity));
}

}  // namespace amsp
