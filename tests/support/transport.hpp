#pragma once
// Servers and clients for tests of the transports.

#include <leat/cluster/transport/messenger.hpp>
#include <leat/core/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace leat_test {

using namespace std::chrono_literals;
namespace tr = leat::transport;

inline constexpr tr::way ways[] = {tr::way::same_process, tr::way::network, tr::way::same_host};

inline tr::steady_time in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

template <class F>
bool until(F holds, std::chrono::milliseconds time = 10s) {
  for (const auto end = in(time); !holds(); std::this_thread::sleep_for(1ms))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

inline tr::frame numbers(std::size_t n) {
  tr::writable_frame f = tr::writable_frame::make(n);
  for (std::size_t i = 0; i < n; ++i) f.data()[i] = static_cast<std::byte>(i * 7 + n);
  return f;
}
inline bool equal(const tr::frame& a, const tr::frame& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

inline tr::messenger_options client_options(tr::way w) {
  tr::messenger_options o;
  o.self.cluster = "cluster";
  o.self.run = "run";
  o.endpoint.same_process = w == tr::way::same_process;
  o.endpoint.same_host = w == tr::way::same_host;
  return o;
}
inline tr::messenger_options server_options(tr::way w) {
  tr::messenger_options o = client_options(w);
  o.self.job = "ps";
  o.self.task = 0;
  o.endpoint.listen = "127.0.0.1:0";
  return o;
}

enum method : std::uint16_t { echo = 1, never, throw_not_found, count, keep, slow };

struct echo_server {
  explicit echo_server(tr::way w) : echo_server(server_options(w)) {}
  explicit echo_server(tr::messenger_options o) : m(std::move(o)) {
    m.on_request = [this](tr::request r) { take(std::move(r)); };
    m.on_cancel = [this](tr::peer_id, std::uint64_t) { ++cancelled; };
    m.on_gone = [this](tr::peer_id, const tr::peer_info&, const tr::departure&) { ++gone; };
    m.start();
  }
  void take(tr::request r) {
    tr::message a;
    switch (r.m.method) {
      case echo: return m.answer(r, r.m.parts);
      case never: return;
      case throw_not_found: throw leat::not_found("there is no such thing");
      case count: a.mark = static_cast<std::uint64_t>(++counted); return m.answer(r, std::move(a));
      case keep: {
        const std::lock_guard lock(mutex);
        kept.push_back(std::move(r.m));
      }
        return m.answer(r, std::vector<tr::frame>{});
      default: throw leat::unimplemented("method " + std::to_string(r.m.method));
    }
  }

  std::vector<tr::message> take_kept() {
    const std::lock_guard lock(mutex);
    return std::exchange(kept, {});
  }

  int counted = 0;
  std::mutex mutex;
  std::atomic<int> cancelled = 0, gone = 0;
  std::vector<tr::message> kept;
  tr::messenger m;
};

/// A server and a client that has its connection.
struct connected_pair {
  explicit connected_pair(tr::way w) : connected_pair(server_options(w), client_options(w)) {}
  connected_pair(tr::messenger_options servers, tr::messenger_options clients) : server(std::move(servers)), client(std::move(clients)) {
    client.start();
    peer = client.dial(server.m.self().address);
    client.await(peer, in(5s));
  }
  echo_server server;
  tr::messenger client;
  tr::peer_id peer = 0;
};

}  // namespace leat_test
