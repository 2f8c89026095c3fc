#pragma once
// Definitions of operators on strings, and of the operators by which graphs save and restore their own variables.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_text_definitions) {
  constexpr facts pure{.is = nature::pure};
  // One tensor, or scalars beside tensors of one shape.
  const auto joined = [](shape_context& c) {
    shape extent;
    for (int k = 0; k < c.input_count(); ++k) {
      const shape& s = c.input(k).extent;
      if (!s.has_rank()) return;
      if (s.rank == 0) continue;
      if (extent.rank > 0 && !may_equal(extent, s))
        c.fail("Dimensions must be equal: " + leat::shape_text(extent) + " and " + leat::shape_text(s));
      extent = extent.rank > 0 ? known_of(extent, s) : s;
    }
    c.set(0, extent);
  };
  define_operator("StringJoin(inputs: N*string) -> (output: string); separator: string = \"\"", pure, joined);
  define_operator("RegexFullMatch(input: string, pattern: string) -> (output: bool)", pure, shapes::like<0>);
  define_operator("StaticRegexFullMatch(input: string) -> (output: bool); pattern: string", pure, shapes::like<0>);
  define_operator("ShardedFilename(basename: string, shard: int32, num_shards: int32) -> (filename: string)", pure, shapes::numbers);
  define_operator("ShardedFilespec(basename: string, num_shards: int32) -> (filename: string)", pure, shapes::numbers);

  const facts writes{.is = nature::effect, .stops_gradient = true};
  const facts reads{.is = nature::effect, .stops_gradient = true};
  define_operator("SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: list(dtypes)) -> ()", writes);
  define_operator("MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string) -> (); delete_old_dirs: bool = true", writes);
  define_operator("RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> (tensors: list(dtypes)); dtypes: list(type) >= 1",
                  reads);
  define_operator("Save(filename: string, tensor_names: string, data: list(T)) -> ()", writes);
  define_operator("SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: list(T)) -> ()", writes);
  define_operator("Restore(file_pattern: string, tensor_name: string) -> (tensor: dt); preferred_shard: int = -1", reads);
  define_operator(
      "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> (tensor: dt); preferred_shard: int = -1", reads);
}

}  // namespace leat::detail
