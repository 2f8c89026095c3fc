#pragma once
// Implementation of checkpoint_files.hpp.

#include <leat/checkpoint/checkpoint_files.hpp>
#include <leat/checkpoint/impl/shard_file.hpp>
#include <leat/checkpoint/packed_texts.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/safetensors.hpp>
#include <leat/io/tensor_bundle.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace leat::detail {

// Files of other programs are not overwritten. Another process that saves here may remove or replace the manifest between any two calls, so
// opening it is tried again.
LEAT_FUNCTION void check_place(const std::string& prefix) {
  const std::string file = prefix + ".json";
  std::error_code ignored;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (!std::filesystem::exists(file, ignored)) return;
    try {
      if (is_manifest(io::input_file(file).text())) return;
      break;
    } catch (const error&) {
    }
  }
  throw failed_precondition(file + ": is there, and is no checkpoint's manifest: save under another name, or move it away");
}

LEAT_FUNCTION staged_checkpoint::staged_checkpoint(const std::string& prefix, checkpoint_format format, checkpoint_contents contents,
                                                   const std::vector<tensor_value>& values)
    : prefix_(prefix), format_(format), contents_(std::move(contents)) {
  if (format_ == checkpoint_format::leat) check_place(prefix_);
  stage_meta();
  const std::vector<tensor> tensors = tensors_of(values);
  if (format_ == checkpoint_format::leat) stage_leat(tensors, values);
  else stage_tensorflow(tensors, values);
}

LEAT_FUNCTION staged_checkpoint::staged_checkpoint(const std::string& prefix, checkpoint_contents contents,
                                                   const std::vector<std::string>& variables,
                                                   const std::map<std::string, std::string>& tasks, const session_access& s)
    : prefix_(prefix), format_(checkpoint_format::leat), contents_(std::move(contents)) {
  check_place(prefix_);
  stage_meta();
  stage_shards(variables, tasks, s);
}

LEAT_FUNCTION void staged_checkpoint::stage_meta() {
  if (contents_.meta_graph.empty()) return;
  meta_.emplace(prefix_ + ".meta");
  meta_->write(contents_.meta_graph);
  meta_->sync();
}

LEAT_FUNCTION void staged_checkpoint::stage_shards(const std::vector<std::string>& variables,
                                                   const std::map<std::string, std::string>& tasks, const session_access& s) {
  std::map<std::string, std::vector<std::size_t>> by_task;
  for (std::size_t i = 0; i < variables.size(); ++i) by_task[tasks.at(variables[i])].push_back(i);
  std::vector<shard_order> orders;
  for (const auto& [task, its] : by_task) {
    const std::string digits = io::unique_digits();
    if (digits_.empty()) digits_ = digits;
    shards_.push_back(std::make_unique<io::staged_file>(prefix_ + "." + digits + std::string(data_ending)));
    shard_order& order = orders.emplace_back();
    order.device = task;
    order.path = std::filesystem::absolute(shards_.back()->part()).string();
    std::set<std::string> used;
    for (const std::size_t i : its)
      if (!contents_.blocks.contains(i)) used.insert(contents_.names[i]);
    for (const std::size_t i : its) {
      // Slices of one tensor have the same name in the checkpoint, but need different names in the file.
      std::string name = contents_.blocks.contains(i) ? variables[i] : contents_.names[i];
      while (contents_.blocks.contains(i) && !used.insert(name).second) name += "_";
      order.variables.emplace_back(variables[i], std::move(name));
    }
  }
  const std::vector<written_shard> written = s.write_shards(orders);
  if (written.size() != orders.size()) throw data_loss("not all tasks tell what they have written");
  for (std::size_t k = 0; k < orders.size(); ++k) {
    const shard_order& order = orders[k];
    const auto& its = by_task.at(order.device);
    check_shard(order.path, written[k], order.device);
    shards_[k]->sync();
    if (written[k].tensors.size() != its.size()) throw data_loss(order.device + " has not written what it was asked for: " + order.path);
    for (std::size_t n = 0; n < its.size(); ++n) {
      const written_shard::tensor& t = written[k].tensors[n];
      if (t.name != order.variables[n].second)
        throw data_loss(order.device + " has written " + io::detail::in_quotes(t.name) + ", not " +
                        io::detail::in_quotes(order.variables[n].second) + ": " + order.path);
      const std::string& name = contents_.names[its[n]];
      const auto file = static_cast<int>(k);
      const auto block = contents_.blocks.find(its[n]);
      if (block == contents_.blocks.end()) {
        contents_.manifest.tensors[name] = {t.dtype, t.shape, t.crc32c, file, {}};
        continue;
      }
      if (!(t.shape == block->second.extent))
        throw data_loss(order.device + " has written " + io::detail::in_quotes(t.name) + " as " + brackets(t.shape) + ", not " +
                        brackets(block->second.extent));
      checkpoint_manifest::tensor& whole = contents_.manifest.tensors[name];
      whole.dtype = t.dtype;
      whole.shape = contents_.whole_shapes.at(name);
      whole.parts.push_back({file, t.name, block->second.offset, t.shape, t.crc32c});
    }
    if (k == 0) {
      contents_.manifest.data_file = shards_[k]->path().filename().string();
      contents_.manifest.data_bytes = written[k].bytes;
    } else {
      contents_.manifest.more_files.push_back({shards_[k]->path().filename().string(), written[k].bytes});
    }
  }
  stage_index();
}

