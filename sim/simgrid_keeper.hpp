// SPDX-License-Identifier: Apache-2.0
// SimGrid still uses an activity after it said that it is complete (in the next round of the
// maestro, for a cancelled one): it is kept until the clock has moved twice.
#pragma once
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <vector>

namespace simgrid::s4u {
class Activity;
}

namespace amsp {

class SimgridKeeper {
 public:
  void keep(boost::intrusive_ptr<simgrid::s4u::Activity> activity);

 private:
  std::vector<boost::intrusive_ptr<simgrid::s4u::Activity>> now_, before_;
  double clock_ = 0;
};

}  // namespace amsp
