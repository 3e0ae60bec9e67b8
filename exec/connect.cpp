// SPDX-License-Identifier: Apache-2.0
#include "exec/connect.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/units_text.hpp"
#include "exec/clock.hpp"

namespace amsp {

Descriptor connect_to(const std::string& host, int port, Seconds timeout) {
  const Seconds deadline = now() + timeout;
  std::string reason = "no answer";
  while (now() < deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (error != 0) reason = gai_strerror(error);
    for (const addrinfo* at = found; at; at = at->ai_next) {
      Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (!socket.valid() || connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) {
        reason = std::strerror(errno);
        continue;
      }
      const int on = 1;
      setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      freeaddrinfo(found);
      return socket;
    }
    if (found) freeaddrinfo(found);
    usleep(100000);
  }
  throw CheckFailed(fmt::format("cannot reach rank 0 at {} port {} within {}: {}", host, port,
                                human(timeout), reason));
}

namespace {

[[noreturn]] void end_process(std::string_view reason, Rank rank, int status) {
  fmt::print(stderr, "amsp: rank {} stops: {}\n", rank.index, reason);
  std::fflush(stderr);
  _exit(status);
}

}  // namespace

void end_process(const std::string& reason, Rank rank) { end_process(reason, rank, 1); }

void end_process(const std::exception& error, Rank rank) {
  end_process(error.what(), rank, dynamic_cast<const InputError*>(&error) ? 2 : 1);
}

}  // namespace amsp
