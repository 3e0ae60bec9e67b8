// SPDX-License-Identifier: Apache-2.0
// Messages between a rank and the coordinator of its job, over a stream socket.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace amsp {

enum class FrameKind : std::uint8_t {
  hello,   // rank → coordinator: text of a Hello
  set,     // rank → coordinator: key \n value
  get,     // rank → coordinator: key; answered by `value` once it is set
  value,   // coordinator → rank: key \n value
  state,   // rank → coordinator, twice a second: text of a RankState
  clock,   // rank → coordinator, and back with the coordinator's clock
  start,   // coordinator → ranks: all are here and agree
  result,  // rank → coordinator: its times; the rank is done
  failed,  // rank → coordinator: what went wrong
  abort,   // coordinator → ranks: why the job ends
  bye      // coordinator → ranks: all results are in
};

struct Frame {
  FrameKind kind;
  std::string text;
};

// False when the peer is gone. Neither raises SIGPIPE.
bool write_frame(int socket, const Frame& frame);
// Blocks for a whole frame; empty when the peer is gone or sends what is no frame.
std::optional<Frame> read_frame(int socket);

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

}  // namespace amsp
