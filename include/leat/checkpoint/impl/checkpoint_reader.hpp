#pragma once
// Implementation of checkpoint_reader.hpp.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/checkpoint/packed_texts.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/safetensors.hpp>
#include <leat/io/sliced_checkpoint.hpp>
#include <leat/io/staged_file.hpp>
#include <leat/io/tensor_bundle.hpp>

#include <algorithm>
#include <cstring>

namespace leat::detail {

LEAT_FUNCTION std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  std::string best;
  std::size_t fewest = name.size() / 2 + 2;  // names with more changes are not similar
  std::vector<std::size_t> row;
  for (const std::string& other : names) {
    if (std::max(other.size(), name.size()) - std::min(other.size(), name.size()) >= fewest) continue;
    row.resize(other.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < other.size(); ++j) {
        const std::size_t changed = diagonal + (name[i] == other[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() < fewest) fewest = row.back(), best = other;
  }
  return best;
}

LEAT_FUNCTION std::string names_with_nearest(const std::vector<std::string>& names, const std::vector<std::string>& candidates) {
  constexpr std::size_t most = 20;  // a longer list is slow to compute and too long to read
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    const std::string near = nearest_name(names[i], candidates);
    text += (i > 0 ? ", '" : "'") + names[i] + "'" + (near.empty() ? "" : " (nearest: '" + near + "')");
  }
  return text + (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "");
}

LEAT_FUNCTION std::optional<std::int64_t> step_of_name(std::string_view prefix) {
  const auto dash = prefix.rfind('-');
  if (dash == prefix.npos || dash + 1 == prefix.size() || prefix.size() - dash > 19) return std::nullopt;
  std::int64_t step = 0;
  for (const char c : prefix.substr(dash + 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    step = 10 * step + (c - '0');
  }
  return step;
}

LEAT_FUNCTION std::string name_of_data(const std::string& prefix, const std::string& file) {
  const std::string_view digits = io::digits_before(file, data_ending);
  if (digits.empty()) return {};
  return std::filesystem::path(prefix).filename().string() + "." + std::string(digits) + std::string(data_ending);
}

LEAT_FUNCTION bool has_manifest(const std::string& prefix) {
  try {
    return is_manifest(io::input_file(prefix + ".json").text());
  } catch (const error&) {
    return false;
  }
}

// Mapped pages of a file, as the owner of a borrowed tensor's elements.
class mapping_holder final : public resource {
 public:
  explicit mapping_holder(std::shared_ptr<io::file_mapping> mapping) : mapping_(std::move(mapping)) {}

 private:
  std::shared_ptr<io::file_mapping> mapping_;
};

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION checkpoint_reader::checkpoint_reader(std::string prefix) : prefix_(std::move(prefix)) {
  // A save in one format removes the files of the other. If a crash left both, the later one counts. A .json file that is not a manifest
  // belongs to another program.
  std::error_code none, no_index;
  const auto manifest_time = std::filesystem::last_write_time(prefix_ + ".json", none);
  const auto index_time = std::filesystem::last_write_time(prefix_ + ".index", no_index);
  const bool index_first = !detail::has_manifest(prefix_) || (!none && !no_index && manifest_time < index_time);
  if ((index_first ? open_tensorflow() || open_leat() : open_leat() || open_tensorflow()) || open_sliced()) return;
  std::string beside;
  for (const std::string_view ending : {".json", ".index", ".meta"})
    if (prefix_.ends_with(ending))
      beside = "; a checkpoint is named without the ending of its files: " + prefix_.substr(0, prefix_.size() - ending.size());
  throw not_found(prefix_ + ": there is no checkpoint of this name (" + prefix_ + ".json or " + prefix_ + ".index)" + beside);
}

LEAT_FUNCTION bool checkpoint_reader::open_leat() {
  const std::filesystem::path at = prefix_ + ".json";
  std::string text;
  std::vector<std::filesystem::path> data;
  for (;;) {
    std::string now;
    try {
      now = io::input_file(at).text();
    } catch (const not_found&) {
      return false;
    }
    manifest_ = io::detail::naming(at, [&] { return read_manifest(now); });
    data = {at.parent_path() / manifest_.data_file};
    for (const auto& file : manifest_.more_files) data.push_back(at.parent_path() / file.name);
    files_.clear();
    try {
      for (auto& file : data) {
        std::error_code ignored;
        if (const std::string here = detail::name_of_data(prefix_, file.filename().string());
            !here.empty() && !std::filesystem::exists(file, ignored) && std::filesystem::exists(at.parent_path() / here, ignored))
          file = at.parent_path() / here;
        files_.push_back(std::make_unique<io::input_file>(file));
      }
      break;
    } catch (const not_found& e) {
      // A later save may have replaced both files meanwhile; then the manifest has changed.
      if (now == text) throw data_loss(std::string(e.what()) + ", though " + at.string() + " names it");
    }
    text = std::move(now);
  }
  for (std::size_t k = 0; k < files_.size(); ++k)
    open_data(static_cast<int>(k), data[k], k == 0 ? manifest_.data_bytes : manifest_.more_files[k - 1].bytes);
  for (const auto& [name, tensor] : manifest_.tensors) {
    if (tensor.parts.empty()) continue;
    std::vector<detail::tensor_block> blocks;
    for (const auto& part : tensor.parts) blocks.push_back({part.offset, part.shape});
    if (const std::string problem = detail::covering_problem(tensor.shape, blocks); !problem.empty())
      throw data_loss(at.string() + ": tensor " + io::detail::in_quotes(name) + " is saved in parts: " + problem);
  }
  format_ = checkpoint_format::leat;
  return true;
}

// Locates the tensors that the manifest has in one of the files.
LEAT_FUNCTION void checkpoint_reader::open_data(int number, const std::filesystem::path& data, std::uint64_t bytes) {
  const io::input_file& file = *files_[static_cast<std::size_t>(number)];
  if (file.size() != bytes)
    throw data_loss(data.string() + ": has " + std::to_string(file.size()) + " bytes, not " + std::to_string(bytes) +
                    ": cut off or altered");
  io::detail::naming(data, [&] {
    std::uint64_t length = 0;
    if (file.size() < sizeof length) throw data_loss("cut off before its header");
    file.read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > io::longest_safetensors_header || length > file.size() - sizeof length) throw data_loss("cut off within its header");
    std::string header(static_cast<std::size_t>(length), '\0');
    file.read(sizeof length, std::as_writable_bytes(std::span(header)));
    const std::uint64_t begin = sizeof length + length;
    const io::safetensors_layout layout = io::parse_safetensors_header(header, static_cast<std::size_t>(file.size() - begin));
    std::size_t known = 0;
    const auto place_of = [&](const std::string& name, dtype type, const shape& extent) -> place {
      const auto found = layout.places.find(name);
      if (found == layout.places.end()) throw data_loss("lacks the tensor " + io::detail::in_quotes(name) + " of the manifest: altered");
      const bool fits =
          type == text_dtype
              ? found->second.type == dtype::uint8
              : (found->second.format ? found->second.narrow : found->second.type) == type && found->second.extent == extent;
      if (!fits) throw data_loss("tensor " + io::detail::in_quotes(name) + ": another dtype or shape than in the manifest: altered");
      ++known;
      return {number, begin + found->second.begin, found->second.size};
    };
    for (const auto& [name, tensor] : manifest_.tensors) {
      if (tensor.parts.empty() && tensor.file == number) places_[name] = place_of(name, tensor.dtype, tensor.shape);
      for (const auto& part : tensor.parts)
        if (part.file == number)
          parts_[name].push_back({place_of(part.name, tensor.dtype, part.shape), part.crc32c, {part.offset, part.shape}});
    }
    if (layout.places.size() != known) throw data_loss("has tensors that the manifest does not have: altered");
  });
}

LEAT_FUNCTION bool checkpoint_reader::open_tensorflow() {
  // While a checkpoint is being replaced, its index is absent and the old one has another name; either may vanish between two attempts.
  constexpr int most_attempts = 100;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (open_bundle(prefix_) || open_bundle(prefix_ + std::string(detail::replaced_ending))) return true;
    std::error_code ignored;
    if (!std::filesystem::exists(prefix_ + ".index", ignored)) return false;
  }
  return false;
}

