// SPDX-License-Identifier: Apache-2.0
#include "exec/control_link.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "exec/clock.hpp"

namespace amsp {
namespace {

constexpr int kReportEveryMs = 500;
constexpr int kClockTrips = 16;

// The text of a `value` frame is "key \n value"; keys hold no newline.
std::pair<std::string, std::string> split_key(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return {text, ""};
  return {text.substr(0, end), text.substr(end + 1)};
}

}  // namespace

std::string to_text(const RankState& state) {
  return fmt::format("{} {} {}", state.ended, state.waiting_for_peers ? 1 : 0, state.doing);
}

RankState parse_rank_state(const std::string& text) {
  std::istringstream in(text);
  RankState state;
  int waiting = 0;
  in >> state.ended >> waiting;
  in.get();
  std::getline(in, state.doing, '\0');
  state.waiting_for_peers = waiting != 0;
  return state;
}

std::string to_text(const Hello& hello) {
  return fmt::format("{} {} {} {} {}", hello.rank, hello.world, hello.digest, hello.host,
                     hello.boot);
}

Hello parse_hello(const std::string& text) {
  std::istringstream in(text);
  Hello hello;
  in >> hello.rank >> hello.world >> hello.digest >> hello.host >> hello.boot;
  return hello;
}

Hello hello_of_this_host(Rank rank, int world, std::string digest) {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  std::string boot = "unknown";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return {rank.index, world, std::move(digest), host, boot};
}

ControlLink::ControlLink(Descriptor socket, std::function<void(const std::string&)> on_end)
    : socket_(std::move(socket)), on_end_(std::move(on_end)), listener_([this] { listen(); }) {}

ControlLink::~ControlLink() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  shutdown(socket_.get(), SHUT_RDWR);
  listener_.join();
}

void ControlLink::send(FrameKind kind, const std::string& text) {
  const std::lock_guard lock(write_mutex_);
  write_frame(socket_.get(), {kind, text});  // a lost peer shows in listen()
}

void ControlLink::listen() {
  while (true) {
    pollfd poller{socket_.get(), POLLIN, 0};
    const int ready = poll(&poller, 1, kReportEveryMs);
    std::function<RankState()> source;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      source = state_;
    }
    if (ready == 0) {
      send(FrameKind::state, to_text(source ? source() : RankState{0, false, "starting"}));
      continue;
    }
    const auto frame = read_frame(socket_.get());
    const std::unique_lock lock(mutex_);
    if (closing_) return;
    if (!frame || frame->kind == FrameKind::abort) {
      on_end_(frame ? frame->text : "lost contact with the coordinator of the job");
      return;
    }
    auto [key, value] = split_key(frame->text);
    inbox_[{frame->kind, key}] = std::move(value);
    changed_.notify_all();
    if (frame->kind == FrameKind::bye) return;  // that the coordinator goes now is in order
  }
}

Frame ControlLink::await(FrameKind kind, const std::string& key) {
  std::unique_lock lock(mutex_);
  const auto place = std::pair(kind, key);
  changed_.wait(lock, [&] { return inbox_.count(place) > 0; });
  Frame frame{kind, std::move(inbox_[place])};
  inbox_.erase(place);
  return frame;
}

bool ControlLink::join(const Hello& hello) {
  send(FrameKind::hello, to_text(hello));
  std::unique_lock lock(mutex_);
  const auto start = std::pair(FrameKind::start, std::string());
  const auto bye = std::pair(FrameKind::bye, std::string());
  changed_.wait(lock, [&] { return inbox_.count(start) + inbox_.count(bye) > 0; });
  return inbox_.erase(start) > 0;
}

void ControlLink::set(const std::string& key, const std::string& value) {
  send(FrameKind::set, key + "\n" + value);
}

std::string ControlLink::get(const std::string& key) {
  send(FrameKind::get, key);
  return await(FrameKind::value, key).text;
}

Seconds ControlLink::clock_offset() {
  Seconds best_trip{1e9}, offset;
  for (int i = 0; i < kClockTrips; ++i) {
    const Seconds sent = now();
    send(FrameKind::clock, std::to_string(i));
    const std::string answer = await(FrameKind::clock, std::to_string(i)).text;
    const Seconds received = now();
    if (received - sent >= best_trip) continue;
    best_trip = received - sent;
    offset = Seconds(std::strtod(answer.c_str(), nullptr)) - (sent + received) * 0.5;
  }
  return offset;
}

void ControlLink::report_state_with(std::function<RankState()> source) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(source);
}

void ControlLink::finish(const std::string& result) {
  send(FrameKind::result, result);
  await(FrameKind::bye, "");
}

void ControlLink::fail(const std::string& message) {
  send(FrameKind::failed, message);
  while (true) pause();  // on_end ends the process
}

std::string ControlLink::own_address() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char host[NI_MAXHOST] = "";
  if (getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      address.ss_family == AF_UNIX)
    return "";
  getnameinfo(reinterpret_cast<sockaddr*>(&address), length, host, sizeof host, nullptr, 0,
              NI_NUMERICHOST);
  return host;
}

}  // namespace amsp
