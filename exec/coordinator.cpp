// SPDX-License-Identifier: Apache-2.0
#include "exec/coordinator.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/units_text.hpp"
#include "exec/clock.hpp"
#include "exec/host_memory.hpp"

namespace amsp {
namespace {

constexpr int kTickMs = 100;
// A rank whose peer died reports a broken connection, often before the death itself is seen.
constexpr Seconds kEchoWait{2.0};
// A rank that answers nothing for so long is stopped or cut off (it reports twice a second).
constexpr Seconds kLeastSilence{5.0};

void limit_blocking(int socket) {
  const timeval limit{5, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace

Coordinator::Coordinator(int world, Seconds timeout)
    : world_(world), timeout_(timeout), peers_(static_cast<std::size_t>(world)) {}

void Coordinator::adopt(Rank rank, Descriptor socket) {
  limit_blocking(socket.get());
  peers_[rank.position()].socket = std::move(socket);
}

int Coordinator::listen_on(int port) {
  listener_ = Descriptor(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1, off = 0;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(listener_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0)
    throw InputError(fmt::format(
        "rank 0 cannot listen on port {}: {}; set MASTER_PORT to a free port on all ranks", port,
        std::strerror(errno)));
  socklen_t length = sizeof address;
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin6_port);
}

void Coordinator::renew(std::map<std::string, std::string> store) {
  peers_ = std::vector<Peer>(static_cast<std::size_t>(world_));
  strangers_.clear();
  store_ = std::move(store);
  first_failure_.clear();
  ended_ops_ = 0;
}

// Ranks come again as soon as their last job has ended.
void Coordinator::dismiss() {
  const Seconds deadline = now() + kEchoWait;
  for (int told = 0; told < world_ && now() < deadline;) {
    pollfd poller{listener_.get(), POLLIN, 0};
    if (poll(&poller, 1, kTickMs) <= 0) continue;
    const Descriptor rank(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!rank.valid()) continue;
    limit_blocking(rank.get());
    const auto frame = read_frame(rank.get());
    if (frame && frame->kind == FrameKind::hello && write_frame(rank.get(), {FrameKind::bye, ""}))
      ++told;
  }
}

std::vector<std::string> Coordinator::hosts() const {
  std::vector<std::string> result;
  for (const Peer& peer : peers_) result.push_back(peer.hello.host);
  return result;
}

void Coordinator::explain_ends_with(std::function<std::string(Rank)> explain) {
  explain_ = std::move(explain);
}

std::vector<std::string> Coordinator::serve() {
  started_ = last_progress_ = now();
  store_["boot"] = hello_of_this_host(Rank(0), world_, "").boot;
  for (Peer& peer : peers_) peer.last_heard = started_;
  while (!std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.done; })) {
    std::vector<pollfd> pollers{{stop_, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Peer& peer : peers_) pollers.push_back({peer.socket.get(), POLLIN, 0});
    for (const Descriptor& stranger : strangers_) pollers.push_back({stranger.get(), POLLIN, 0});
    poll(pollers.data(), pollers.size(), kTickMs);
    if (pollers[0].revents) give_up("interrupted by a signal");
    for (std::size_t r = 0; r < peers_.size(); ++r)
      if (pollers[r + 2].revents) handle(Rank(r));
    std::vector<int> readable;
    for (std::size_t i = peers_.size() + 2; i < pollers.size(); ++i)
      if (pollers[i].revents) readable.push_back(pollers[i].fd);
    read_strangers(readable);
    if (pollers[1].revents) accept_stranger();
    answer_gets();
    watch();
  }
  broadcast({FrameKind::bye, ""});
  std::vector<std::string> results;
  for (Peer& peer : peers_) results.push_back(std::move(peer.result));
  return results;
}

void Coordinator::accept_stranger() {
  Descriptor stranger(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!stranger.valid()) return;
  limit_blocking(stranger.get());
  strangers_.push_back(std::move(stranger));
}

void Coordinator::read_strangers(const std::vector<int>& readable) {
  for (int fd : readable) {
    const auto at = std::find_if(strangers_.begin(), strangers_.end(),
                                 [&](const Descriptor& d) { return d.get() == fd; });
    Descriptor stranger = std::move(*at);
    strangers_.erase(at);
    const auto frame = read_frame(fd);
    if (!frame || frame->kind != FrameKind::hello) continue;  // a port scan, not a rank
    const Hello hello = parse_hello(frame->text);
    if (hello.rank < 0 || hello.rank >= world_)
      give_up(fmt::format("a process on {} says it is rank {}; ranks are 0 to {}", hello.host,
                          hello.rank, world_ - 1),
              true);
    const Rank rank(hello.rank);
    if (peers_[rank.position()].joined)
      give_up(fmt::format("two processes say they are rank {}: on {} and on {}", hello.rank,
                          peers_[rank.position()].hello.host, hello.host),
              true);
    peers_[rank.position()].socket = std::move(stranger);
    handle_hello(rank, frame->text);
  }
}

void Coordinator::handle_hello(Rank rank, const std::string& text) {
  Peer& peer = peers_[rank.position()];
  peer.hello = parse_hello(text);
  peer.joined = true;
  peer.last_heard = now();
  if (peer.hello.world != world_)
    give_up(fmt::format("rank {} was told of {} ranks, rank 0 of {}", rank.index, peer.hello.world,
                        world_),
            true);
  if (!std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.joined; })) return;
  // The digest of most ranks is taken for right, so that the odd one out is named.
  std::map<std::string, int> votes;
  for (const Peer& p : peers_) ++votes[p.hello.digest];
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (std::size_t r = 0; r < peers_.size(); ++r)
    if (peers_[r].hello.digest != most->first)
      give_up(fmt::format("{} disagrees on the schedule or its options (digest {:.12}, the "
                          "other ranks have {:.12})",
                          name_of(Rank(r)), peers_[r].hello.digest, most->first),
              true);
  start_ranks();
}

void Coordinator::start_ranks() {
  std::map<std::string, std::vector<Rank>> neighbours;
  for (std::size_t r = 0; r < peers_.size(); ++r) neighbours[peers_[r].hello.boot].emplace_back(r);
  for (const auto& [boot, ranks] : neighbours) store_[neighbours_key(boot)] = to_text(ranks);
  last_progress_ = now();
  broadcast({FrameKind::start, ""});
}

void Coordinator::handle(Rank rank) {
  Peer& peer = peers_[rank.position()];
  const auto frame = read_frame(peer.socket.get());
  if (!frame) return handle_end(rank);
  peer.last_heard = now();
  switch (frame->kind) {
    case FrameKind::hello:
      return handle_hello(rank, frame->text);
    case FrameKind::set: {
      const std::size_t end = std::min(frame->text.find('\n'), frame->text.size() - 1);
      store_[frame->text.substr(0, end)] = frame->text.substr(end + 1);
      last_progress_ = now();
      return;
    }
    case FrameKind::get:
      peer.wanted.push_back(frame->text);
      return;
    case FrameKind::clock:
      write_frame(peer.socket.get(),
                  {FrameKind::clock, fmt::format("{}\n{:.9f}", frame->text, now().value())});
      return;
    case FrameKind::state:
      peer.state = parse_rank_state(frame->text);
      return;
    case FrameKind::result:
      peer.result = frame->text;
      peer.done = true;
      last_progress_ = now();
      return;
    case FrameKind::failed:
      if (first_failure_.empty()) {
        first_failure_ = fmt::format("{}: {}", name_of(rank), frame->text);
        first_failure_at_ = now();
      }
      return;
    default:
      give_up(fmt::format("{} sent a message that ranks do not send", name_of(rank)));
  }
}

void Coordinator::handle_end(Rank rank) {
  std::string how = explain_ ? explain_(rank) : "";
  if (how.empty()) how = "is gone (its connection closed)";
  const RankState& state = peers_[rank.position()].state;
  give_up(fmt::format("{} {}{}", name_of(rank), how,
                      state.doing.empty() ? "" : ", last seen " + state.doing));
}

void Coordinator::answer_gets() {
  for (Peer& peer : peers_) {
    auto answered = [&](const std::string& key) {
      const auto found = store_.find(key);
      if (found == store_.end()) return false;
      write_frame(peer.socket.get(), {FrameKind::value, key + "\n" + found->second});
      return true;
    };
    peer.wanted.erase(std::remove_if(peer.wanted.begin(), peer.wanted.end(), answered),
                      peer.wanted.end());
  }
}

std::string Coordinator::name_of(Rank rank) const {
  const std::string& host = peers_[rank.position()].hello.host;
  const bool elsewhere = !host.empty() && host != peers_[0].hello.host;
  return fmt::format("rank {}{}", rank.index, elsewhere ? " (on " + host + ")" : "");
}

// Ranks inside a collective wait for others; the one that holds them up is not among them. When
// all are inside one, it is the rank that has got least far.
Rank Coordinator::culprit_of_standstill() const {
  std::size_t worst = 0;
  auto key = [&](std::size_t r) {
    return std::tuple(peers_[r].done, peers_[r].state.waiting_for_peers, peers_[r].state.ended);
  };
  for (std::size_t r = 1; r < peers_.size(); ++r)
    if (key(r) < key(worst)) worst = r;
  return Rank(worst);
}

void Coordinator::watch() {
  const Seconds moment = now();
  if (!first_failure_.empty() && moment - first_failure_at_ > kEchoWait) give_up(first_failure_);
  std::int64_t ended = 0;
  std::string missing;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const Peer& peer = peers_[r];
    ended += peer.state.ended;
    if (!peer.joined) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", r);
    const Seconds silence = moment - peer.last_heard;
    if (peer.joined && !peer.done && silence > std::max(timeout_, kLeastSilence))
      give_up(
          fmt::format("{} has not answered for {} (stopped, or its host is cut off), last "
                      "seen {}",
                      name_of(Rank(r)), human(silence), peer.state.doing));
  }
  if (ended > ended_ops_) last_progress_ = moment;
  ended_ops_ = std::max(ended, ended_ops_);
  if (const std::string reason = missing.empty() || !lost_ ? "" : lost_(); !reason.empty())
    give_up(fmt::format("no sign of rank {}: {}", missing, reason));
  if (moment - last_progress_ <= timeout_) return;
  if (!missing.empty())
    give_up(fmt::format("no sign of rank {} within {}", missing, human(timeout_)));
  const Rank culprit = culprit_of_standstill();
  give_up(fmt::format("{} hangs: nothing ended for {}; it is {}", name_of(culprit), human(timeout_),
                      peers_[culprit.position()].state.doing));
}

void Coordinator::give_up(const std::string& message, bool bad_input) {
  broadcast({FrameKind::abort, message});
  for (const Descriptor& stranger : strangers_)
    write_frame(stranger.get(), {FrameKind::abort, message});
  if (bad_input) throw InputError(message);
  throw CheckFailed(message);
}

void Coordinator::broadcast(const Frame& frame) {
  for (const Peer& peer : peers_)
    if (peer.socket.valid()) write_frame(peer.socket.get(), frame);
}

}  // namespace amsp
