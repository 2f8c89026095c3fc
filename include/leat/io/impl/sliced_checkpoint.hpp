#pragma once
// Implementation of sliced_checkpoint.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary/read.hpp>
#include <leat/io/impl/sorted_table.hpp>
#include <leat/io/impl/tensor_bundle.hpp>
#include <leat/io/input_file.hpp>
#include <leat/io/sliced_checkpoint.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace leat::io::detail {

/// The description of a tensor under the empty key. Source: TensorFlow `SavedSliceMeta`.
struct sliced_meta {
  std::string name;
  data_type dtype = data_type::invalid;
  std::vector<std::int64_t> shape{};
  std::vector<bundle_slice> slices{};
};

[[noreturn]] LEAT_FUNCTION void refuse_sliced(const std::string& name, const std::string& what) {
  throw data_loss("tensor " + in_quotes(name) + ": " + what);
}

// The block of a slice; a length of -1 means the whole axis.
LEAT_FUNCTION leat::detail::tensor_block block_of(const sliced_meta& meta, const bundle_slice& slice) {
  leat::detail::tensor_block block{slice.starts, {}};
  if (slice.starts.size() != meta.shape.size()) refuse_sliced(meta.name, "a slice of another rank than its shape");
  for (std::size_t i = 0; i < meta.shape.size(); ++i) {
    const std::int64_t start = slice.starts[i], size = meta.shape[i], length = slice.lengths[i] < 0 ? size : slice.lengths[i];
    if (start < 0 || start > size || length > size - start) refuse_sliced(meta.name, "a slice that is not within its shape");
    block.extent.push(length);
  }
  return block;
}

LEAT_FUNCTION sliced_meta read_sliced_meta(protozero::pbf_reader in) {
  using wire = protozero::pbf_wire_type;
  sliced_meta made;
  while (in.next()) {
    if (in.tag() == 1 && in.wire_type() == wire::length_delimited) {
      made.name = in.get_string();
    } else if (in.tag() == 2 && in.wire_type() == wire::length_delimited) {
      tensor_shape_proto shape;
      read_message(in.get_message(), shape, {nullptr, "shape"}, 1);
      if (shape.unknown_rank || !problem_of(shape).empty()) refuse_sliced(made.name, "a shape that is none");
      for (const auto& d : shape.dims) made.shape.push_back(d.size);
    } else if (in.tag() == 3 && in.wire_type() == wire::varint) {
      made.dtype = static_cast<data_type>(in.get_uint64());
    } else if (in.tag() == 4 && in.wire_type() == wire::length_delimited) {
      made.slices.push_back(read_bundle_slice(in.get_message()));
    } else {
      in.skip();
    }
  }
  std::uint64_t elements = 1;
  for (const std::int64_t size : made.shape) {
    if (size < 0 || (size != 0 && elements > static_cast<std::uint64_t>(max_elements) / static_cast<std::uint64_t>(size)))
      refuse_sliced(made.name, "a shape of too many elements");
    elements *= static_cast<std::uint64_t>(size);
  }
  return made;
}

// Reads the elements of a slice, all of which must be in the field of their dtype.
LEAT_FUNCTION tensor_value read_slice(const sliced_meta& meta, const shape& extent, std::string_view bytes) {
  tensor_proto elements;
  bool found = false;
  protozero::pbf_reader in{bytes.data(), bytes.size()};
  while (in.next()) {
    if (in.tag() != 2 || in.wire_type() != protozero::pbf_wire_type::length_delimited) {
      in.skip();
      continue;
    }
    protozero::pbf_reader slice = in.get_message();
    while (slice.next()) {
      if (slice.tag() != 3 || slice.wire_type() != protozero::pbf_wire_type::length_delimited) {
        slice.skip();
        continue;
      }
      read_message(slice.get_message(), elements, {nullptr, "data"}, 1);
      found = true;
    }
  }
  if (!found) refuse_sliced(meta.name, "a slice without its elements");
  elements.dtype = meta.dtype;
  elements.shape = {};
  for (int i = 0; i < extent.rank; ++i) elements.shape.dims.push_back({extent[i], {}});
  if (const std::string problem = problem_of(elements); !problem.empty()) refuse_sliced(meta.name, problem);
  // In other files the last value may stand for all remaining elements; here the number of values must match.
  const int width = elements.field == tensor_field::tensor_content ? content_size_of(meta.dtype) : field_size_of(elements.field);
  const std::size_t count = elements.field == tensor_field::string_val ? elements.strings.size()
                            : width > 0                                ? elements.bytes.size() / static_cast<std::size_t>(width)
                                                                       : 0;
  if (count != static_cast<std::size_t>(extent.elements()))
    refuse_sliced(meta.name, "a slice of " + std::to_string(count) + " elements, which is not shape " + brackets(extent));
  return tensor_value::from_proto(elements);
}