LEAT_FUNCTION void staged_checkpoint::stage_index() {
  index_.emplace(prefix_ + ".json");
  index_->write(write_manifest(contents_.manifest));
  index_->sync();
}

LEAT_FUNCTION std::vector<staged_checkpoint::tensor> staged_checkpoint::tensors_of(const std::vector<tensor_value>& values) const {
  std::vector<tensor> list;
  std::map<std::string_view, std::size_t> wholes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = contents_.names[i];
    if (!contents_.blocks.contains(i)) {
      list.push_back({name, values[i].type(), values[i].extent(), {i}});
      continue;
    }
    const auto [at, is_new] = wholes.emplace(name, list.size());
    if (is_new) list.push_back({name, values[i].type(), contents_.whole_shapes.at(name), {}});
    list[at->second].values.push_back(i);
  }
  for (tensor& t : list)
    if (t.values.size() > 1)
      std::sort(t.values.begin(), t.values.end(),
                [&](std::size_t a, std::size_t b) { return contents_.blocks.at(a).offset < contents_.blocks.at(b).offset; });
  // Elements of eight bytes first, then of four, then of one, so that each array is aligned in the file and can be used directly in mapped
  // memory.
  std::sort(list.begin(), list.end(), [](const tensor& a, const tensor& b) {
    const int bytes_a = element_bytes(a.type), bytes_b = element_bytes(b.type);
    return bytes_a != bytes_b ? bytes_a > bytes_b : a.name < b.name;
  });
  return list;
}

LEAT_FUNCTION tensor_value staged_checkpoint::whole_of(const tensor& t, const std::vector<tensor_value>& values) const {
  if (!contents_.blocks.contains(t.values.front())) return values[t.values.front()];
  tensor_value whole(t.type, t.extent);
  for (const std::size_t i : t.values) put_block(whole, contents_.blocks.at(i), values[i]);
  return whole;
}

// Whether the concatenated values are the tensor's bytes, that is, there is one value, or the slices are along the first axis.
LEAT_FUNCTION bool staged_checkpoint::is_written_in_turn(const tensor& t) const {
  if (t.type == text_dtype) return false;
  if (t.values.size() == 1) return true;
  for (const std::size_t i : t.values)
    for (int axis = 1; axis < t.extent.rank; ++axis)
      if (contents_.blocks.at(i).extent[axis] != t.extent[axis]) return false;
  return true;
}

