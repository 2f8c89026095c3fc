// transport_peer serve WAY [ADDRESS]: an echo server until its standard input ends; prints its address.
// transport_peer ask WAY ADDRESS: a client that keeps a request under way; prints "ready".
#include "support/transport.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int count, char** arguments) {
  using namespace leat_test;
  try {
    const std::string role = count > 1 ? arguments[1] : "";
    const auto w = count > 2 ? static_cast<tr::way>(std::atoi(arguments[2])) : tr::way::network;
    char ignored = 0;
    if (role == "serve") {
      tr::messenger_options o = server_options(w);
      if (count > 3) o.endpoint.listen = arguments[3];
      echo_server server(o);
      std::printf("%s\n", server.m.self().address.c_str()), std::fflush(stdout);
      while (::read(0, &ignored, 1) > 0) {
      }
      return 0;
    }
    if (role == "ask" && count > 3) {
      tr::messenger client(client_options(w));
      client.start();
      const tr::peer_id p = client.dial(arguments[3], {"ps", 0});
      client.await(p, in(5s));
      std::printf("ready\n"), std::fflush(stdout);
      tr::message m;
      m.method = never;
      client.begin(p, m, {in(60s)}, [](tr::outcome) {});
      while (::read(0, &ignored, 1) > 0) {
      }
      return 0;
    }
    std::fprintf(stderr, "transport_peer serve WAY [ADDRESS] | ask WAY ADDRESS\n");
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
