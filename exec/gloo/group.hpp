// SPDX-License-Identifier: Apache-2.0
// The collectives of one communicator group on Gloo's unbound buffers: the ring algorithms that
// the simulator models, cut into chunks so that consecutive links work at the same time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "exec/control_link.hpp"
#include "exec/elements.hpp"

namespace gloo {
class Context;
namespace transport {
class UnboundBuffer;
}
}  // namespace gloo

namespace amsp {

class GlooGroup {
 public:
  // Connects the members to each other; `key` names the group in the coordinator's store.
  // `capacity`: bytes of the largest whole buffer.
  GlooGroup(ControlLink& link, const std::string& key, const std::string& address, int index,
            int members, Bytes capacity);
  ~GlooGroup();
  GlooGroup(const GlooGroup&) = delete;
  GlooGroup& operator=(const GlooGroup&) = delete;

  // Runs one collective from input() to output(); both hold the whole buffer's layout (an
  // all-gather reads its own part of the input, a reduce-scatter writes its own part).
  void run(const CollectiveShape& shape);
  [[nodiscard]] std::byte* input() { return input_.memory.data(); }
  [[nodiscard]] std::byte* output() { return output_.memory.data(); }

 private:
  struct Buffer {
    std::vector<std::byte> memory;
    std::unique_ptr<gloo::transport::UnboundBuffer> unbound;
    int sends = 0;  // not yet waited for
  };
  struct Span {  // bytes of a buffer
    std::size_t first, count;
  };
  struct Hop {  // one step of a ring: what arrives from the predecessor
    Span span;
    bool reduce = false;
    bool last_reduce = false;  // the sum is a result: it goes to the output
  };

  [[nodiscard]] Span bytes_of(const CollectiveShape& shape, int member) const;
  [[nodiscard]] int ring(int steps) const;  // member so many places further, cyclically
  void send(Buffer& buffer, int to, std::uint64_t slot, Span span);
  void receive(Buffer& buffer, int from, std::uint64_t slot, Span span);
  void wait_receive(Buffer& buffer);
  void wait_sends();

  void copy_own_part(const CollectiveShape& shape);
  // Sends `first` from the input, then each hop's span as soon as it is there (and summed).
  void run_ring(Span first, const std::vector<Hop>& hops, const CollectiveShape& shape);
  void all_gather(const CollectiveShape& shape);
  void reduce_scatter(const CollectiveShape& shape);
  void all_reduce(const CollectiveShape& shape);
  void broadcast(const CollectiveShape& shape);
  void reduce(const CollectiveShape& shape);
  void exchange(const CollectiveShape& shape);  // all_to_all, scatter, gather
  void send_recv(const CollectiveShape& shape);
  void confirm(int by);  // every member waits for a token of this one

  std::shared_ptr<gloo::Context> context_;
  int index_, members_;
  std::uint64_t next_slot_ = 0;
  Buffer input_, output_, scratch_, token_;
};

}  // namespace amsp