LEAT_FUNCTION bool checkpoint_reader::open_bundle(const std::string& prefix) {
  files_.clear(), places_.clear(), parts_.clear(), manifest_ = {};
  std::unique_ptr<io::input_file> index_file;
  std::error_code ignored;
  if (prefix.empty() || !std::filesystem::exists(prefix + ".index", ignored)) return false;
  try {
    index_file = std::make_unique<io::input_file>(prefix + ".index");
  } catch (const not_found&) {
    return false;
  }
  const auto in_index = [&](auto f) { return io::detail::naming(index_file->path(), f); };
  const io::bundle_index index = in_index([&] { return io::read_bundle_index(index_file->text()); });
  try {
    for (std::int32_t k = 0; k < index.shards; ++k)
      files_.push_back(std::make_unique<io::input_file>(io::bundle_data_name(prefix, k, index.shards)));
  } catch (const not_found& e) {
    if (!index_file->has_its_name()) return false;
    throw data_loss(std::string(e.what()) + ", though " + index_file->path().string() + " names it");
  }
  if (!index_file->has_its_name()) return false;  // it was replaced: the data may belong to another index
  for (const auto& [name, entry] : index.entries) {
    checkpoint_manifest::tensor& tensor = manifest_.tensors[name];
    tensor.dtype = static_cast<dtype>(entry.dtype);
    if (entry.shape.size() > static_cast<std::size_t>(max_rank)) tensor.dtype = dtype::invalid;
    else
      for (const std::int64_t size : entry.shape) tensor.shape.push(size);
    tensor.crc32c = entry.crc32c;
    const auto place_of = [&, &its_name = name](const io::bundle_entry& of) -> place {
      const io::input_file& file = *files_[static_cast<std::size_t>(of.shard)];
      if (of.offset > file.size() || of.size > file.size() - of.offset)
        throw data_loss(file.path().string() + ": tensor " + io::detail::in_quotes(its_name) + ": its bytes " + std::to_string(of.offset) +
                        " to " + std::to_string(of.offset + of.size) + " are not all in the file, which has " +
                        std::to_string(file.size()));
      return {of.shard, of.offset, of.size};
    };
    if (!entry.is_sliced()) {
      places_[name] = place_of(entry);
      continue;
    }
    std::vector<saved_part>& parts = parts_[name];
    if (tensor.dtype == dtype::invalid) continue;
    for (auto& [block, its] : in_index([&, &its_name = name, &whole = entry] { return io::bundle_parts(index, its_name, whole); }))
      parts.push_back({place_of(*its), its->crc32c, std::move(block)});
  }
  format_ = checkpoint_format::tensorflow;
  if (const auto own = manifest_.tensors.find(detail::manifest_tensor); own != manifest_.tensors.end()) {
    checkpoint_manifest kept = in_index([&] { return read_manifest(value(detail::manifest_tensor).as<std::string>()); });
    manifest_.tensors.erase(own);
    kept.tensors = std::move(manifest_.tensors);
    kept.data_file.clear();
    manifest_ = std::move(kept);
  }
  if (!manifest_.step) manifest_.step = detail::step_of_name(prefix_);
  return true;
}

