#pragma once
// Implementation of saved_model_folder.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/input_file.hpp>
#include <leat/io/saved_model_folder.hpp>
#include <leat/io/staged_file.hpp>
#include <leat/io/tensor_bundle.hpp>
#include <leat/io/text.hpp>
#include <leat/io/text/opaque.hpp>

namespace leat::io {

LEAT_FUNCTION bool is_saved_model_folder(const std::filesystem::path& folder) {
  return detail::is_there(folder / saved_model_graph_file) || detail::is_there(folder / saved_model_text_file);
}

LEAT_FUNCTION std::vector<meta_graph_def> read_saved_model(std::string_view bytes) {
  detail::saved_model_def file;
  if (looks_like_text(bytes)) detail::read_text_message(bytes, file);
  else detail::read_message(protozero::pbf_reader{bytes.data(), bytes.size()}, file, detail::place{}, 1);
  if (file.schema_version < 0 || file.schema_version > 1)
    throw unimplemented("a SavedModel of schema version " + std::to_string(file.schema_version) + "; this library reads version 1");
  if (file.meta_graphs.empty()) throw data_loss("a SavedModel without a graph, or another file");
  return std::move(file.meta_graphs);
}

LEAT_FUNCTION std::string write_saved_model(const meta_graph_def& meta) {
  const std::string graph = write_binary(meta);
  std::string bytes;
  protozero::pbf_writer out{bytes};
  out.add_int64(1, 1);
  out.add_message(2, graph);
  if (bytes.size() > max_file_bytes) throw invalid_argument("larger than 2 GB, which is protobuf's limit");
  return bytes;
}

LEAT_FUNCTION std::string write_saved_model_text(const meta_graph_def& meta) {
  return detail::text_of_message(detail::saved_model_def{1, {meta}});
}

LEAT_FUNCTION safetensors read_bundle(const std::string& prefix, variable_values* texts) {
  const std::filesystem::path at = prefix + ".index";
  const bundle_index index = detail::naming(at, [&] { return read_bundle_index(input_file(at).text()); });
  std::vector<std::unique_ptr<input_file>> shards;
  for (std::int32_t k = 0; k < index.shards; ++k) shards.push_back(std::make_unique<input_file>(bundle_data_name(prefix, k, index.shards)));
  std::vector<std::uint64_t> bytes_left;
  for (const auto& shard : shards) bytes_left.push_back(shard->size());
  named_arrays arrays;
  std::vector<tensor_value> kept;
  for (const auto& [name, entry] : index.entries) {
    const auto type = static_cast<dtype>(entry.dtype);
    const bool is_text = entry.dtype == data_type::string && texts != nullptr && !entry.is_sliced();
    const bool is_other_value = stand_in_dtype(type) != dtype::invalid && texts != nullptr;  // of a dtype that typed sessions lack
    if ((size_of(type) == 0 && !is_text && !is_other_value) || entry.shape.size() > static_cast<std::size_t>(max_rank)) continue;
    const auto where = [&, &its_name = name](const input_file& shard) {
      return shard.path().string() + ": tensor " + detail::in_quotes(its_name) + ": ";
    };
    // Checked before any memory is allocated. Tensors that lie over each other could ask for any multiple of the file's size.
    const auto check_place = [&](const bundle_entry& from) {
      const input_file& shard = *shards[static_cast<std::size_t>(from.shard)];
      if (from.offset > shard.size() || from.size > shard.size() - from.offset)
        throw data_loss(where(shard) + "its bytes " + std::to_string(from.offset) + " to " + std::to_string(from.offset + from.size) +
                        " are not all in the file, which has " + std::to_string(shard.size()));
      std::uint64_t& left = bytes_left[static_cast<std::size_t>(from.shard)];
      if (from.size > left) throw data_loss(where(shard) + "lies over another: the tensors have more bytes than the file");
      left -= from.size;
    };
    const auto read = [&](const bundle_entry& from, tensor_value& to) {
      const input_file& shard = *shards[static_cast<std::size_t>(from.shard)];
      const std::span bytes(to.data(), to.bytes());
      shard.read(from.offset, bytes);
      if (const std::uint32_t is = crc32c(bytes); is != from.crc32c)
        throw data_loss(where(shard) + "its bytes have the checksum " + checksum_text(is) + ", not " + checksum_text(from.crc32c) +
                        ": altered");
    };
    shape extent;
    for (const std::int64_t size : entry.shape) extent.push(size);
    if (is_text) {
      check_place(entry);
      const input_file& shard = *shards[static_cast<std::size_t>(entry.shard)];
      if (!extent.is_static() || static_cast<std::uint64_t>(extent.elements()) > entry.size)  // each string takes at least a byte
        throw data_loss(where(shard) + "fewer strings than its shape has");
      std::string bytes(static_cast<std::size_t>(entry.size), '\0');
      shard.read(entry.offset, std::as_writable_bytes(std::span(bytes)));
      try {
        texts->emplace(name, make_tensor_proto(unpack_bundle_strings(bytes, static_cast<std::size_t>(extent.elements()), entry.crc32c),
                                               leat::to_proto(extent)));
      } catch (const data_loss& e) {
        throw data_loss(where(shard) + e.what());
      }
      continue;
    }
    if (entry.is_sliced()) {
      const auto parts = detail::naming(at, [&, &its_name = name, &its = entry] { return bundle_parts(index, its_name, its); });
      for (const bundle_part& part : parts) check_place(*part.entry);
      tensor_value& whole = kept.emplace_back(type, extent);
      for (const bundle_part& part : parts) {
        tensor_value one(type, part.block.extent);
        read(*part.entry, one);
        leat::detail::put_block(whole, part.block, one);
      }
    } else {
      check_place(entry);
      read(entry, kept.emplace_back(type, extent));
    }
    if (is_other_value) {
      texts->emplace(name, kept.back().proto());
      kept.pop_back();
      continue;
    }
    arrays[name] = {type, extent, {kept.back().data(), kept.back().bytes()}};
  }
  return detail::naming(prefix, [&] { return safetensors(write_safetensors(arrays)); });
}

LEAT_FUNCTION void write_bundle(const std::string& prefix, const named_arrays& arrays, const slices_by_name& slices) {
  staged_file data(bundle_data_name(prefix, 0, 1));
  bundle_index index;
  for (const auto& [name, array] : arrays) {
    if (name.empty() || name.front() == '\0') throw invalid_argument("a tensor without a name");
    const auto sizes = [](const shape& extent) { return std::vector<std::int64_t>(extent.dim, extent.dim + extent.rank); };
    const bundle_entry entry{.dtype = static_cast<data_type>(array.type),
                             .shape = sizes(array.extent),
                             .offset = data.size(),
                             .size = array.bytes.size(),
                             .crc32c = crc32c(array.bytes)};
    data.write(array.bytes);
    const auto slice = slices.find(name);
    if (slice == slices.end()) {
      index.entries[name] = entry;
      continue;
    }
    const save_slice_info& its = slice->second;
    bundle_entry& whole = index.entries[its.full_name];
    whole.dtype = entry.dtype;
    whole.shape = sizes(its.full_shape);
    whole.slices.push_back({its.var_offset, sizes(its.var_shape)});
    index.parts[bundle_part_name(its.full_name, whole.slices.back())] = entry;
  }
  staged_file table(prefix + ".index");
  table.write(write_bundle_index(index));
  data.sync(), table.sync();
  data.put_in_place(), table.put_in_place();
}

LEAT_FUNCTION model_files read_saved_model_folder(const std::filesystem::path& folder, const std::vector<std::string>& tags) {
  const bool is_text = !detail::is_there(folder / saved_model_graph_file) && detail::is_there(folder / saved_model_text_file);
  const auto at = folder / (is_text ? saved_model_text_file : saved_model_graph_file);
  const std::string bytes = read_file(at);
  std::vector<meta_graph_def> graphs = detail::naming(at, [&] { return read_saved_model(bytes); });
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::vector<meta_graph_def*> found;
  std::string there;
  for (meta_graph_def& meta : graphs) {
    const std::set<std::string> its(meta.meta_info.tags.begin(), meta.meta_info.tags.end());
    if (tags.empty() || its == wanted) found.push_back(&meta);
    there += there.empty() ? "{" : ", {";
    for (const std::string& tag : its) there += (there.back() == '{' ? "" : " ") + detail::in_quotes(tag);
    there += "}";
  }
  if (found.empty()) throw not_found(at.string() + ": no graph has exactly the tags that were asked for; there are " + there);
  if (found.size() > 1)
    throw invalid_argument(at.string() + ": has " + std::to_string(found.size()) + " graphs; name the tags of one: " + there);
  const std::string variables = (folder / saved_model_variables).string();
  const bool has_values = detail::is_there(variables + ".index");
  variable_values texts;
  safetensors values = has_values ? read_bundle(variables, &texts) : safetensors(write_safetensors({}));
  return {.meta = std::move(*found.front()),
          .variables = std::move(values),
          .metadata = {},
          .texts = std::move(texts),
          .is_of_tensorflow = true};
}

LEAT_FUNCTION void write_saved_model_folder(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                                            const slices_by_name& slices, bool as_text) {
  const std::filesystem::path place = detail::model_place(folder);
  const char* const name = as_text ? saved_model_text_file : saved_model_graph_file;
  const std::string bytes = detail::naming(folder / name, [&] { return as_text ? write_saved_model_text(meta) : write_saved_model(meta); });
  if (detail::is_there(place)) detail::check_replaceable(place);
  detail::replace_folder(place, [&](const std::filesystem::path& made) {
    write_synced(made / name, {bytes});
    std::filesystem::create_directories((made / saved_model_variables).parent_path());
    if (!variables.empty()) write_bundle((made / saved_model_variables).string(), variables, slices);
    detail::sync_folder((made / saved_model_variables).parent_path());
    detail::sync_folder(made);
  });
}

}  // namespace leat::io
