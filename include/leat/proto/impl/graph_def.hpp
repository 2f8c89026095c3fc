#pragma once
// Implementation of graph_def.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/graph_def.hpp>

namespace leat {

LEAT_FUNCTION bool saver_def::operator==(const saver_def& other) const {
  return filename_tensor_name == other.filename_tensor_name && save_tensor_name == other.save_tensor_name &&
         restore_op_name == other.restore_op_name && max_to_keep == other.max_to_keep && sharded == other.sharded &&
         detail::same_bits(keep_checkpoint_every_n_hours, other.keep_checkpoint_every_n_hours) && version == other.version;
}

LEAT_FUNCTION bool meta_info_def::operator==(const meta_info_def&) const = default;
LEAT_FUNCTION bool collection_def::node_list::operator==(const node_list&) const = default;
LEAT_FUNCTION bool collection_def::bytes_list::operator==(const bytes_list&) const = default;
LEAT_FUNCTION bool collection_def::int64_list::operator==(const int64_list&) const = default;
LEAT_FUNCTION bool collection_def::float_list::operator==(const float_list& other) const { return detail::same_bits(value, other.value); }
LEAT_FUNCTION bool collection_def::any_list::operator==(const any_list&) const = default;
LEAT_FUNCTION bool collection_def::operator==(const collection_def&) const = default;
LEAT_FUNCTION bool signature_tensor::sparse::operator==(const sparse&) const = default;
LEAT_FUNCTION bool signature_tensor::operator==(const signature_tensor&) const = default;
LEAT_FUNCTION bool signature_def::operator==(const signature_def&) const = default;
LEAT_FUNCTION bool asset_file_def::operator==(const asset_file_def&) const = default;
LEAT_FUNCTION bool meta_graph_def::operator==(const meta_graph_def&) const = default;

}  // namespace leat
