// SPDX-License-Identifier: Apache-2.0
// Holds a job together: lets its ranks find each other, checks that they agree, watches over them,
// and ends the job with the name of the rank that died, hung or disagreed.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/id.hpp"
#include "base/quantity.hpp"
#include "exec/control_link.hpp"
#include "exec/frame.hpp"

namespace amsp {

class Coordinator {
 public:
  Coordinator(int world, Seconds timeout);

  // A rank that was started from here, over a socket pair.
  void adopt(Rank rank, Descriptor socket);
  // Ranks that come by themselves. Port 0: any; the port is returned. Throws InputError when it is
  // taken.
  int listen_on(int port);
  // How a rank that is gone ended ("was killed by signal 9 (Killed)"); empty = unknown.
  void explain_ends_with(std::function<std::string(Rank)> explain);
  // A readable descriptor is an order to stop (its meaning: interrupted by a signal).
  void stop_on(int descriptor) { stop_ = descriptor; }

  // Why ranks that have not come will never come; empty while they may. Asked ten times a second.
  void ask_for_the_missing(std::function<std::string()> lost) { lost_ = std::move(lost); }

  // Before another job of ranks that come by themselves: they come again. `store`: what they find.
  void renew(std::map<std::string, std::string> store);
  // Tells ranks that come again that there is no other job.
  void dismiss();
  [[nodiscard]] std::vector<std::string> hosts() const;  // of the last job's ranks

  // Serves the ranks until all results are in, by rank. Otherwise all ranks are told why and the
  // same is thrown: InputError when ranks disagree, CheckFailed when one died, hung or failed.
  std::vector<std::string> serve();

 private:
  struct Peer {
    Descriptor socket;
    bool joined = false, done = false;
    Hello hello;
    RankState state;
    Seconds last_heard;
    std::string result;
    std::vector<std::string> wanted;  // keys it waits for
  };
  void accept_stranger();
  void read_strangers(const std::vector<int>& readable);
  void handle(Rank rank);
  void handle_hello(Rank rank, const std::string& text);
  void handle_end(Rank rank);
  void start_ranks();
  void answer_gets();
  void watch();
  [[nodiscard]] std::string name_of(Rank rank) const;
  [[nodiscard]] Rank culprit_of_standstill() const;
  [[noreturn]] void give_up(const std::string& message, bool bad_input = false);
  void broadcast(const Frame& frame);

  int world_;
  Seconds timeout_, started_, last_progress_;
  std::int64_t ended_ops_ = 0;
  std::vector<Peer> peers_;
  std::vector<Descriptor> strangers_;
  Descriptor listener_;
  int stop_ = -1;
  std::map<std::string, std::string> store_;
  std::function<std::string(Rank)> explain_;
  std::function<std::string()> lost_;
  std::string first_failure_;  // reported by a rank; perhaps only the echo of another's death
  Seconds first_failure_at_;
};

}  // namespace amsp