LEAT_FUNCTION void staged_checkpoint::stage_leat(const std::vector<tensor>& tensors, const std::vector<tensor_value>& values) {
  std::vector<std::string> packed(tensors.size());
  std::vector<std::pair<std::string, io::array_bytes>> arrays;  // of their bytes only the size is used
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const tensor& t = tensors[k];
    if (t.type == text_dtype) {
      packed[k] = pack_texts(whole_of(t, values).texts());
      shape flat;
      flat.push(static_cast<std::int64_t>(packed[k].size()));
      arrays.emplace_back(t.name, io::array_bytes{dtype::uint8, flat, std::as_bytes(std::span(packed[k]))});
    } else {
      const auto bytes = static_cast<std::size_t>(t.extent.elements()) * static_cast<std::size_t>(element_bytes(t.type));
      arrays.emplace_back(t.name, io::array_bytes{t.type, t.extent, {values[t.values.front()].data(), bytes}});
    }
  }
  digits_ = io::unique_digits();
  data_.emplace(prefix_ + "." + digits_ + std::string(data_ending));
  data_->write(io::safetensors_header(arrays, data_metadata(data_->path().filename().string())));
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const tensor& t = tensors[k];
    std::uint32_t checksum = 0;
    if (t.type == text_dtype) {
      checksum = write_checked(*data_, arrays[k].second.bytes);
    } else if (is_written_in_turn(t)) {
      for (const std::size_t i : t.values) checksum = write_checked(*data_, {values[i].data(), values[i].bytes()}, checksum);
    } else {
      const tensor_value whole = whole_of(t, values);
      checksum = write_checked(*data_, {whole.data(), whole.bytes()});
    }
    contents_.manifest.tensors[t.name] = {t.type, t.extent, checksum, 0, {}};
  }
  data_->sync();
  contents_.manifest.data_file = data_->path().filename().string();
  contents_.manifest.data_bytes = data_->size();
  stage_index();
}

// The data files that a manifest names; empty if there is no readable manifest.
LEAT_FUNCTION std::vector<std::string> data_files_of(const std::string& prefix) {
  try {
    const checkpoint_manifest manifest = read_manifest(io::input_file(prefix + ".json").text());
    std::vector<std::string> files{manifest.data_file};
    for (const auto& file : manifest.more_files) files.push_back(file.name);
    return files;
  } catch (const error&) {
    return {};
  }
}

// Removes data files. Files named after another checkpoint belong to that one; then this checkpoint is a copy of it.
LEAT_FUNCTION void remove_data_files(const std::string& prefix, const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files)
    if (const std::string name = name_of_data(prefix, file); !name.empty())
      std::filesystem::remove(std::filesystem::path(prefix).parent_path() / name, ignored);
}

// The name under which a data file was saved; empty for other files, and for files of versions that did not record the name.
LEAT_FUNCTION std::string saved_name(const std::filesystem::path& data) {
  try {
    const io::input_file file(data);
    std::uint64_t length = 0;
    file.read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > io::longest_safetensors_header || length + sizeof length > file.size()) return {};
    std::string header(static_cast<std::size_t>(length), '\0');
    file.read(sizeof length, std::as_writable_bytes(std::span(header)));
    const auto layout = io::parse_safetensors_header(header, static_cast<std::size_t>(file.size() - sizeof length - length));
    const auto name = layout.metadata.find("file");
    return name == layout.metadata.end() ? std::string() : name->second;
  } catch (const error&) {
    return {};
  }
}

