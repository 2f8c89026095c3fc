#pragma once
// TensorFlow's checkpoints V1, which it wrote until 2016: one sorted table with the names, shapes and slices of all tensors under the empty
// key, and a TensorProto for each slice; or several such files, NAME-00000-of-00002 and so on, each with its own tensors. They can be read
// but not written. Files are untrusted. Source: TensorFlow saved_tensor_slice.proto, core/util/tensor_slice_reader.

#include <leat/core/function_bodies.hpp>
#include <leat/io/tensor_parts.hpp>
#include <leat/proto/data_type.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leat::io {

/// A tensor of such a checkpoint.
struct sliced_tensor {
  data_type dtype = data_type::invalid;
  std::vector<std::int64_t> shape{};
  tensor_value value{};  // empty for a dtype or rank that the library has no arrays of
};
using sliced_tensors = std::map<std::string, sliced_tensor, std::less<>>;

/// Whether the files with this name exist, end as tables do, and are not the index of a checkpoint V2.
bool is_sliced_checkpoint(const std::string& name);

/// Adds the tensors of a file to those of other files. Errors: data_loss and invalid_argument, naming byte or tensor, for data that is
/// truncated, modified, or in two files; those of `read_sorted_table`.
void read_sliced_checkpoint(std::string_view file, sliced_tensors& tensors);

/// The files that a name denotes: itself, or for NAME-?????-of-00002, which is how TensorFlow names several files, each of them.
std::vector<std::string> sliced_checkpoint_files(const std::string& name);

/// The name of the file with the graph, next to them: NAME.meta.
std::string sliced_checkpoint_meta(const std::string& name);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/sliced_checkpoint.hpp>
#endif
