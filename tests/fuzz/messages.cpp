// The reader of messages from other processes under libFuzzer: the input is cut into packets and frames, as a peer could send them. What is read
// is written again, and must come back the same.

#include <leat/cluster/transport/identity.hpp>
#include <leat/cluster/transport/wire.hpp>
#include <leat/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void written_and_read(const leat::transport::message& m) {
  using namespace leat::transport;
  std::vector<packet> packets;
  encode(m, 5000, packets);
  assembler in;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const auto again = in.add(packets[i]);
    must(again.has_value() == (i + 1 == packets.size()), "the last packet completes a message");
    if (!again) continue;
    must(again->what == m.what && again->method == m.method && again->number == m.number && again->sizes == m.sizes, "fields come back");
    must(again->parts.size() == m.parts.size(), "parts come back");
    for (std::size_t p = 0; p < m.parts.size(); ++p) must(again->parts[p].text() == m.parts[p].text(), "bytes come back");
  }
}

}  // namespace

// A length of two bytes before each frame; its highest bit says that the packet goes on.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leat::transport;
  assembler in({.message_bytes = 1 << 20});
  packet p;
  while (size >= 2) {
    std::uint16_t length = 0;
    std::memcpy(&length, data, 2);
    data += 2, size -= 2;
    const std::size_t taken = std::min<std::size_t>(length & 0x7fff, size);
    p.frames.push_back(frame::copy_of({reinterpret_cast<const std::byte*>(data), taken}));
    data += taken, size -= taken;
    if (length & 0x8000 && size >= 2) continue;
    try {
      if (const auto m = in.add(std::exchange(p, {}))) {
        if (m->what == kind::chunk) continue;
        written_and_read(*m);
        for (const frame& part : m->parts) try {
            static_cast<void>(decode_greeting(part));
          } catch (const leat::error& e) {
            must(e.what()[0] != '\0', "an error says something");
          }
      }
    } catch (const leat::error& e) {
      must(e.what()[0] != '\0', "an error says something");
      return 0;
    }
  }
  return 0;
}