LEAT_FUNCTION void staged_checkpoint::stage_tensorflow(const std::vector<tensor>& tensors, const std::vector<tensor_value>& values) {
  io::bundle_index index;
  data_.emplace(io::bundle_data_name(prefix_, 0, 1));
  const auto sizes_of = [](const shape& extent) { return std::vector<std::int64_t>(extent.dim, extent.dim + extent.rank); };
  const auto written = [&](const tensor_value& v) {
    io::bundle_entry entry{.dtype = static_cast<data_type>(v.type()), .shape = sizes_of(v.extent()), .offset = data_->size()};
    if (v.type() == text_dtype) data_->write(io::pack_bundle_strings(v.texts(), entry.crc32c));
    else entry.crc32c = write_checked(*data_, {v.data(), v.bytes()});
    entry.size = data_->size() - entry.offset;
    return entry;
  };
  const auto add = [&](const std::string& name, io::bundle_entry entry) {
    if (name.empty() || name.front() == '\0' || !index.entries.emplace(name, std::move(entry)).second)
      throw invalid_argument("a tensor named " + io::detail::in_quotes(name) + ", which the format keeps for itself");
  };
  for (const tensor& t : tensors) {
    // TensorFlow does not know slices without elements; a slice that is the whole tensor is written as a tensor, as TensorFlow does.
    const auto has_elements = [&](std::size_t i) { return values[i].elements() > 0; };
    const auto first = std::find_if(t.values.begin(), t.values.end(), has_elements);
    const bool is_part = first != t.values.end() && contents_.blocks.contains(*first) && !(contents_.blocks.at(*first).extent == t.extent);
    if (!is_part) {
      add(t.name, written(whole_of(t, values)));
      continue;
    }
    io::bundle_entry whole{.dtype = static_cast<data_type>(t.type), .shape = sizes_of(t.extent)};
    for (const std::size_t i : t.values) {
      if (values[i].elements() == 0) continue;
      whole.slices.push_back({contents_.blocks.at(i).offset, sizes_of(values[i].extent())});
      index.parts.emplace(io::bundle_part_name(t.name, whole.slices.back()), written(values[i]));
    }
    add(t.name, std::move(whole));
  }
  if (!contents_.manifest.pipeline_state.empty() || !contents_.manifest.values.empty()) {
    contents_.manifest.data_file = "-";
    add(std::string(manifest_tensor), written(tensor_value(write_manifest(contents_.manifest))));
  }
  data_->sync();
  index_.emplace(prefix_ + ".index");
  index_->write(io::write_bundle_index(index));
  index_->sync();
  digits_ = index_->identity();
}

// Calls `f` for each file PREFIX.data-SSSSS-of-NNNNN.
template <class F>
void for_each_shard(const std::string& prefix, F f) {
  const std::filesystem::path at = prefix;
  const std::string begin = at.filename().string() + ".data-";
  std::vector<std::filesystem::path> shards;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(at.has_parent_path() ? at.parent_path() : ".", ignored)) {
    const std::string name = entry.path().filename().string();
    // "00000-of-00001"
    if (name.size() != begin.size() + 14 || !name.starts_with(begin) || name.substr(begin.size() + 5, 4) != "-of-") continue;
    const std::string numbers = name.substr(begin.size(), 5) + name.substr(begin.size() + 9);
    if (numbers.find_first_not_of("0123456789") == numbers.npos) shards.push_back(at.parent_path() / name);
  }
  for (const auto& shard : shards) f(shard);
}

// The ending of a shard's name, ".data-00000-of-00001".
LEAT_FUNCTION std::string shard_ending(const std::filesystem::path& shard) {
  const std::string name = shard.filename().string();
  return name.substr(name.size() - 20);
}

// Undoes the replacement of a checkpoint: renames the kept files back.
LEAT_FUNCTION void restore_bundle(const std::string& old, const std::string& prefix) {
  std::error_code ignored;
  for_each_shard(old, [&](const std::filesystem::path& shard) { std::filesystem::rename(shard, prefix + shard_ending(shard), ignored); });
  std::filesystem::rename(old + ".index", prefix + ".index", ignored);
}

// Removes the files of a checkpoint in TensorFlow's format, and those of PREFIX.old, the one that it was replacing.
LEAT_FUNCTION void remove_bundle(const std::string& prefix) {
  std::error_code ignored;
  for (const std::string& name : {prefix, prefix + std::string(replaced_ending)}) {
    std::filesystem::remove(name + ".index", ignored);
    for_each_shard(name, [&](const std::filesystem::path& shard) { std::filesystem::remove(shard, ignored); });
  }
}

