#pragma once
// Kernels of the operators by which graphs save and restore their own variables, as TensorFlow's savers put them into graphs. They write
// checkpoints in TensorFlow's format, V2, and read every format that `checkpoint_reader` reads. A graph is untrusted: all names are within
// the folder `session_options::file_root`. Source: TensorFlow `SaveV2`, `RestoreV2`, `MergeV2Checkpoints`, `Save`, `SaveSlices`, `Restore`,
// `RestoreSlice`.

#include <leat/checkpoint/checkpoint_files.hpp>
#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/file_root.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>

namespace leat::detail {

/// A slice as TensorFlow writes it, "4 3 0,2:-": the sizes of the whole tensor, then for each axis "-", all of it, or "start,length". An
/// empty text: the whole tensor. Errors: invalid_argument.
struct named_slice {
  shape whole{};
  tensor_block block{};
};
inline std::optional<named_slice> parse_slice(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto fail = [&] {
    throw invalid_argument("shape_and_slice '" + std::string(text) +
                           "' is not the shape of a tensor and a slice of it, such as '4 3 0,2:-'");
  };
  const auto number = [&](std::string_view digits) {
    if (digits.empty() || digits.size() > 13 || digits.find_first_not_of("0123456789") != digits.npos) fail();
    return static_cast<std::int64_t>(std::stoll(std::string(digits)));
  };
  // The text before a character, and what follows it.
  const auto cut = [](std::string_view& rest, char at) {
    const auto end = rest.find(at);
    const std::string_view first = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    return first;
  };
  named_slice made;
  std::string_view sizes = text.substr(0, std::min(text.rfind(' '), text.size()));
  std::string_view axes = text.substr(std::min(text.rfind(' ') + 1, text.size()));
  if (text.rfind(' ') == text.npos) fail();
  while (!sizes.empty()) {
    if (made.whole.rank == max_rank) fail();
    made.whole.push(number(cut(sizes, ' ')));
  }
  for (int a = 0; a < made.whole.rank; ++a) {
    std::string_view part = cut(axes, ':');
    std::int64_t first = 0, length = made.whole[a];
    if (part != "-") {
      first = number(cut(part, ','));
      length = number(part);
    }
    if (first > made.whole[a] || length > made.whole[a] - first) fail();
    made.block.offset.push_back(first);
    made.block.extent.push(length);
  }
  if (!axes.empty() || !made.whole.is_countable()) fail();
  return made;
}

/// As `path_within_root`, for the prefix of a checkpoint that is read, or for the pattern of its files: none of these is a link that leads
/// outside.
inline std::string checkpoint_within_root(kernel_context& c, const std::string& name) {
  const std::filesystem::path path = path_within_root(c, name);
  std::string begin = path.filename().string();
  const bool is_pattern = begin.find('?') != begin.npos;
  begin.resize(std::min(begin.find('?'), begin.size()));
  std::error_code problem;
  for (std::filesystem::directory_iterator at(path.parent_path(), problem), end; !problem && at != end; at.increment(problem)) {
    const std::string file = at->path().filename().string();
    const bool is_its = file == begin || file.starts_with(is_pattern ? begin : begin + ".") || file.ends_with(data_ending);
    if (is_its && at->is_symlink(problem)) static_cast<void>(path_within_root(c, at->path().string()));
    problem.clear();  // the file was removed meanwhile
  }
  return path.string();
}

/// The names of tensors, one for each value. Errors: invalid_argument.
inline std::vector<std::string> names_for(kernel_context& c, int k, std::size_t count, std::string_view what) {
  const tensor_value names = c.input(k);
  if (names.extent().rank > 1 || names.texts().size() != count)
    throw invalid_argument(std::string(what) + " must be a vector of " + std::to_string(count) + " strings, not " +
                           brackets(names.extent()));
  return names.texts();
}
/// Saves the inputs from `first` on. `slices`: the input that tells of which tensors they are slices, or -1.
inline void save_tensors(kernel_context& c, int slices, int first) {
  const auto count = static_cast<std::size_t>(std::max(0, c.input_count() - first));
  const std::string prefix = path_within_root(c, only_text(c, 0, "prefix"));
  checkpoint_contents contents;
  contents.names = names_for(c, 1, count, "tensor_names");
  const auto its_slices = slices < 0 ? std::vector<std::string>(count) : names_for(c, slices, count, "shape_and_slices");
  std::vector<tensor_value> values;
  std::map<std::string, bool, std::less<>> is_sliced;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(c.input(first + static_cast<int>(i)));
    const std::string& name = contents.names[i];
    const auto slice = parse_slice(its_slices[i]);
    const auto [known, is_new] = is_sliced.emplace(name, slice.has_value());
    if (!is_new && (!slice || !known->second)) throw invalid_argument("two tensors are saved under the name '" + name + "'");
    if (!slice) continue;
    if (!(slice->block.extent == values[i].extent()))
      throw invalid_argument("the slice '" + its_slices[i] + "' of '" + name + "' is not of the shape of the tensor, " +
                             brackets(values[i].extent()));
    if (!(contents.whole_shapes.emplace(name, slice->whole).first->second == slice->whole))
      throw invalid_argument("slices of '" + name + "' tell of two shapes");
    contents.blocks.emplace(i, slice->block);
  }
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw failed_precondition(folder.string() + ": cannot be made: " + problem.message());
  staged_checkpoint staged(prefix, checkpoint_format::tensorflow, std::move(contents), values);
  staged.commit(io::folder_lock(folder));
}

