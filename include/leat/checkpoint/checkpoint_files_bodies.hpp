#pragma once
// Implementation of checkpoint_files.hpp.

#include <leat/checkpoint/checkpoint_files.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/safetensors.hpp>

#include <sys/stat.h>

#include <algorithm>

namespace leat::detail {

inline constexpr std::string_view data_ending = ".safetensors";

// Writes bytes and computes their checksum, block by block, while they are in the processor's cache.
LEAT_FUNCTION std::uint32_t write_checked(io::staged_file& file, std::span<const std::byte> bytes) {
  constexpr std::size_t block = std::size_t{1} << 20;
  std::uint32_t checksum = 0;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(block, bytes.size()));
    checksum = io::crc32c(part, checksum);
    file.write(part);
    bytes = bytes.subspan(part.size());
  }
  return checksum;
}

LEAT_FUNCTION staged_checkpoint::staged_checkpoint(const std::string& prefix, checkpoint_format format, checkpoint_contents contents,
                                                   const std::vector<tensor_value>& values)
    : prefix_(prefix), contents_(std::move(contents)) {
  if (format != checkpoint_format::leat) throw unimplemented("checkpoints in TensorFlow's format are not written yet");
  if (!contents_.meta_graph.empty()) {
    meta_.emplace(prefix_ + ".meta");
    meta_->write(contents_.meta_graph);
    meta_->sync();
  }
  stage_leat(values);
}

LEAT_FUNCTION void staged_checkpoint::stage_leat(const std::vector<tensor_value>& values) {
  // Elements of eight bytes first, then of four, then of one: so each array is aligned in the file, and can be used where it is mapped.
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int bytes_a = size_of(values[a].type()), bytes_b = size_of(values[b].type());
    return bytes_a != bytes_b ? bytes_a > bytes_b : contents_.names[a] < contents_.names[b];
  });
  std::vector<std::string> packed(values.size());
  std::vector<std::pair<std::string, io::array_bytes>> arrays;
  for (const std::size_t i : order) {
    const tensor_value& v = values[i];
    if (v.type() == text_dtype) {
      packed[i] = pack_texts(v.texts());
      shape flat;
      flat.push(static_cast<std::int64_t>(packed[i].size()));
      arrays.emplace_back(contents_.names[i], io::array_bytes{dtype::uint8, flat, std::as_bytes(std::span(packed[i]))});
    } else {
      arrays.emplace_back(contents_.names[i], io::array_bytes{v.type(), v.extent(), {v.data(), v.bytes()}});
    }
  }
  digits_ = io::unique_digits();
  data_.emplace(prefix_ + "." + digits_ + std::string(data_ending));
  data_->write(io::safetensors_header(arrays, {{"format", "leat"}}));
  for (std::size_t k = 0; k < order.size(); ++k) {
    const tensor_value& v = values[order[k]];
    contents_.manifest.tensors[contents_.names[order[k]]] = {v.type(), v.extent(), write_checked(*data_, arrays[k].second.bytes)};
  }
  data_->sync();
  contents_.manifest.data_file = data_->path().filename().string();
  contents_.manifest.data_bytes = data_->size();
  index_.emplace(prefix_ + ".json");
  index_->write(write_manifest(contents_.manifest));
  index_->sync();
}

// The data file that a manifest names; empty if there is no manifest that can be read.
LEAT_FUNCTION std::string data_file_of(const std::string& prefix) {
  try {
    return read_manifest(io::input_file(prefix + ".json").text()).data_file;
  } catch (const error&) {
    return {};
  }
}

LEAT_FUNCTION void staged_checkpoint::commit(const io::folder_lock& folder) {
  const std::string before = data_file_of(prefix_);
  data_->put_in_place();
  if (meta_) meta_->put_in_place();
  folder.sync();  // the names of the data are on the disk before the name of what commits them
  try {
    index_->put_in_place();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(data_->path(), ignored);
    throw;
  }
  folder.sync();
  std::error_code ignored;
  if (!before.empty()) std::filesystem::remove(std::filesystem::path(prefix_).parent_path() / before, ignored);
}

LEAT_FUNCTION void remove_checkpoint(const std::string& prefix, const std::string& digits) {
  const std::string data = data_file_of(prefix);
  if (!digits.empty() && io::digits_before(data, data_ending) != digits) return;  // another process has saved one of this name
  std::error_code ignored;
  std::filesystem::remove(prefix + ".json", ignored);
  if (!data.empty()) std::filesystem::remove(std::filesystem::path(prefix).parent_path() / data, ignored);
  std::filesystem::remove(prefix + ".meta", ignored);
}

LEAT_FUNCTION std::optional<double> checkpoint_time(const std::string& prefix) {
  struct stat its{};
  if (::stat((prefix + ".json").c_str(), &its) != 0) return std::nullopt;
  return static_cast<double>(its.st_mtim.tv_sec) + 1e-9 * static_cast<double>(its.st_mtim.tv_nsec);
}

LEAT_FUNCTION void remove_abandoned_data(const std::filesystem::path& folder) {
  io::remove_abandoned_parts(folder);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::string_view digits = io::digits_before(name, data_ending);
    if (digits.empty()) continue;
    const std::string prefix = name.substr(0, name.size() - data_ending.size() - digits.size() - 1);
    const std::string whole = (entry.path().parent_path() / prefix).string();
    io::remove_abandoned(entry.path(), [&] {
      // A manifest that cannot be read may be one of this data: somebody may want to save what can be saved.
      const std::string its = data_file_of(whole);
      return its == name || (its.empty() && std::filesystem::exists(whole + ".json", ignored));
    });
  }
}

}  // namespace leat::detail
