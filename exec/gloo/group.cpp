// SPDX-License-Identifier: Apache-2.0
#include "exec/gloo/group.hpp"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>

namespace amsp {
namespace {

// Gloo itself never gives up: the coordinator judges what hangs, and names the rank.
constexpr std::chrono::hours kNoTimeout{24};

class CoordinatorStore : public gloo::rendezvous::Store {
 public:
  CoordinatorStore(ControlLink& link, std::string prefix)
      : link_(link), prefix_(std::move(prefix)) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    link_.set(prefix_ + key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = link_.get(prefix_ + key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) link_.get(prefix_ + key);
  }

 private:
  ControlLink& link_;
  std::string prefix_;
};

}  // namespace

GlooGroup::GlooGroup(ControlLink& link, const std::string& key, const std::string& address,
                     int index, int members, Bytes capacity)
    : index_(index), members_(members) {
  for (Buffer* buffer : {&input_, &output_, &scratch_})
    buffer->memory.resize(static_cast<std::size_t>(capacity.value()) + 8);
  token_.memory.resize(1);
  if (members == 1) return;
  gloo::transport::tcp::attr attributes(address.c_str());
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(index, members);
  context->setTimeout(kNoTimeout);
  CoordinatorStore store(link, key + "/");
  context->connectFullMesh(store, device);
  context_ = context;
  for (Buffer* buffer : {&input_, &output_, &scratch_, &token_})
    buffer->unbound = context_->createUnboundBuffer(buffer->memory.data(), buffer->memory.size());
}

GlooGroup::~GlooGroup() {
  for (Buffer* buffer : {&input_, &output_, &scratch_, &token_}) buffer->unbound.reset();
  if (context_) context_->closeConnections();
}

int GlooGroup::ring(int steps) const { return ((index_ + steps) % members_ + members_) % members_; }

GlooGroup::Span GlooGroup::bytes_of(const CollectiveShape& shape, int member) const {
  const Part part = part_of(shape, member);
  const auto size = static_cast<std::size_t>(size_of(shape.dtype).value());
  return {static_cast<std::size_t>(part.first) * size, static_cast<std::size_t>(part.count) * size};
}

void GlooGroup::send(Buffer& buffer, int to, std::uint64_t slot, Span span) {
  buffer.unbound->send(to, slot, span.first, span.count);
  ++buffer.sends;
}

void GlooGroup::receive(Buffer& buffer, int from, std::uint64_t slot, Span span) {
  buffer.unbound->recv(from, slot, span.first, span.count);
}

void GlooGroup::wait_receive(Buffer& buffer) { buffer.unbound->waitRecv(); }

void GlooGroup::wait_sends() {
  for (Buffer* buffer : {&input_, &output_, &scratch_, &token_})
    for (; buffer->sends > 0; --buffer->sends) buffer->unbound->waitSend();
}

void GlooGroup::copy_own_part(const CollectiveShape& shape) {
  const Span own = bytes_of(shape, index_);
  std::memcpy(output() + own.first, input() + own.first, own.count);
}

void GlooGroup::run(const CollectiveShape& shape) {
  assert(shape.members == members_);
  if (members_ == 1) {
    std::memcpy(output(), input(),
                static_cast<std::size_t>(shape.elements) *
                    static_cast<std::size_t>(size_of(shape.dtype).value()));
    return;
  }
  switch (shape.kind) {
    case CollectiveKind::all_gather:
      return all_gather(shape);
    case CollectiveKind::reduce_scatter:
      return reduce_scatter(shape);
    case CollectiveKind::all_reduce:
      return all_reduce(shape);
    case CollectiveKind::broadcast:
      return broadcast(shape);
    case CollectiveKind::reduce:
      return reduce(shape);
    case CollectiveKind::all_to_all:
    case CollectiveKind::scatter:
    case CollectiveKind::gather:
      return exchange(shape);
    case CollectiveKind::send_recv:
      return send_recv(shape);
  }
}

}  // namespace amsp
