#pragma once
// Implementation of address.hpp.

#include <leat/cluster/transport/address.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace leat::transport {

LEAT_FUNCTION std::string address::text() const {
  const bool is_six = host.find(':') != std::string::npos;
  return (is_six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

LEAT_FUNCTION address parse_address(std::string_view text) {
  const auto fail = [&](const std::string& why) {
    throw invalid_argument("the address \"" + std::string(text.substr(0, 200)) + "\": " + why +
                           "; it should be host:port, as 127.0.0.1:2222");
  };
  std::string_view rest = text;
  if (const auto scheme = rest.find("://"); scheme != std::string_view::npos) {
    if (rest.substr(0, scheme) != "tcp" && rest.substr(0, scheme) != "grpc") fail("the only protocol is tcp://");
    rest.remove_prefix(scheme + 3);
  }
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos) fail("has no port");
  std::string_view host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    fail("a number of IPv6 stands in brackets");
  }
  if (host.empty() || host.size() > 253) fail("has no host");
  for (const char c : host)
    if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == ';' || c == '[' || c == ']' || c == 0x7f)
      fail("the host has a character that no name has");
  address result{std::string(host), 0};
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), result.port);
  if (problem != std::errc() || end != port.data() + port.size() || result.port < 0 || result.port > 65535)
    fail("the port is no number up to 65535");
  return result;
}

namespace detail {
// The bytes of a numeric address: 4 or 16; none if the text is not numeric.
LEAT_FUNCTION std::string number_bytes(const std::string& number) {
  std::string bytes(16, '\0');
  if (::inet_pton(AF_INET, number.c_str(), bytes.data()) == 1) return bytes.substr(0, 4);
  if (::inet_pton(AF_INET6, number.c_str(), bytes.data()) == 1) {
    // An IPv4 address mapped into IPv6 is treated as the IPv4 address.
    if (bytes.compare(0, 12, std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12)) == 0) return bytes.substr(12);
    return bytes;
  }
  return {};
}

// A name lookup on a thread of its own. The system cannot stop a lookup, so the caller waits for it until the deadline and then abandons
// it.
struct lookup {
  std::string host;
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
  int status = 0;
  std::string number;

  void run() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    int result = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
    std::array<char, NI_MAXHOST> text{};
    if (result == 0) {
      const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
      const addrinfo* best = found;
      for (const addrinfo* i = found; i != nullptr; i = i->ai_next)
        if (i->ai_family == AF_INET) {
          best = i;
          break;
        }
      result = ::getnameinfo(best->ai_addr, best->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    }
    const std::lock_guard lock(mutex);
    status = result;
    number = text.data();
    is_done = true;
    done.notify_all();
  }
};
}  // namespace detail

LEAT_FUNCTION bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  const std::string bytes = detail::number_bytes(std::string(host));
  if (bytes.size() == 4) return bytes[0] == 127;
  return bytes.size() == 16 && bytes == std::string(15, '\0') + '\1';
}

LEAT_FUNCTION bool is_this_host(const std::string& number) {
  if (is_loopback(number)) return true;
  const std::string wanted = detail::number_bytes(number);
  if (wanted.empty()) return false;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, ::freeifaddrs);
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    if (i->ifa_addr->sa_family == AF_INET && wanted.size() == 4) {
      sockaddr_in own;
      std::memcpy(&own, i->ifa_addr, sizeof own);
      if (std::memcmp(&own.sin_addr, wanted.data(), 4) == 0) return true;
    }
    if (i->ifa_addr->sa_family == AF_INET6 && wanted.size() == 16) {
      sockaddr_in6 own;
      std::memcpy(&own, i->ifa_addr, sizeof own);
      if (std::memcmp(&own.sin6_addr, wanted.data(), 16) == 0) return true;
    }
  }
  return false;
}

LEAT_FUNCTION std::string resolve(const std::string& host, steady_time deadline) {
  if (!detail::number_bytes(host).empty()) return host;
  if (host == "localhost") return "127.0.0.1";
  auto l = std::make_shared<detail::lookup>();
  l->host = host;
  try {
    std::thread([l] { l->run(); }).detach();
  } catch (const std::system_error&) {
    throw resource_exhausted("no thread to look up the name " + host);
  }
  std::unique_lock lock(l->mutex);
  if (deadline == no_deadline) deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  if (!l->done.wait_until(lock, deadline, [&] { return l->is_done; }))
    throw deadline_exceeded("the name " + host + " was not found in time");
  if (l->status != 0) throw unavailable("no such name: " + host + " (" + ::gai_strerror(l->status) + ")");
  return l->number;
}

LEAT_FUNCTION std::string probe(const address& where, steady_time deadline) {
  std::string number;
  try {
    number = resolve(where.host, deadline);
  } catch (const error& e) {
    return e.what();
  }
  sockaddr_storage to{};
  socklen_t length = 0;
  if (const std::string bytes = detail::number_bytes(number); bytes.size() == 4) {
    sockaddr_in four{};
    four.sin_family = AF_INET, four.sin_port = htons(static_cast<std::uint16_t>(where.port));
    std::memcpy(&four.sin_addr, bytes.data(), 4);
    std::memcpy(&to, &four, length = sizeof four);
  } else {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6, six.sin6_port = htons(static_cast<std::uint16_t>(where.port));
    std::memcpy(&six.sin6_addr, bytes.data(), 16);
    std::memcpy(&to, &six, length = sizeof six);
  }
  const descriptor socket(::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return "no socket: " + std::generic_category().message(errno);
  int problem = 0;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), length) != 0) problem = errno;
  if (problem == EINPROGRESS) {
    pollfd waited{socket.get(), POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (::poll(&waited, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000))) <= 0) return "no answer from the host";
    socklen_t size = sizeof problem;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
  }
  switch (problem) {
    case 0: return "accepted";
    case ECONNREFUSED: return "refused (no process listens there)";
    case ENETUNREACH:
    case EHOSTUNREACH: return "no route to the host";
    case ETIMEDOUT: return "no answer from the host";
    default: return std::generic_category().message(problem);
  }
}

}  // namespace leat::transport
