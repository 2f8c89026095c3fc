// The JSON reader under libFuzzer.

#include "properties.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const leat::io::read_options as_it_is{.validate = false};
  leat_fuzz::try_reader<leat::graph_def>([&] { return leat::io::read_json(text, as_it_is); });
  leat_fuzz::try_reader<leat::meta_graph_def>(
      [&] { return leat::io::read_json<leat::meta_graph_def>(text, as_it_is); });
  return 0;
}