inline void merge_checkpoints(kernel_context& c) {
  std::vector<std::string> prefixes;
  for (const std::string& name : c.input(0).texts()) prefixes.push_back(checkpoint_within_root(c, name));
  const std::string destination = path_within_root(c, only_text(c, 1, "destination_prefix"));
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::path(destination).parent_path();
  std::filesystem::create_directories(folder, problem);
  if (problem) throw failed_precondition(folder.string() + ": cannot be made: " + problem.message());
  merge_bundles(prefixes, destination);
  if (!c.node.flag("delete_old_dirs", true)) return;
  for (const std::string& prefix : prefixes)
    if (const std::filesystem::path its = std::filesystem::path(prefix).parent_path(); its != folder)
      std::filesystem::remove(its, problem);  // as TensorFlow does, only if it is empty now
}

/// The value of a tensor of a checkpoint, or a slice of it, of the dtype that the node says. Errors: those of `checkpoint_reader`;
/// invalid_argument for another dtype or shape.
inline tensor_value restored_tensor(const checkpoint_reader& from, const std::string& name, const std::string& slice, dtype wanted) {
  const auto its = parse_slice(slice);
  tensor_value value = its ? tensor_value{} : from.value(name);
  if (its) {
    const auto saved = from.manifest().tensors.find(name);
    if (saved != from.manifest().tensors.end() && !(saved->second.shape == its->whole))
      throw invalid_argument("'" + name + "' is " + brackets(saved->second.shape) + " in the checkpoint, and a slice of " +
                             brackets(its->whole) + " is asked for");
    value = from.block(name, its->block);
  }
  if (value.type() != wanted)
    throw invalid_argument("'" + name + "' is " + dtype_name(value.type()) + " in the checkpoint, and " + dtype_name(wanted) +
                           " is asked for");
  return value;
}
inline void restore_tensors(kernel_context& c) {
  const auto wanted = c.node.list<data_type>("dtypes");
  const checkpoint_reader from(checkpoint_within_root(c, only_text(c, 0, "prefix")));
  const auto names = names_for(c, 1, wanted.size(), "tensor_names");
  const auto slices = names_for(c, 2, wanted.size(), "shape_and_slices");
  for (std::size_t i = 0; i < wanted.size(); ++i)
    c.set(static_cast<int>(i), restored_tensor(from, names[i], slices[i], static_cast<dtype>(wanted[i])));
}
/// Restores one tensor, from a pattern such as "model-?????-of-00002" or from a name.
inline void restore_tensor(kernel_context& c, bool of_slice) {
  const checkpoint_reader from(checkpoint_within_root(c, only_text(c, 0, "file_pattern")));
  c.set(0, restored_tensor(from, only_text(c, 1, "tensor_name"), of_slice ? only_text(c, 2, "shape_and_slice") : std::string{},
                           c.node.type_of("dt")));
}

LEAT_FILL(fill_saver_kernels) {
  register_kernel("SaveV2", [](kernel_context& c) { save_tensors(c, 2, 3); });
  register_kernel("Save", [](kernel_context& c) { save_tensors(c, -1, 2); });
  register_kernel("SaveSlices", [](kernel_context& c) { save_tensors(c, 2, 3); });
  register_kernel("MergeV2Checkpoints", merge_checkpoints);
  register_kernel("RestoreV2", restore_tensors);
  register_kernel("Restore", [](kernel_context& c) { restore_tensor(c, false); });
  register_kernel("RestoreSlice", [](kernel_context& c) { restore_tensor(c, true); });
}

}  // namespace leat::detail
