#pragma once
// Implementation of endpoint.hpp: the state of connections and of their credit.

#include <leat/cluster/transport/endpoint.hpp>
#include <leat/core/function_bodies.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace leat::transport {

namespace detail {
constexpr int carrier_shift = 56;
constexpr std::size_t token_bytes = 1024;      // credit of longer messages is returned only when they are taken
constexpr std::size_t stranger_bytes = 65536;  // limit of a message from a peer that is not trusted yet
}  // namespace detail

// The peers to which credit must be returned; threads that take messages add to it.
struct endpoint::due_list {
  std::mutex mutex;
  std::vector<link_id> links;
  std::atomic<bool> any{false};
  reactor* loop = nullptr;

  /// Called under the lock.
  void add(link_id link) {
    links.push_back(link);
    any = true;
    loop->kick();
  }
};

// Counts the bytes that a peer sent and that were taken here.
struct endpoint::account {
  link_id link = 0;
  std::size_t threshold = 0;
  std::shared_ptr<due_list> due;
  std::atomic<std::uint64_t> released{0};
  std::atomic<std::uint64_t> announced{0};

  void give(std::uint64_t bytes) {
    const std::uint64_t now = released.fetch_add(bytes) + bytes;
    const std::uint64_t before = now - bytes;
    const std::uint64_t limit = announced.load() + threshold;
    if (now < limit || before >= limit) return;  // only the thread that crosses the threshold reports it
    const std::lock_guard lock(due->mutex);
    if (due->loop != nullptr) due->add(link);
  }
};

// The credit of a message that has not been taken yet.
struct endpoint::lent_credit {
  std::shared_ptr<account> to;
  std::uint64_t bytes;
  lent_credit(std::shared_ptr<account> a, std::uint64_t n) : to(std::move(a)), bytes(n) {}
  lent_credit(const lent_credit&) = delete;
  lent_credit& operator=(const lent_credit&) = delete;
  ~lent_credit() { to->give(bytes); }
};

struct endpoint::link_state {
  std::shared_ptr<channel> c;
  bool is_open = false;
  bool is_accepted = false;
  bool is_trusted = false;
  bool closes_when_empty = false;
  bool said_goodbye = false;
  bool is_ending = false;
  steady_time since;
  steady_time heard;

  std::deque<packet> queue;
  std::size_t queued = 0;
  std::uint64_t sent = 0;      // counted bytes
  std::uint64_t returned = 0;  // of them, as the peer last reported
  std::vector<std::shared_ptr<std::atomic<bool>>> waiters;

  assembler in;
  std::shared_ptr<account> received;
  std::uint64_t message_bytes = 0;  // of the packets of a message that is not complete
};

struct endpoint::delivery {
  enum class type { opened, received, closed } what;
  link_id link;
  bool is_accepted = false;
  message m;
  closing why;
};

}  // namespace leat::transport