LEAT_FUNCTION bool checkpoint_reader::open_sliced() {
  if (!io::is_sliced_checkpoint(prefix_)) return false;
  io::sliced_tensors tensors;
  for (const std::string& name : io::sliced_checkpoint_files(prefix_)) {
    const io::input_file file(name);
    io::detail::naming(file.path(), [&] { io::read_sliced_checkpoint(file.text(), tensors); });
  }
  files_.clear(), places_.clear(), parts_.clear(), manifest_ = {};
  for (auto& [name, its] : tensors) {
    checkpoint_manifest::tensor& tensor = manifest_.tensors[name];
    tensor.dtype = static_cast<dtype>(its.dtype);
    if (its.shape.size() > static_cast<std::size_t>(max_rank)) tensor.dtype = dtype::invalid;
    else
      for (const std::int64_t size : its.shape) tensor.shape.push(size);
    loaded_.emplace(name, std::move(its.value));
  }
  format_ = checkpoint_format::tensorflow_v1;
  const std::string meta = io::sliced_checkpoint_meta(prefix_);
  manifest_.step = detail::step_of_name(std::string_view(meta).substr(0, meta.rfind('.')));
  return true;
}

LEAT_FUNCTION std::vector<std::string> checkpoint_reader::names() const {
  std::vector<std::string> list;
  for (const auto& [name, tensor] : manifest_.tensors) list.push_back(name);
  return list;
}