LEAT_FUNCTION void staged_checkpoint::commit(const io::folder_lock& folder) {
  if (format_ == checkpoint_format::leat) commit_leat(folder);
  else commit_tensorflow(folder);
}

LEAT_FUNCTION void staged_checkpoint::commit_leat(const io::folder_lock& folder) {
  const std::vector<std::string> before = data_files_of(prefix_);
  std::vector<io::staged_file*> data;
  if (data_) data.push_back(&*data_);
  for (const auto& shard : shards_) data.push_back(shard.get());
  try {
    for (io::staged_file* const file : data) file->put_in_place();
    if (meta_) meta_->put_in_place();
    folder.sync();  // the data files' names must be on disk before the committing name
    index_->put_in_place();
  } catch (...) {
    for (io::staged_file* const file : data) file->remove();
    if (before.empty() && meta_) meta_->remove();
    throw;
  }
  folder.sync();
  remove_data_files(prefix_, before);
  remove_bundle(prefix_);
}

// Replaces the checkpoint of a prefix. The format prescribes the names of the data files, so the new data replaces the old before the index
// does. Meanwhile the old checkpoint is kept under another name, and PREFIX.index does not exist, so that no index stands next to the data
// of another checkpoint. `place` gives the new data files their names, which are `shards`, and `undo` takes the names from them again.
template <class Place, class Undo>
void replace_bundle(const std::string& prefix, io::staged_file& new_index, const io::folder_lock& folder,
                    const std::set<std::string>& shards, Place place, Undo undo) {
  const std::string old = prefix + std::string(replaced_ending), index = prefix + ".index";
  std::error_code problem;
  const bool replaces = std::filesystem::exists(index, problem);
  if (replaces) {
    remove_bundle(old);
    for_each_shard(
        prefix, [&](const std::filesystem::path& shard) { std::filesystem::create_hard_link(shard, old + shard_ending(shard), problem); });
    std::filesystem::create_hard_link(index, old + ".index", problem);
    folder.sync();
    std::filesystem::remove(index, problem);
  }
  try {
    place();
    folder.sync();  // the data files' names must be on disk before that of the index
    new_index.put_in_place();
  } catch (...) {
    if (!replaces || !std::filesystem::exists(index, problem)) {
      undo();
      if (replaces) restore_bundle(old, prefix);
    }
    throw;
  }
  folder.sync();
  for_each_shard(prefix, [&](const std::filesystem::path& shard) {
    if (!shards.contains(shard.filename().string())) std::filesystem::remove(shard, problem);  // of a checkpoint with more shards
  });
  remove_bundle(old);
  const std::vector<std::string> others = data_files_of(prefix);
  if (others.empty()) return;  // no manifest, or not a readable one
  std::filesystem::remove(prefix + ".json", problem);
  remove_data_files(prefix, others);
}

LEAT_FUNCTION void staged_checkpoint::commit_tensorflow(const io::folder_lock& folder) {
  replace_bundle(
      prefix_, *index_, folder, {data_->path().filename().string()},
      [&] {
        data_->put_in_place();
        if (meta_) meta_->put_in_place();
      },
      [&] {
        data_->remove();
        if (meta_) meta_->remove();
      });
}

