// SPDX-License-Identifier: Apache-2.0
#include "exec/frame.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace amsp {
namespace {

// "AMSP" and a version: a stranger who connects to the port is noticed.
constexpr std::uint32_t kMagic = 0x414d5301;
constexpr std::uint32_t kLargest = 1U << 30;

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t length = 0;
  std::uint32_t kind = 0;
};

bool send_all(int socket, const char* data, std::size_t length) {
  while (length > 0) {
    const ssize_t sent = send(socket, data, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    length -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, char* data, std::size_t length) {
  while (length > 0) {
    const ssize_t got = recv(socket, data, length, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    length -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool write_frame(int socket, const Frame& frame) {
  const Header header{kMagic, static_cast<std::uint32_t>(frame.text.size()),
                      static_cast<std::uint32_t>(frame.kind)};
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes += frame.text;
  return send_all(socket, bytes.data(), bytes.size());
}

std::optional<Frame> read_frame(int socket) {
  Header header;
  if (!receive_all(socket, reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (header.magic != kMagic || header.length > kLargest ||
      header.kind > static_cast<std::uint32_t>(FrameKind::bye))
    return std::nullopt;
  Frame frame{static_cast<FrameKind>(header.kind), std::string(header.length, '\0')};
  if (!receive_all(socket, frame.text.data(), frame.text.size())) return std::nullopt;
  return frame;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() { reset(); }

int Descriptor::release() { return std::exchange(fd_, -1); }

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace amsp