LEAT_FUNCTION const std::pair<const std::string, checkpoint_manifest::tensor>& checkpoint_reader::entry(std::string_view name) const {
  const auto at = manifest_.tensors.find(name);
  if (at != manifest_.tensors.end()) return *at;
  throw not_found(prefix_ + ": the checkpoint has no tensor " + detail::names_with_nearest({std::string(name)}, names()));
}

LEAT_FUNCTION void checkpoint_reader::fail(std::string_view name, const place& at, const std::string& what) const {
  throw data_loss(files_[static_cast<std::size_t>(at.file)]->path().string() + ": tensor " + io::detail::in_quotes(name) + " at byte " +
                  std::to_string(at.begin) + ": " + what);
}

LEAT_FUNCTION tensor_value checkpoint_reader::value(std::string_view name) const {
  const auto& [key, tensor] = entry(name);
  const auto parts = parts_.find(name);
  if (const auto its = loaded_.find(name); its != loaded_.end() && its->second) return its->second;
  if (parts == parts_.end() && loaded_.empty()) return read(name, tensor, places_.find(name)->second);
  if (element_bytes(tensor.dtype) == 0 && tensor.dtype != text_dtype)
    throw unimplemented(prefix_ + ": tensor " + io::detail::in_quotes(name) +
                        " is of a dtype or rank that the library does not compute with");
  tensor_value whole(tensor.dtype, tensor.shape);
  for (const saved_part& p : parts->second) detail::put_block(whole, p.block, read(name, {tensor.dtype, p.block.extent, p.crc32c}, p.at));
  return whole;
}

LEAT_FUNCTION tensor_value checkpoint_reader::block(std::string_view name, const detail::tensor_block& at) const {
  const auto& tensor = entry(name).second;
  bool lies_within = at.extent.rank == tensor.shape.rank && at.offset.size() == static_cast<std::size_t>(tensor.shape.rank);
  for (int k = 0; lies_within && k < tensor.shape.rank; ++k) {
    const std::int64_t first = at.offset[static_cast<std::size_t>(k)], size = at.extent[k];
    lies_within = first >= 0 && size >= 0 && size <= tensor.shape[k] && first <= tensor.shape[k] - size;
  }
  if (!lies_within)
    throw invalid_argument(prefix_ + ": tensor " + io::detail::in_quotes(name) + " is " + brackets(tensor.shape) + ", and a block " +
                           brackets(at.extent) + " of it is asked for that does not lie within it");
  if (const auto parts = parts_.find(name); parts != parts_.end())
    for (const saved_part& p : parts->second)
      if (p.block.offset == at.offset && p.block.extent == at.extent) return read(name, {tensor.dtype, p.block.extent, p.crc32c}, p.at);
  return detail::take_block(value(name), at);
}