LEAT_FUNCTION void merge_bundles(const std::vector<std::string>& prefixes, const std::string& destination) {
  io::bundle_index merged;
  std::vector<std::string> sources;  // of the data files
  for (const std::string& prefix : prefixes) {
    const io::input_file file(prefix + ".index");
    const io::bundle_index its = io::detail::naming(file.path(), [&] { return io::read_bundle_index(file.text()); });
    const auto first = static_cast<std::int32_t>(sources.size());
    for (std::int32_t k = 0; k < its.shards; ++k) {
      sources.push_back(io::bundle_data_name(prefix, k, its.shards));
      if (std::error_code none; !std::filesystem::is_regular_file(sources.back(), none))
        throw data_loss(sources.back() + ": is no file, though " + file.path().string() + " names it");
    }
    const auto moved = [&](io::bundle_entry entry) {
      entry.shard += first;
      return entry;
    };
    for (const auto& [name, entry] : its.entries) {
      const auto [at, is_new] = merged.entries.emplace(name, moved(entry));
      if (is_new) continue;
      // Each task has saved its own slices of a partitioned variable.
      if (!entry.is_sliced() || !at->second.is_sliced() || entry.dtype != at->second.dtype || entry.shape != at->second.shape)
        throw invalid_argument("the tensor " + io::detail::in_quotes(name) + " is in two of the checkpoints that are to be merged");
      at->second.slices.insert(at->second.slices.end(), entry.slices.begin(), entry.slices.end());
    }
    for (const auto& [name, entry] : its.parts)
      if (!merged.parts.emplace(name, moved(entry)).second)
        throw invalid_argument("a slice of a tensor is in two of the checkpoints that are to be merged: " + prefix);
  }
  merged.shards = static_cast<std::int32_t>(sources.size());
  if (sources.empty() || sources.size() > 99'999)
    throw invalid_argument(std::to_string(sources.size()) + " files cannot be one checkpoint");
  io::staged_file index(destination + ".index");
  index.write(io::write_bundle_index(merged));
  index.sync();
  std::vector<std::string> targets;
  std::set<std::string> names;
  for (std::int32_t k = 0; k < merged.shards; ++k) {
    targets.push_back(io::bundle_data_name(destination, k, merged.shards));
    names.insert(std::filesystem::path(targets.back()).filename().string());
  }
  const io::folder_lock lock(std::filesystem::path(destination).parent_path());
  std::size_t placed = 0;
  replace_bundle(
      destination, index, lock, names,
      [&] {
        for (; placed < sources.size(); ++placed) {
          std::error_code problem;
          std::filesystem::rename(sources[placed], targets[placed], problem);
          if (problem) throw failed_precondition(sources[placed] + ": cannot become " + targets[placed] + ": " + problem.message());
        }
      },
      [&] {
        std::error_code ignored;
        while (placed-- > 0) std::filesystem::rename(targets[placed], sources[placed], ignored);
      });
  std::error_code ignored;
  for (const std::string& prefix : prefixes)
    if (prefix != destination) std::filesystem::remove(prefix + ".index", ignored);
}

LEAT_FUNCTION void remove_checkpoint(const std::string& prefix, const std::string& digits) {
  std::error_code ignored;
  const std::vector<std::string> data = data_files_of(prefix);
  if (!data.empty()) {
    if (!digits.empty() && io::digits_before(data[0], data_ending) != digits) return;  // a newer save by another process
    std::filesystem::remove(prefix + ".json", ignored);
    remove_data_files(prefix, data);
  } else {
    if (!digits.empty() && io::identity_of(prefix + ".index") != digits) return;
    remove_bundle(prefix);
  }
  std::filesystem::remove(prefix + ".meta", ignored);
}

LEAT_FUNCTION std::optional<double> checkpoint_time(const std::string& prefix) {
  for (const char* ending : {".json", ".index"}) {
    struct stat its{};
    if (::stat((prefix + ending).c_str(), &its) == 0 && (ending != std::string_view(".json") || has_manifest(prefix)))
      return static_cast<double>(its.st_mtim.tv_sec) + 1e-9 * static_cast<double>(its.st_mtim.tv_nsec);
  }
  return std::nullopt;
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
      if (saved_name(entry.path()) != name) return true;  // not left by a save: another program's file, or a copy
      // An unreadable manifest may belong to this data, which is kept so that it can be recovered by hand.
      const std::vector<std::string> its = data_files_of(whole);
      const auto is_this = [&](const std::string& file) { return name_of_data(whole, file) == name; };
      return std::any_of(its.begin(), its.end(), is_this) || (its.empty() && std::filesystem::exists(whole + ".json", ignored));
    });
  }
}

}  // namespace leat::detail
