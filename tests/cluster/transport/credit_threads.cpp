// Messages of several peers, taken by other threads than the endpoint's: these give their credit back.

#include <leat/cluster/transport/messenger.hpp>

#include "support/transport.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat::transport;
using namespace leat_test;

TEST_CASE("what other threads take is told to each peer, and all that is sent arrives") {
  constexpr int peers = 4, notes = 3000;
  messenger_options options = server_options(way::network);
  options.endpoint.same_process.reset(), options.endpoint.same_host.reset();
  options.endpoint.credit = 8192;
  messenger server(options);
  std::mutex guard;
  std::vector<transport::message> come;
  std::atomic<int> count = 0;
  std::atomic<bool> done = false;
  server.on_note = [&](peer_id, transport::message m) {
    const std::lock_guard lock(guard);
    come.push_back(std::move(m));
    ++count;
  };
  server.start();
  const auto take = [&] {
    std::vector<transport::message> taken;
    const std::lock_guard lock(guard);
    taken.swap(come);
    return taken;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!done)
        if (take().empty()) std::this_thread::yield();
    });
  std::vector<std::unique_ptr<messenger>> clients;
  for (int k = 0; k < peers; ++k) {
    messenger_options its = client_options(ways[k % 3]);
    its.endpoint.credit = 8192;
    clients.push_back(std::make_unique<messenger>(its));
    clients.back()->start();
  }
  for (auto& client : clients)
    threads.emplace_back([&server, &client] {
      const peer_id p = client->dial(server.self().address);
      client->await(p, in(20s));
      for (int k = 0; k < notes; ++k) {
        transport::message m;
        m.parts.push_back(frame::copy_of(std::string(2000, 'x')));
        client->note(p, std::move(m));
      }
    });
  CHECK(until([&] { return count == peers * notes; }, 60s));
  done = true;
  for (std::thread& t : threads) t.join();
}
