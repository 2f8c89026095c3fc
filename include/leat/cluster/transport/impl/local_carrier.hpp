#pragma once
// Implementation of local_carrier.hpp.

#include <leat/cluster/transport/local_carrier.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <atomic>
#include <utility>

namespace leat::transport {

// The queue through which other carriers reach this one. Connections are numbered within the process; both ends have the same number,
// except for the last bit.
struct local_carrier::inbox {
  struct item {
    enum class type { connect, data, hang_up } what;
    std::uint64_t connection;
    packet p;
    std::shared_ptr<inbox> from;
  };
  std::mutex mutex;
  std::deque<item> items;
  reactor* loop = nullptr;  // null when closed

  bool put(item i) {
    const std::lock_guard lock(mutex);
    if (loop == nullptr) return false;
    items.push_back(std::move(i));
    loop->kick();
    return true;
  }
};

struct local_carrier::registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<inbox>> listening;
  std::atomic<std::uint64_t> connections{0};
  std::uint64_t generation = fork_generation();
};

class local_carrier::local_channel final : public channel {
 public:
  local_channel(std::uint64_t number, std::shared_ptr<inbox> mine, std::shared_ptr<inbox> other)
      : channel(way::same_process), number_(number), mine_(std::move(mine)), other_(std::move(other)) {}
  sending send(packet& p) override {
    return !is_closed && other_->put({inbox::item::type::data, number_, std::move(p), nullptr}) ? sending::done : sending::gone;
  }
  void close(bool) override {
    if (std::exchange(is_closed, true)) return;
    other_->put({inbox::item::type::hang_up, number_, {}, nullptr});
    mine_->put({inbox::item::type::hang_up, number_ ^ 1, {}, nullptr});  // makes the own carrier forget the channel
  }
  std::size_t chunk_bytes() const override { return 0; }
  std::string peer() const override { return "a peer in this process"; }

  bool is_closed = false;

 private:
  std::uint64_t number_;
  std::shared_ptr<inbox> mine_, other_;
};

LEAT_FUNCTION local_carrier::registry& local_carrier::all() {
  static registry r;
  return r;
}

LEAT_FUNCTION local_carrier::local_carrier(carrier_events& events, reactor& loop) : events_(events), inbox_(std::make_shared<inbox>()) {
  inbox_->loop = &loop;
}
LEAT_FUNCTION local_carrier::~local_carrier() { local_carrier::close(no_deadline); }

LEAT_FUNCTION bool local_carrier::is_listening(const address& where) {
  registry& r = all();
  if (r.generation != fork_generation()) return false;
  const std::lock_guard lock(r.mutex);
  const auto found = r.listening.find(where.text());
  return found != r.listening.end() && !found->second.expired();
}

LEAT_FUNCTION void local_carrier::listen(const address& where) {
  registry& r = all();
  if (r.generation != fork_generation()) return;  // in the child of a fork, peers are reached over the network
  const std::lock_guard lock(r.mutex);
  listening_ = where.text();
  r.listening[listening_] = inbox_;
}

LEAT_FUNCTION std::shared_ptr<channel> local_carrier::dial(const address& where) {
  registry& r = all();
  std::shared_ptr<inbox> other;
  {
    const std::lock_guard lock(r.mutex);
    if (const auto found = r.listening.find(where.text()); found != r.listening.end()) other = found->second.lock();
  }
  if (other == nullptr) return nullptr;
  const std::uint64_t number = ++r.connections * 2;
  // If an endpoint connects to itself, the two ends need different numbers: the last bit is set for the accepting end.
  if (!other->put({inbox::item::type::connect, number | 1, {}, inbox_})) return nullptr;
  auto c = std::make_shared<local_channel>(number | 1, inbox_, other);
  channels_[number] = c;
  inbox_->put({inbox::item::type::connect, number, {}, nullptr});
  return c;
}

LEAT_FUNCTION bool local_carrier::pump() {
  std::deque<inbox::item> items;
  {
    const std::lock_guard lock(inbox_->mutex);
    items.swap(inbox_->items);
  }
  for (auto& i : items) {
    if (i.what == inbox::item::type::connect && i.from != nullptr) {
      auto c = std::make_shared<local_channel>(i.connection & ~std::uint64_t{1}, inbox_, i.from);
      channels_[i.connection] = c;
      events_.accepted(c);
      continue;
    }
    const auto found = channels_.find(i.connection);
    if (found == channels_.end()) continue;
    const std::shared_ptr<local_channel> c = found->second;
    if (c->is_closed) {
      channels_.erase(found);
      continue;
    }
    switch (i.what) {
      case inbox::item::type::connect: events_.opened(*c); break;
      case inbox::item::type::data: events_.received(*c, std::move(i.p)); break;
      case inbox::item::type::hang_up:
        channels_.erase(found);
        c->is_closed = true;
        events_.closed(*c, {closing::cause::lost, "the other end closed the connection"});
        break;
    }
  }
  return false;
}

LEAT_FUNCTION void local_carrier::close(steady_time) {
  if (!listening_.empty()) {
    registry& r = all();
    const std::lock_guard lock(r.mutex);
    const auto found = r.listening.find(listening_);
    if (found != r.listening.end() && found->second.lock() == inbox_) r.listening.erase(found);
    listening_.clear();
  }
  for (auto& [number, c] : channels_) c->close(true);
  channels_.clear();
  std::deque<inbox::item> unread;
  {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->loop = nullptr;
    unread.swap(inbox_->items);
  }
  // Peers that connected but were not accepted any more wait for an answer, so they get a hang-up.
  for (const auto& i : unread)
    if (i.what == inbox::item::type::connect && i.from != nullptr)
      i.from->put({inbox::item::type::hang_up, i.connection & ~std::uint64_t{1}, {}, nullptr});
}

}  // namespace leat::transport
