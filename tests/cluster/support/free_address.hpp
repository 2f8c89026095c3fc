#pragma once
// Ports that nobody uses.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <random>
#include <set>
#include <string>

namespace leat_test {

// A port that nobody listened at a moment ago, of the range that is not handed out to clients; no port is given twice.
inline int free_port(std::uint32_t address = INADDR_LOOPBACK) {
  static std::mutex lock;
  static std::mt19937 random{std::random_device{}()};
  static std::set<int> given;
  const std::lock_guard held(lock);
  for (;;) {
    const int port = std::uniform_int_distribution(10'000, 29'999)(random);
    if (given.contains(port)) continue;
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<std::uint16_t>(port));
    a.sin_addr.s_addr = htonl(address);
    const bool is_free = ::bind(s, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0;
    ::close(s);
    if (!is_free) continue;
    given.insert(port);
    return port;
  }
}
inline std::string free_address() { return "localhost:" + std::to_string(free_port()); }

}  // namespace leat_test
