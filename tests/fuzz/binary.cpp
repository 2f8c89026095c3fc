// The reader of the binary form under libFuzzer.

#include "properties.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const leat::io::read_options as_it_is{.validate = false};
  leat_fuzz::try_reader<leat::graph_def>([&] { return leat::io::read_binary(bytes, as_it_is); });
  leat_fuzz::try_reader<leat::meta_graph_def>(
      [&] { return leat::io::read_binary<leat::meta_graph_def>(bytes, as_it_is); });
  return 0;
}
