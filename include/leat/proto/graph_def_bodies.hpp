#pragma once
// Implementation of graph_def.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>
#include <leat/proto/graph_def.hpp>

namespace leat {

LEAT_FUNCTION bool saver_def::operator==(const saver_def& other) const {
  return filename_tensor_name == other.filename_tensor_name && save_tensor_name == other.save_tensor_name &&
         restore_op_name == other.restore_op_name && max_to_keep == other.max_to_keep && sharded == other.sharded &&
         detail::same_bits(keep_checkpoint_every_n_hours, other.keep_checkpoint_every_n_hours) &&
         version == other.version;
}

}  // namespace leat
