// The reader of protobuf's text format under libFuzzer.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/io/saved_model_folder.hpp>

#include "properties.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const leat::io::read_options as_it_is{.validate = false};
  leat_fuzz::try_reader<leat::graph_def>([&] { return leat::io::read_text(text, as_it_is); });
  leat_fuzz::try_reader<leat::meta_graph_def>([&] { return leat::io::read_text<leat::meta_graph_def>(text, as_it_is); });
  if (leat::io::holds_saved_model_text(text))
    leat_fuzz::try_reader<leat::meta_graph_def>([&] { return leat::io::read_saved_model(text).front(); });
  try {
    const leat::checkpoint_state state = leat::read_checkpoint_state(text);
    const std::string written = leat::write_checkpoint_state(state);
    leat_fuzz::must(leat::write_checkpoint_state(leat::read_checkpoint_state(written)) == written, "a state comes back equal");
  } catch (const leat::error& e) {
    leat_fuzz::must(e.what()[0] != '\0' && leat::io::is_utf8(e.what()), "an error says something");
  }
  return 0;
}