LEAT_FUNCTION tensor_value checkpoint_reader::read(std::string_view name, const checkpoint_manifest::tensor& tensor,
                                                   const place& at) const {
  const io::input_file& file = *files_[static_cast<std::size_t>(at.file)];
  const auto check = [&](std::uint32_t is) {
    if (is != tensor.crc32c)
      fail(name, at, "its bytes have the checksum " + io::checksum_text(is) + ", not " + io::checksum_text(tensor.crc32c) + ": altered");
  };
  if (tensor.dtype == text_dtype) {
    // Each string takes at least one byte.
    if (static_cast<std::uint64_t>(tensor.shape.elements()) > at.size) fail(name, at, "fewer strings than its shape has");
    std::string bytes(static_cast<std::size_t>(at.size), '\0');
    file.read(at.begin, std::as_writable_bytes(std::span(bytes)));
    tensor_value made(text_dtype, tensor.shape);
    if (format_ == checkpoint_format::leat) {
      check(io::crc32c(bytes));
      if (!detail::unpack_texts(bytes, made.texts())) fail(name, at, "strings that do not end where they should");
      return made;
    }
    try {
      made.texts() = io::unpack_bundle_strings(bytes, made.texts().size(), tensor.crc32c);
    } catch (const data_loss& e) {
      fail(name, at, e.what());
    }
    return made;
  }
  if (element_bytes(tensor.dtype) == 0)
    throw unimplemented(file.path().string() + ": tensor " + io::detail::in_quotes(name) + " is " +
                        (tensor.dtype == dtype::invalid ? std::string("of too many dimensions") : dtype_name(tensor.dtype)) +
                        ", which the library does not compute with");
  tensor_value made(tensor.dtype, tensor.shape);
  const std::span<std::byte> bytes(made.data(), made.bytes());
  // In blocks, so that the checksum is computed while the bytes are in the processor's cache.
  constexpr std::size_t block = std::size_t{1} << 20;
  std::uint32_t checksum = 0;
  for (std::size_t done = 0; done < bytes.size(); done += block) {
    const auto part = bytes.subspan(done, std::min(block, bytes.size() - done));
    file.read(at.begin + done, part);
    checksum = io::crc32c(part, checksum);
  }
  check(checksum);
  if (tensor.dtype == dtype::boolean)
    for (const std::byte b : bytes)
      if (b > std::byte{1}) fail(name, at, "a truth value that is neither 0 nor 1");
  return made;
}

LEAT_FUNCTION tensor_value checkpoint_reader::mapped(std::string_view name) const {
  const auto& [key, tensor] = entry(name);
  if (parts_.contains(name) || !loaded_.empty()) return value(name);  // not contiguous in a file
  const place& at = places_.find(name)->second;
  const auto alignment = static_cast<std::uint64_t>(element_bytes(tensor.dtype));
  if (alignment == 0 || tensor.dtype == dtype::boolean || at.begin % alignment != 0 || at.size == 0) return value(name);
  auto pages = files_[static_cast<std::size_t>(at.file)]->mapped();
  std::byte* const bytes = pages->bytes().data() + at.begin;
  return tensor_value::borrow(tensor.dtype, tensor.shape, bytes, std::make_shared<detail::mapping_holder>(std::move(pages)));
}

LEAT_FUNCTION std::shared_ptr<const checkpoint_reader> checkpoint_path::open() const {
  if (opened_ != nullptr) return opened_;
  if (path_.empty())
    throw invalid_argument("there is no checkpoint to open: the path is empty, as latest_checkpoint returns it where there is none");
  return std::make_shared<const checkpoint_reader>(path_);
}

LEAT_FUNCTION bool checkpoint_exists(const std::string& prefix) {
  std::error_code ignored;
  for (const std::string& file : {prefix + ".index", prefix + std::string(detail::replaced_ending) + ".index"})
    if (!prefix.empty() && std::filesystem::exists(file, ignored)) return true;
  return !prefix.empty() && (detail::has_manifest(prefix) || io::is_sliced_checkpoint(prefix));
}

}  // namespace leat
