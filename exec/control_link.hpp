// SPDX-License-Identifier: Apache-2.0
// A rank's end of its connection to the coordinator: a key-value store for rendezvous, a report
// of progress twice a second, and the order to stop. Thread-safe.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "exec/frame.hpp"

namespace amsp {

// What a rank is doing, as the coordinator hears it.
struct RankState {
  std::int64_t ended = 0;          // ops
  bool waiting_for_peers = false;  // some stream is inside a collective, none computes
  std::string doing;               // "in broadcast_3, step 2; …"
};
std::string to_text(const RankState& state);
RankState parse_rank_state(const std::string& text);

struct Hello {
  int rank = 0, world = 0;
  std::string digest;  // of the job
  std::string host;    // name, and the boot id (equal boot ids share a clock)
  std::string boot;
};
std::string to_text(const Hello& hello);
Hello parse_hello(const std::string& text);
Hello hello_of_this_host(Rank rank, int world, std::string digest);

class ControlLink {
 public:
  // `on_end` is called once, from the link's own thread, when the coordinator orders a stop
  // (with its reason) or is gone. It should end the process.
  ControlLink(Descriptor socket, std::function<void(const std::string&)> on_end);
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  // Says hello and waits until all ranks are here; false when there is no job (any more).
  [[nodiscard]] bool join(const Hello& hello);
  void set(const std::string& key, const std::string& value);
  std::string get(const std::string& key);  // waits until it is set
  // What to add to this host's clock to get the coordinator's (the least of 16 round trips).
  Seconds clock_offset();
  void report_state_with(std::function<RankState()> source);
  // Sends the result and waits until every rank has done so.
  void finish(const std::string& result);
  // Reports a failure and waits to be told to stop.
  [[noreturn]] void fail(const std::string& message);
  // The address by which this host reached the coordinator ("" when it is a local socket).
  [[nodiscard]] std::string own_address() const;

 private:
  void listen();
  void send(FrameKind kind, const std::string& text);
  Frame await(FrameKind kind, const std::string& key);

  Descriptor socket_;
  std::function<void(const std::string&)> on_end_;
  std::mutex mutex_, write_mutex_;
  std::condition_variable changed_;
  std::map<std::pair<FrameKind, std::string>, std::string> inbox_;
  std::function<RankState()> state_;
  bool closing_ = false;
  std::thread listener_;
};

}  // namespace amsp
