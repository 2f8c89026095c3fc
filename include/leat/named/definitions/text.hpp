#pragma once
// Definitions of operators on strings, and of the operators by which graphs save and restore their own variables.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

#include <algorithm>

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

  constexpr facts parted{.is = nature::pure, .stops_gradient = true};
  const auto sparse = [](shape_context& c) {
    shapes::want_rank(c, 0, 1);
    shapes::want_rank(c, 1, 0);
    shape pairs = shapes::vector_of(-1);
    pairs.push(2);
    c.set(0, pairs);
    c.set(1, shapes::vector_of(-1));
    c.set(2, shapes::vector_of(2));
  };
  const std::string parts = " -> (indices: int64, values: string, shape: int64); ";
  define_operator("StringSplit(input: string, delimiter: string)" + parts + "skip_empty: bool = true", parted, sparse);
  define_operator("StringSplitV2(input: string, sep: string)" + parts + "maxsplit: int = -1", parted, sparse);
  define_operator("StringLength(input: string) -> (output: int32); unit: string = \"BYTE\"", parted, shapes::like<0>);
  define_operator("Substr(input: string, pos: T, len: T) -> (output: string); T: {int32, int64}; unit: string = \"BYTE\"", parted,
                  [](shape_context& c) {
                    if (!may_equal(c.input(1).extent, c.input(2).extent)) c.fail("pos and len should have the same shape");
                    shapes::broadcast(c);
                  });
  define_operator("StringLower(input: string) -> (output: string); encoding: string = \"\"", parted, shapes::like<0>);
  define_operator("StringUpper(input: string) -> (output: string); encoding: string = \"\"", parted, shapes::like<0>);
  define_operator("StringStrip(input: string) -> (output: string)", parted, shapes::like<0>);
  facts joins = parted;
  joins.values = {1};
  define_operator(
      "ReduceJoin(inputs: string, reduction_indices: int32) -> (output: string); keep_dims: bool = false; separator: string = \"\"", joins,
      [](shape_context& c) {
        const shape& s = c.input(0).extent;
        const auto axes = c.numbers(1);
        if (!s.has_rank() || !axes || (!c.constant(1) && !axes->empty())) return;
        shape result;
        for (const std::int64_t axis : *axes) shapes::axis(c, axis, s.rank);
        for (int i = 0; i < s.rank; ++i) {
          const bool is_joined =
              std::any_of(axes->begin(), axes->end(), [&](std::int64_t axis) { return axis == i || axis + s.rank == i; });
          if (!is_joined) result.push(s[i]);
          else if (c.flag("keep_dims")) result.push(1);
        }
        c.set(0, result);
      });
  define_operator("RegexReplace(input: string, pattern: string, rewrite: string) -> (output: string); replace_global: bool = true", parted,
                  shapes::like<0>);
  define_operator("StaticRegexReplace(input: string) -> (output: string); pattern: string; rewrite: string; replace_global: bool = true",
                  parted, shapes::like<0>);

  define_operator(
      "AsString(input: T) -> (output: string); precision: int = -1; scientific: bool = false; shortest: bool = false; width: int = "
      "-1; fill: string = \"\"",
      parted, shapes::like<0>);
  define_operator("StringToNumber(string_tensor: string) -> (output: out_type); out_type: {float32, float64, int32, int64} = float32",
                  parted, shapes::like<0>);
  define_operator("StringToHashBucket(string_tensor: string) -> (output: int64); num_buckets: int >= 1", parted, shapes::like<0>);
  define_operator("StringToHashBucketFast(input: string) -> (output: int64); num_buckets: int >= 1", parted, shapes::like<0>);
  define_operator("StringToHashBucketStrong(input: string) -> (output: int64); num_buckets: int >= 1; key: list(int)", parted,
                  shapes::like<0>);
  define_operator(
      "StringFormat(inputs: list(T)) -> (output: string); template: string = \"%s\"; placeholder: string = \"%s\"; summarize: int = 3",
      parted, shapes::numbers);
  define_operator(
      "StringNGrams(data: string, data_splits: Tsplits) -> (ngrams: string, ngrams_splits: Tsplits); separator: string; ngram_widths: "
      "list(int); left_pad: string; right_pad: string; pad_width: int; preserve_short_sequences: bool; Tsplits: {int32, int64} = int64",
      parted, [](shape_context& c) {
        shapes::want_rank(c, 0, 1);
        shapes::want_rank(c, 1, 1);
        c.set(0, shapes::vector_of(-1));
        c.set(1, c.input(1).extent);
      });
  define_operator(
      "UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: string); separator: string = "
      "\"\"; "
      "Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32",
      parted, [](shape_context& c) {
        shapes::want_rank(c, 2, 0);
        const shape &s = c.input(0).extent, &of = c.input(1).extent;
        if (!s.has_rank() || !of.has_rank() || of.rank > s.rank) return;
        const auto count = shapes::number(c, 2);
        shape result = shapes::vector_of(count && *count >= 0 ? *count : unknown_dimension);
        for (int k = of.rank; k < s.rank; ++k) result.push(s[k]);
        c.set(0, result);
      });
  const std::string malformed = "errors: string = \"replace\"; replacement_char: int = 65533";
  const std::string codes = "input_encoding: string; " + malformed + "; replace_control_characters: bool = false";
  define_operator("UnicodeTranscode(input: string) -> (output: string); output_encoding: string; " + codes, parted, shapes::like<0>);
  // The code points of all strings, and where those of each begin.
  const auto decoded = [](shape_context& c) {
    for (int k = 1; k < c.result_count(); ++k) c.set(k, shapes::vector_of(-1));
    const shape& s = c.input(0).extent;
    const bool is_known = s.has_rank() && s.is_static();
    c.set(0, shapes::vector_of(is_known && s.elements() < max_elements ? s.elements() + 1 : -1));
  };
  const std::string kept_splits = "; Tsplits: {int32, int64} = int64";
  define_operator("UnicodeDecode(input: string) -> (row_splits: Tsplits, char_values: int32); " + codes + kept_splits, parted, decoded);
  define_operator("UnicodeDecodeWithOffsets(input: string) -> (row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64); " +
                      codes + kept_splits,
                  parted, decoded);
  define_operator("UnicodeEncode(input_values: int32, input_splits: Tsplits) -> (output: string); output_encoding: string; " + malformed +
                      kept_splits,
                  parted, [](shape_context& c) {
                    shapes::want_rank(c, 0, 1);
                    shapes::want_rank(c, 1, 1);
                    const shape& splits = c.input(1).extent;
                    c.set(0, shapes::vector_of(splits.has_rank() && splits[0] > 0 ? splits[0] - 1 : unknown_dimension));
                  });
  define_operator("EncodeBase64(input: string) -> (output: string); pad: bool = false", parted, shapes::like<0>);
  define_operator("DecodeBase64(input: string) -> (output: string)", parted, shapes::like<0>);
  define_operator(
      "DecodeRaw(bytes: string) -> (output: out_type); out_type: {float32, float64, int32, uint8, int64, bool}; little_endian: bool = true",
      {.is = nature::pure, .narrow = narrow_rule::any, .stops_gradient = true}, [](shape_context& c) {
        shape result = c.input(0).extent;
        if (!result.has_rank()) return;
        result.push(unknown_dimension);
        c.set(0, result);
      });
  define_operator(
      "DecodeCSV(records: string, record_defaults: list(OUT_TYPE)) -> (output: list(OUT_TYPE)); field_delim: string = \",\"; "
      "use_quote_delim: bool = true; na_value: string = \"\"; select_cols: list(int) = []",
      parted, shapes::like<0>);

  const facts writes{.is = nature::effect, .narrow = narrow_rule::any, .stops_gradient = true};
  const facts reads{.is = nature::effect, .narrow = narrow_rule::any, .stops_gradient = true};
  define_operator("SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: list(dtypes)) -> ()", writes);
  define_operator("MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string) -> (); delete_old_dirs: bool = true",
                  writes);
  define_operator(
      "RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> (tensors: list(dtypes)); dtypes: list(type) >= 1",
      reads);
  define_operator("Save(filename: string, tensor_names: string, data: list(T)) -> ()", writes);
  define_operator("SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: list(T)) -> ()", writes);
  define_operator("Restore(file_pattern: string, tensor_name: string) -> (tensor: dt); preferred_shard: int = -1", reads);
  define_operator(
      "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> (tensor: dt); preferred_shard: int = -1", reads);
}

}  // namespace leat::detail
