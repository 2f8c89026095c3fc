// Graphs from any bytes, imported and run, under libFuzzer.

#include "run_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  leat::graph_def def;
  try {
    def = leat::io::read_binary(std::string_view(reinterpret_cast<const char*>(data), size), {.validate = false});
  } catch (const leat::error&) {
    return 0;
  }
  leat_fuzz::run_graph(def);
  return 0;
}