// The bytes under the empty key that describe the tensors; nothing for another table.
LEAT_FUNCTION std::optional<std::string_view> sliced_header(std::string_view value) {
  protozero::pbf_reader in{value.data(), value.size()};
  if (!in.next() || in.tag() != 1 || in.wire_type() != protozero::pbf_wire_type::length_delimited) return std::nullopt;
  const protozero::data_view meta = in.get_view();
  return std::string_view(meta.data(), meta.size());
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION void read_sliced_checkpoint(std::string_view file, sliced_tensors& tensors) try {
  const table_entries entries = read_sorted_table(file);
  const auto header = entries.empty() || !entries.front().first.empty() ? std::nullopt : detail::sliced_header(entries.front().second);
  if (!header) throw data_loss("a table without the names of tensors: no checkpoint V1");
  const auto value_of = [&](const std::string& key) -> const std::string* {
    const auto at = std::lower_bound(entries.begin(), entries.end(), key, [](const auto& e, const std::string& k) { return e.first < k; });
    return at == entries.end() || at->first != key ? nullptr : &at->second;
  };
  protozero::pbf_reader in{header->data(), header->size()};
  while (in.next()) {
    if (in.tag() != 1 || in.wire_type() != protozero::pbf_wire_type::length_delimited) {
      in.skip();
      continue;
    }
    const detail::sliced_meta meta = detail::read_sliced_meta(in.get_message());
    sliced_tensor made{.dtype = meta.dtype, .shape = meta.shape};
    const auto type = static_cast<dtype>(meta.dtype);
    if ((element_bytes(type) > 0 || type == text_dtype) && meta.shape.size() <= static_cast<std::size_t>(max_rank)) {
      shape extent;
      for (const std::int64_t size : meta.shape) extent.push(size);
      std::vector<leat::detail::tensor_block> blocks;
      std::vector<tensor_value> parts;
      for (const bundle_slice& slice : meta.slices) blocks.push_back(detail::block_of(meta, slice));
      // Checked before elements are read, because a file may name one slice many times.
      if (const std::string problem = leat::detail::covering_problem(extent, blocks); !problem.empty())
        detail::refuse_sliced(meta.name, problem);
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        const std::string* const value = value_of(bundle_part_name(meta.name, meta.slices[k]));
        if (value == nullptr) detail::refuse_sliced(meta.name, "a slice that is not there");
        parts.push_back(detail::read_slice(meta, blocks[k].extent, *value));
      }
      if (parts.size() == 1 && parts.front().extent() == extent) {
        made.value = std::move(parts.front());
      } else {
        made.value = tensor_value(type, extent);
        for (std::size_t k = 0; k < parts.size(); ++k) leat::detail::put_block(made.value, blocks[k], parts[k]);
      }
    }
    if (!tensors.emplace(meta.name, std::move(made)).second) throw data_loss("tensor " + detail::in_quotes(meta.name) + " is there twice");
  }
} catch (const protozero::exception& e) {
  throw data_loss(std::string("not in protobuf's binary form: ") + e.what());
}

namespace detail {
// The position of "-?????-of-00002" in a name, and its number of files; {0, 0} for another name.
LEAT_FUNCTION std::pair<std::size_t, int> pattern_of_files(std::string_view name) {
  constexpr std::string_view pattern = "-?\?\?\?\?-of-";
  constexpr std::size_t digits = 5;
  if (name.size() < pattern.size() + digits || name.substr(name.size() - digits).find_first_not_of("0123456789") != name.npos)
    return {0, 0};
  const std::size_t at = name.size() - digits - pattern.size();
  if (name.substr(at, pattern.size()) != pattern) return {0, 0};
  return {at, std::atoi(std::string(name.substr(name.size() - digits)).c_str())};
}
}  // namespace detail

LEAT_FUNCTION std::vector<std::string> sliced_checkpoint_files(const std::string& name) {
  const auto [at, count] = detail::pattern_of_files(name);
  if (count == 0) return {name};
  std::vector<std::string> files;
  for (int k = 0; k < count; ++k) {
    char ending[32];
    std::snprintf(ending, sizeof ending, "-%05d-of-%05d", k, count);
    files.push_back(name.substr(0, at) + ending);
  }
  return files;
}

LEAT_FUNCTION std::string sliced_checkpoint_meta(const std::string& name) {
  const auto [at, count] = detail::pattern_of_files(name);
  return (count == 0 ? name : name.substr(0, at)) + ".meta";
}

LEAT_FUNCTION bool is_sliced_checkpoint(const std::string& name) {
  if (name.empty() || name.ends_with(".index")) return false;
  try {
    for (const std::string& file : sliced_checkpoint_files(name)) {
      const input_file table(file);
      if (table.size() < detail::table_footer_bytes) return false;
      std::string magic(sizeof detail::table_magic, '\0');
      table.read(table.size() - magic.size(), std::as_writable_bytes(std::span(magic)));
      if (detail::number_at(magic, 0, magic.size()) != detail::table_magic) return false;
    }
  } catch (const error&) {
    return false;
  }
  return true;
}

}  // namespace leat::io
