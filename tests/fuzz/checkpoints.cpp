// The readers of checkpoints and SavedModel folders under libFuzzer: manifests, sorted tables, indices of TensorFlow's checkpoints and
// their strings, state files, saved_model.pb. Checksums would keep a mutated file out at the door, so those of manifests and blocks are
// made right first.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/checkpoint/manifest.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/saved_model_folder.hpp>
#include <leat/io/sliced_checkpoint.hpp>
#include <leat/io/snappy.hpp>
#include <leat/io/sorted_table.hpp>
#include <leat/io/tensor_bundle.hpp>

#include "properties.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace {

using namespace leat;
using leat_fuzz::must;

template <class Look>
void try_to_read(Look look) {
  try {
    look();
  } catch (const error& e) {
    must(e.what()[0] != '\0' && io::is_utf8(e.what()), "an error says something");
  }
}

// A table of one block with these contents, which are compressed in this way.
std::string table_of(std::string block, char compression = 0) {
  using namespace io::detail;
  const auto finish = [](std::string contents, char kind) {
    contents += kind;
    append_number(contents, io::masked(io::crc32c(contents)), 4);
    return contents;
  };
  block_handle at{0, block.size()};
  std::string handle;
  append_varint(handle, at.offset), append_varint(handle, at.size);
  std::string file = finish(std::move(block), compression);
  block_writer index;
  index.add("\xff\xff\xff\xff", handle);
  const std::string meta_handle = block_writer().end(file), index_handle = index.end(file);
  std::string footer = meta_handle + index_handle;
  footer.resize(table_footer_bytes - 8, '\0');
  append_number(footer, table_magic, 8);
  return file + footer;
}

void look_at_table(std::string_view text) {
  const io::table_entries entries = io::read_sorted_table(text);
  must(io::read_sorted_table(io::write_sorted_table(entries)) == entries, "a table comes back equal");
  const io::bundle_index index = io::read_bundle_index(text);
  io::bundle_index plain = index;  // a sliced tensor has no place of its own
  for (auto* list : {&plain.entries, &plain.parts})
    for (auto& [name, entry] : *list)
      if (entry.is_sliced()) entry.shard = 0, entry.offset = entry.size = 0, entry.crc32c = 0;
  must(io::read_bundle_index(io::write_bundle_index(plain)) == plain, "an index comes back equal");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_to_read([&] { read_manifest(text); });
  try_to_read([&] {
    auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return;
    json.erase("crc32c");
    std::string dumped = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    json = nlohmann::json::parse(dumped);
    json["crc32c"] = io::checksum_text(io::crc32c(json.dump()));
    const checkpoint_manifest manifest = read_manifest(json.dump());
    must(read_manifest(write_manifest(manifest)) == manifest, "a manifest comes back equal");
  });
  try_to_read([&] { look_at_table(text); });
  try_to_read([&] { look_at_table(table_of(std::string(text))); });
  try_to_read([&] { look_at_table(table_of(std::string(text), 1)); });
  try_to_read([&] { must(io::unpack_snappy(text).size() <= 22 * text.size(), "a block unpacks to so much"); });
  try_to_read([&] {
    // Entries of an index: each of the input's lines.
    io::table_entries entries{{"", std::string("\x08\x02", 2)}};
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string key = "k";
      io::detail::append_number(key, entries.size(), 4);
      std::reverse(key.begin() + 1, key.end());
      entries.emplace_back(key, text.substr(at, end - at));
      at = end + 1;
    }
    look_at_table(io::write_sorted_table(entries));
  });
  // Checkpoints V1: the input as a table, as its block, and as what the empty key says of a slice.
  const auto look_at_slices = [](std::string_view file) {
    io::sliced_tensors tensors;
    io::read_sliced_checkpoint(file, tensors);
    for (const auto& [name, tensor] : tensors)
      must(!tensor.value || tensor.value.extent().rank == static_cast<int>(tensor.shape.size()), "a tensor has its shape");
  };
  try_to_read([&] { look_at_slices(text); });
  try_to_read([&] { look_at_slices(table_of(std::string(text))); });
  try_to_read([&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    look_at_slices(io::write_sorted_table({{"", std::string(text.substr(0, end))},
                                           {io::bundle_part_name("a", {{0}, {-1}}), std::string(text.substr(std::min(end + 1, text.size())))}}));
  });
  try_to_read([&] {
    const checkpoint_state state = read_checkpoint_state(text);
    must(read_checkpoint_state(write_checkpoint_state(state)).all_model_checkpoint_paths == state.all_model_checkpoint_paths,
         "a state comes back equal");
  });
  try_to_read([&] {
    const auto graphs = io::read_saved_model(text);
    const auto again = io::read_saved_model(io::write_saved_model(graphs.front()));
    must(again.size() == 1, "a saved model comes back");
  });
  try_to_read([&] {
    if (text.empty()) return;
    const std::size_t count = static_cast<unsigned char>(text[0]);
    io::unpack_bundle_strings(text.substr(1), count, 0);
  });
  return 0;
}
