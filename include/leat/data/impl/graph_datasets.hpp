#pragma once
// Implementation of graph_datasets.hpp.

#include <leat/data/graph_datasets.hpp>
#include <leat/data/impl/graph_iterator.hpp>

namespace leat::data::detail {

// ---- datasets -----------------------------------------------------------------------------------------------------------

template <class Make>
void register_dataset(std::initializer_list<std::string_view> types, Make make) {
  register_kernels(types, [make](kernel_context& c) { c.set(0, tensor_value::handle(make(c, std::string(c.node.type)))); });
}
inline graph_dataset::inputs first_inputs(kernel_context& c, int count = 1) {
  graph_dataset::inputs from;
  for (int k = 0; k < count; ++k) from.push_back(dataset_in(c.input(k)));
  return from;
}
inline int type_count(kernel_context& c, std::string_view attribute) { return static_cast<int>(c.node.list<data_type>(attribute).size()); }
// A function with the captured values that are inputs from `first` on.
inline captured_function function_input(kernel_context& c, std::string_view attribute, int first, std::string_view types = "Targuments") {
  const auto declared = c.node.list<data_type>(types);
  const auto count = static_cast<int>(declared.size());
  std::vector<captured_variable> variables;
  components captured;
  for (int k = 0; k < count; ++k) {
    if (declared[static_cast<std::size_t>(k)] == data_type::resource && c.is_variable(first + k)) {
      const variable_slot& v = c.variable(first + k);
      variables.push_back({count - k, v.name(), v.type(), v.extent()});
      captured.emplace_back();
    } else {
      captured.push_back(kept_inputs(c, first + k, first + k + 1)[0]);
    }
  }
  return {recipe_of(c, attribute, std::move(variables)), std::move(captured)};
}
inline bool flag_of(kernel_context& c, int k) {
  const tensor_value& v = c.input(k);
  if (v.elements() != 1) throw invalid_argument("input " + std::to_string(k) + " must be a scalar");
  return v.values<bool>()[0];
}
inline std::vector<std::string> file_names(kernel_context& c) {
  const tensor_value& v = c.input(0);
  if (v.extent().rank > 1) throw invalid_argument("`filenames` must be a scalar or a vector.");
  return v.texts();
}
inline components stack_all(std::span<const components> elements) { return stacked(elements); }

inline std::shared_ptr<graph_dataset> make_padded_batch(kernel_context& c, const std::string& type, bool drops_rest) {
  const int count = type_count(c, "Toutput_types");
  if (c.node.integer("N") != count)
    throw invalid_argument("has " + std::to_string(c.node.integer("N")) + " padded_shapes for " + std::to_string(count) + " components");
  std::vector<padding_of_component> paddings;
  for (int k = 0; k < count; ++k) {
    padding_of_component one{c.numbers(2 + k), c.input(2 + count + k).kept()};
    if (one.sizes.size() >= static_cast<std::size_t>(max_rank)) throw unimplemented("padded_shapes of more than 7 dimensions");
    for (const std::int64_t size : one.sizes)
      if (size < -1) throw invalid_argument("padded_shapes must be at least -1, not " + std::to_string(size));
    if (one.value.elements() != 1) throw invalid_argument("All padding values must be scalars");
    paddings.push_back(std::move(one));
  }
  return std::make_shared<batch_dataset>(type, first_inputs(c), c.number(1), drops_rest,
                                         [paddings](std::span<const components> elements) { return stacked(elements, paddings); });
}

inline std::shared_ptr<graph_dataset> make_shuffle(kernel_context& c, const std::string& type, std::int64_t seed, std::int64_t seed2,
                                                   int generator = -1) {
  bool reshuffles = c.node.flag("reshuffle_each_iteration", true);
  const auto* kept = generator >= 0 && c.type(generator) == resource_dtype
                         ? dynamic_cast<const seed_generator*>(c.input(generator).held().get())
                         : nullptr;
  if (kept != nullptr) {
    seed = kept->seed;
    seed2 = kept->seed2;
    reshuffles = reshuffles && kept->reshuffles;
  }
  return std::make_shared<shuffle_dataset>(type, first_inputs(c), c.number(1), seed, seed2, reshuffles);
}

inline std::shared_ptr<graph_dataset> make_cached(kernel_context& c, const std::string& type) {
  if (const std::string name = leat::detail::only_text(c, 1, "filename"); !name.empty())
    throw unimplemented("a dataset that is cached in the file '" + name + "': cache it in memory, with an empty filename");
  return std::make_shared<cached_dataset>(type, first_inputs(c));
}

inline std::shared_ptr<graph_dataset> make_interleaved(kernel_context& c, const std::string& type) {
  const int first = 1 + type_count(c, "Targuments");
  constexpr int block_after_cycle = 1;
  // A negative length leaves the choice to TensorFlow: here it is one.
  std::int64_t cycle = c.number(first);
  if (cycle == -1) cycle = 1;
  return std::make_shared<interleaved_dataset>(type, first_inputs(c), function_input(c, "f", 1), spec_of(c.node), cycle,
                                               c.number(first + block_after_cycle));
}

// ---- elements without an iterator ---------------------------------------------------------------------------------------

/// Calls `f` with a pipeline that the node keeps between runs.
template <class F>
void with_pipeline(kernel_context& c, F f) {
  std::unique_ptr<pipeline> p = take_pipeline(c);
  p->within(c.step, [&] { f(*p); });
  keep_pipeline(c, std::move(p));
}
inline void run_single_element(kernel_context& c) {
  const auto from = dataset_in(c.input(0));
  components element, another;
  with_pipeline(c, [&](pipeline& p) {
    const auto pass = from->iterate(p);
    if (!pass->next(element)) throw invalid_argument("Dataset was empty.");
    if (pass->next(another)) throw invalid_argument("Dataset had more than one element.");
  });
  check_element(element, spec_of(c.node));
  set_element(c, std::move(element));
}
inline void run_reduce(kernel_context& c) {
  const auto from = dataset_in(c.input(0));
  const int states = type_count(c, "Tstate");
  components state = kept_inputs(c, 1, 1 + states);
  const captured_function f = function_input(c, "f", 1 + states);
  with_pipeline(c, [&](pipeline& p) {
    const auto pass = from->iterate(p);
    for (components element; pass->next(element);) {
      components next = f.call(p, joined(state, element));
      if (next.size() != state.size()) f.fail("has another number of results than the state has components");
      scanned_dataset::check_state(f, next, state);
      state = std::move(next);
    }
  });
  check_element(state, spec_of(c.node));
  set_element(c, std::move(state));
}

/// An element, or none. Source: TensorFlow `IteratorGetNextAsOptional`.
struct optional_element final : resource {
  std::optional<components> element;
};
inline const optional_element& optional_in(const tensor_value& handle) {
  const auto* found = handle.type() == resource_dtype ? dynamic_cast<const optional_element*>(handle.held().get()) : nullptr;
  if (found == nullptr) throw invalid_argument("the handle is none of an optional element");
  return *found;
}
inline void run_next_as_optional(kernel_context& c) {
  auto made = std::make_shared<optional_element>();
  try {
    made->element = next_element(c);
  } catch (const end_of_sequence&) {
  }
  c.set(0, tensor_value::handle(std::move(made)));
}
struct deleter_resource final : closed_resource {};

}  // namespace leat::data::detail

namespace leat::detail {

LEAT_FILL(fill_dataset_definitions) {
  using namespace data::detail;
  // A node that makes a dataset only describes elements. It is not merged with an equal one, which may have another order.
  const facts describes{.is = nature::inert, .work = work_kind::none, .narrow = narrow_rule::any, .stops_gradient = true};
  const auto define = [&](std::initializer_list<const char*> types, const std::string& inputs, const std::string& attributes) {
    for (const char* type : types)
      define_operator(type + ("(" + inputs + ") -> (handle: variant); " + attributes), describes, shapes::numbers);
  };
  const std::string in = "input_dataset: variant", noted = "; metadata: string = \"\"";
  const std::string shapes_alone = "output_shapes: list(shape) >= 1" + noted;
  const std::string elements = "output_types: list(type) >= 1; " + shapes_alone;
  const std::string captures = in + ", other_arguments: list(Targuments)", f = "f: func; " + elements;
  const std::string counted = in + ", count: int64", reshuffles = "; reshuffle_each_iteration: bool = true";
  const std::string deterministic = "; deterministic: string = \"default\"", keeps_count = "; preserve_cardinality: bool = false";

  define({"TensorDataset"}, "components: list(Toutput_types)", shapes_alone);
  define({"TensorSliceDataset"}, "components: list(Toutput_types)",
         shapes_alone + "; is_files: bool = false; replicate_on_split: bool = false");
  define({"RangeDataset"}, "start: int64, stop: int64, step: int64", elements + "; replicate_on_split: bool = false");
  define({"RandomDataset", "ExperimentalRandomDataset"}, "seed: int64, seed2: int64", elements);
  define({"RandomDatasetV2"}, "seed: int64, seed2: int64, seed_generator: resource",
         elements + "; rerandomize_each_iteration: bool = false");
  define({"TextLineDataset", "TFRecordDataset"}, "filenames: string, compression_type: string, buffer_size: int64",
         "metadata: string = \"\"");
  define({"TFRecordDatasetV2"}, "filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64",
         "metadata: string = \"\"");
  const std::string fixed = "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64";
  define({"FixedLengthRecordDataset"}, fixed, "metadata: string = \"\"");
  define({"FixedLengthRecordDatasetV2"}, fixed + ", compression_type: string", "metadata: string = \"\"");

  define({"BatchDataset"}, in + ", batch_size: int64", elements);
  define({"BatchDatasetV2"}, in + ", batch_size: int64, drop_remainder: bool", elements + "; parallel_copy: bool = false");
  define({"ParallelBatchDataset"}, in + ", batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
         elements + "; parallel_copy: bool = false" + deterministic);
  const std::string padded = in + ", batch_size: int64, padded_shapes: N*int64, padding_values: list(Toutput_types)";
  define({"PaddedBatchDataset"}, padded, shapes_alone);
  define({"PaddedBatchDatasetV2"}, padded + ", drop_remainder: bool", shapes_alone + "; parallel_copy: bool = false");
  define({"RepeatDataset", "TakeDataset", "SkipDataset"}, counted, elements);
  define({"ShardDataset"}, in + ", num_shards: int64, index: int64", elements + "; require_non_empty: bool = false");
  const std::string shuffled = in + ", buffer_size: int64, ", seeds = "seed: int64, seed2: int64";
  define({"ShuffleDataset"}, shuffled + seeds, elements + reshuffles);
  define({"ShuffleDatasetV2"}, shuffled + "seed_generator: resource", elements);
  define({"ShuffleDatasetV3"}, shuffled + seeds + ", seed_generator: resource", elements + reshuffles);
  define({"ShuffleAndRepeatDataset"}, shuffled + seeds + ", count: int64", elements + reshuffles);
  define({"ShuffleAndRepeatDatasetV2"}, shuffled + seeds + ", count: int64, seed_generator: resource", elements + reshuffles);
  define({"PrefetchDataset"}, in + ", buffer_size: int64",
         elements + "; slack_period: int = 0; legacy_autotune: bool = true; buffer_size_min: int = 0");
  define({"ZipDataset"}, "input_datasets: N*variant", elements);
  define({"ConcatenateDataset"}, in + ", another_dataset: variant", elements);
  define({"CacheDataset"}, in + ", filename: string", elements);
  define({"CacheDatasetV2"}, in + ", filename: string, cache: resource", elements);
  define({"UnbatchDataset", "ExperimentalUnbatchDataset"}, in, elements);
  define({"WindowDataset"}, in + ", size: int64, shift: int64, stride: int64, drop_remainder: bool", elements);

  const std::string inter_op = "; use_inter_op_parallelism: bool = true";
  define({"MapDataset"}, captures, f + inter_op + keeps_count + "; force_synchronous: bool = false");
  define({"ParallelMapDataset"}, captures + ", num_parallel_calls: int32", f + inter_op + "; sloppy: bool = false" + keeps_count);
  define({"ParallelMapDatasetV2"}, captures + ", num_parallel_calls: int64",
         f + inter_op + deterministic + keeps_count + "; use_unbounded_threadpool: bool = false");
  define({"MapAndBatchDataset", "ExperimentalMapAndBatchDataset", "MapAndBatchDatasetV2"},
         captures + ", batch_size: int64, num_parallel_calls: int64, drop_remainder: bool", f + keeps_count);
  define({"FilterDataset", "TakeWhileDataset", "ExperimentalTakeWhileDataset"}, captures, "predicate: func; " + elements);
  define({"FlatMapDataset"}, captures, f);
  const std::string cycle = captures + ", cycle_length: int64, block_length: int64";
  define({"InterleaveDataset"}, cycle, f);
  const std::string buffers = ", buffer_output_elements: int64, prefetch_input_elements: int64";
  define({"ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"}, cycle + ", sloppy: bool" + buffers, f);
  define({"LegacyParallelInterleaveDatasetV2"}, cycle + buffers, f + deterministic);
  define({"ParallelInterleaveDatasetV2"}, cycle + ", num_parallel_calls: int64", f + "; sloppy: bool = false");
  define({"ParallelInterleaveDatasetV3"}, cycle + ", num_parallel_calls: int64", f + deterministic);
  define({"ParallelInterleaveDatasetV4"}, cycle + buffers + ", num_parallel_calls: int64", f + deterministic);
  define({"ScanDataset", "ExperimentalScanDataset"}, in + ", initial_state: list(Tstate), other_arguments: list(Targuments)",
         f + keeps_count + "; use_default_device: bool = true");
  define({"GroupByWindowDataset", "ExperimentalGroupByWindowDataset"},
         in + ", key_func_other_arguments: list(Tkey_func_other_arguments), reduce_func_other_arguments: "
              "list(Treduce_func_other_arguments), window_size_func_other_arguments: list(Twindow_size_func_other_arguments)",
         "key_func: func; reduce_func: func; window_size_func: func; " + elements);

  define({"ModelDataset"}, in, elements + "; algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0");
  define({"OptimizeDataset"}, in + ", optimizations: string", elements + "; optimization_configs: list(string) = []");
  define({"OptimizeDatasetV2"}, in + ", optimizations_enabled: string, optimizations_disabled: string, optimizations_default: string",
         elements + "; optimization_configs: list(string) = []");
  define({"OptionsDataset"}, in, "serialized_options: string; " + elements);
  define({"FinalizeDataset"}, in, elements + "; has_captured_ref: bool = false");
  define({"NonSerializableDataset", "ExperimentalNonSerializableDataset"}, in, elements);
  define({"AssertNextDataset", "ExperimentalAssertNextDataset", "AssertPrevDataset"}, in + ", transformations: string", elements);
  define({"AutoShardDataset", "ExperimentalAutoShardDataset"}, in + ", num_workers: int64, index: int64",
         elements + "; auto_shard_policy: int = 0; num_replicas: int = 0");
  define({"MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset"}, in + ", max_intra_op_parallelism: int64", elements);
  define({"PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset"}, in + ", num_threads: int64", elements);

  // ---- what datasets need, and what takes elements ----

  const std::string of_resource = "handle: resource", and_deleter = of_resource + ", deleter: variant";
  define_operator("AnonymousSeedGenerator(seed: int64, seed2: int64, reshuffle: bool) -> (" + and_deleter + ")", describes,
                  shapes::numbers);
  define_operator("AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> (" + and_deleter + ")", describes, shapes::numbers);
  define_operator("AnonymousMemoryCache() -> (" + and_deleter + ")", describes, shapes::numbers);
  for (const char* type : {"DummySeedGenerator", "DummyMemoryCache"})
    define_operator(type + ("() -> (" + of_resource + ")"), describes, shapes::numbers);
  for (const char* type : {"DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache", "DeleteIterator"})
    define_operator(type + ("(" + and_deleter + ") -> ()"));
  const std::string structure = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1";
  const facts makes{.is = nature::effect, .narrow = narrow_rule::any};
  for (const char* type : {"AnonymousIterator", "AnonymousIteratorV3"})
    define_operator(type + ("() -> (" + of_resource + "); " + structure), makes, shapes::numbers);
  define_operator("AnonymousIteratorV2() -> (" + and_deleter + "); " + structure, makes, shapes::numbers);
  const facts takes{.is = nature::effect, .narrow = narrow_rule::any, .waits = true};
  define_operator("IteratorGetNextAsOptional(iterator: resource) -> (optional: variant); " + structure, takes, shapes::numbers);
  const std::string components = " -> (components: list(output_types)); output_shapes: list(shape) >= 1";
  define_operator("DatasetToSingleElement(dataset: variant)" + components + noted, takes, shapes_of_element);
  define_operator("ReduceDataset(" + in + ", initial_state: list(Tstate), other_arguments: list(Targuments))" + components +
                      "; f: func; use_inter_op_parallelism: bool = true" + noted,
                  takes, shapes_of_element);
  define_operator("OptionalHasValue(optional: variant) -> (has_value: bool)", describes, shapes::numbers);
  define_operator("OptionalGetValue(optional: variant)" + components, describes, shapes_of_element);
  define_operator("OptionalNone() -> (optional: variant)", describes, shapes::numbers);
  define_operator("OptionalFromValue(components: list(Toutput_types)) -> (optional: variant)", describes, shapes::numbers);
}

LEAT_FILL(fill_dataset_kernels) {
  using namespace data::detail;
  using text = std::string;
  register_dataset({"TensorDataset", "TensorSliceDataset"}, [](kernel_context& c, const text& type) {
    const bool by_rows = type.find("Slice") != type.npos;
    return std::make_shared<dataset_of_values>(type, kept_inputs(c, 0, c.input_count()), by_rows);
  });
  register_dataset({"RangeDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<range_dataset>(type, c.number(0), c.number(1), c.number(2), spec_of(c.node));
  });
  register_dataset({"RandomDataset", "ExperimentalRandomDataset", "RandomDatasetV2"},
                   [](kernel_context& c, const text& type) { return std::make_shared<random_dataset>(type, c.number(0), c.number(1)); });
  register_dataset({"TextLineDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<dataset_of_files>(type, file_names(c), opens_lines(only_text(c, 1, "compression_type")));
  });
  register_dataset({"TFRecordDataset", "TFRecordDatasetV2"}, [](kernel_context& c, const text& type) {
    constexpr int offsets = 3;
    return std::make_shared<dataset_of_files>(
        type, file_names(c),
        opens_records(only_text(c, 1, "compression_type"), c.input_count() > offsets ? c.numbers(offsets) : std::vector<std::int64_t>{}));
  });
  register_dataset({"FixedLengthRecordDataset", "FixedLengthRecordDatasetV2"}, [](kernel_context& c, const text& type) {
    constexpr int compression = 5;
    return std::make_shared<dataset_of_files>(
        type, file_names(c),
        opens_fixed(c.number(1), c.number(2), c.number(3),
                    c.input_count() > compression ? only_text(c, compression, "compression_type") : ""));
  });

  register_dataset({"BatchDataset", "BatchDatasetV2", "ParallelBatchDataset"}, [](kernel_context& c, const text& type) {
    const bool drops_rest = c.input_count() > 2 && flag_of(c, c.input_count() - 1);
    return std::make_shared<batch_dataset>(type, first_inputs(c), c.number(1), drops_rest, stack_all);
  });
  register_dataset({"PaddedBatchDataset"}, [](kernel_context& c, const text& type) { return make_padded_batch(c, type, false); });
  register_dataset({"PaddedBatchDatasetV2"},
                   [](kernel_context& c, const text& type) { return make_padded_batch(c, type, flag_of(c, c.input_count() - 1)); });
  register_dataset({"RepeatDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<repeat_dataset>(type, first_inputs(c), c.number(1));
  });
  register_dataset({"TakeDataset"},
                   [](kernel_context& c, const text& type) { return std::make_shared<take_dataset>(type, first_inputs(c), c.number(1)); });
  register_dataset({"SkipDataset"},
                   [](kernel_context& c, const text& type) { return std::make_shared<skip_dataset>(type, first_inputs(c), c.number(1)); });
  register_dataset({"ShardDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<shard_dataset>(type, first_inputs(c), c.number(1), c.number(2));
  });
  register_dataset({"ShuffleDataset"}, [](kernel_context& c, const text& type) { return make_shuffle(c, type, c.number(2), c.number(3)); });
  register_dataset({"ShuffleDatasetV2"}, [](kernel_context& c, const text& type) { return make_shuffle(c, type, 0, 0, 2); });
  register_dataset({"ShuffleDatasetV3"},
                   [](kernel_context& c, const text& type) { return make_shuffle(c, type, c.number(2), c.number(3), 4); });
  register_dataset({"ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2"}, [](kernel_context& c, const text& type) {
    const int generator = c.input_count() > 5 ? 5 : -1;
    return std::make_shared<repeat_dataset>(type, graph_dataset::inputs{make_shuffle(c, type, c.number(2), c.number(3), generator)},
                                            c.number(4));
  });
  register_dataset({"PrefetchDataset"}, [](kernel_context& c, const text& type) {
    if (c.number(1) < -1) throw invalid_argument("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
    return std::make_shared<passing_dataset>(type, first_inputs(c));
  });
  register_dataset({"ModelDataset", "OptimizeDataset", "OptimizeDatasetV2", "OptionsDataset", "FinalizeDataset", "NonSerializableDataset",
                    "ExperimentalNonSerializableDataset", "AssertNextDataset", "ExperimentalAssertNextDataset", "AssertPrevDataset",
                    "MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset", "PrivateThreadPoolDataset",
                    "ExperimentalPrivateThreadPoolDataset"},
                   [](kernel_context& c, const text& type) { return std::make_shared<passing_dataset>(type, first_inputs(c)); });
  register_dataset({"AutoShardDataset", "ExperimentalAutoShardDataset"},
                   [](kernel_context& c, const text& type) -> std::shared_ptr<graph_dataset> {
                     constexpr std::int64_t off = -1;
                     if (c.node.integer("auto_shard_policy") == off) return std::make_shared<passing_dataset>(type, first_inputs(c));
                     return std::make_shared<shard_dataset>(type, first_inputs(c), c.number(1), c.number(2));
                   });
  register_dataset({"ZipDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<zip_dataset>(type, first_inputs(c, c.input_count()));
  });
  register_dataset({"ConcatenateDataset"},
                   [](kernel_context& c, const text& type) { return std::make_shared<concatenated_dataset>(type, first_inputs(c, 2)); });
  register_dataset({"CacheDataset", "CacheDatasetV2"}, make_cached);
  register_dataset({"UnbatchDataset", "ExperimentalUnbatchDataset"},
                   [](kernel_context& c, const text& type) { return std::make_shared<unbatched_dataset>(type, first_inputs(c)); });
  register_dataset({"WindowDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<window_dataset>(type, first_inputs(c), c.number(1), c.number(2), c.number(3), flag_of(c, 4));
  });

  register_dataset({"MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2"}, [](kernel_context& c, const text& type) {
    return std::make_shared<mapped_dataset>(type, first_inputs(c), function_input(c, "f", 1), spec_of(c.node),
                                            c.node.flag("preserve_cardinality"));
  });
  register_dataset({"MapAndBatchDataset", "ExperimentalMapAndBatchDataset", "MapAndBatchDatasetV2"},
                   [](kernel_context& c, const text& type) {
                     const int behind = 1 + type_count(c, "Targuments");
                     element_spec spec = spec_of(c.node);  // of the batches
                     std::ranges::fill(spec.shapes, shape::unknown());
                     auto mapped = std::make_shared<mapped_dataset>(type, first_inputs(c), function_input(c, "f", 1), std::move(spec),
                                                                    c.node.flag("preserve_cardinality"));
                     return std::make_shared<batch_dataset>(type, graph_dataset::inputs{std::move(mapped)}, c.number(behind),
                                                            flag_of(c, behind + 2), stack_all);
                   });
  for (const bool stops : {false, true}) {
    const auto make = [stops](kernel_context& c, const text& type) {
      return std::make_shared<filtered_dataset>(type, first_inputs(c), function_input(c, "predicate", 1), stops);
    };
    if (stops) register_dataset({"TakeWhileDataset", "ExperimentalTakeWhileDataset"}, make);
    else register_dataset({"FilterDataset"}, make);
  }
  register_dataset({"FlatMapDataset"}, [](kernel_context& c, const text& type) {
    return std::make_shared<interleaved_dataset>(type, first_inputs(c), function_input(c, "f", 1), spec_of(c.node), 1, 1);
  });
  register_dataset({"InterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4",
                    "ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset", "LegacyParallelInterleaveDatasetV2"},
                   make_interleaved);
  register_dataset({"ScanDataset", "ExperimentalScanDataset"}, [](kernel_context& c, const text& type) {
    const int behind = 1 + type_count(c, "Tstate");
    return std::make_shared<scanned_dataset>(type, first_inputs(c), function_input(c, "f", behind), kept_inputs(c, 1, behind),
                                             spec_of(c.node));
  });
  register_dataset({"GroupByWindowDataset", "ExperimentalGroupByWindowDataset"}, [](kernel_context& c, const text& type) {
    const char *of_key = "Tkey_func_other_arguments", *of_reduce = "Treduce_func_other_arguments",
               *of_size = "Twindow_size_func_other_arguments";
    const int reduce = 1 + type_count(c, of_key), size = reduce + type_count(c, of_reduce);
    return std::make_shared<grouped_dataset>(type, first_inputs(c), function_input(c, "key_func", 1, of_key),
                                             function_input(c, "reduce_func", reduce, of_reduce),
                                             function_input(c, "window_size_func", size, of_size), spec_of(c.node));
  });

  const auto set_deleter = [](kernel_context& c) { c.set(1, tensor_value::handle(std::make_shared<deleter_resource>())); };
  register_kernel("AnonymousSeedGenerator", [set_deleter](kernel_context& c) {
    c.set(0, tensor_value::handle(std::make_shared<seed_generator>(c.number(0), c.number(1), flag_of(c, 2))));
    set_deleter(c);
  });
  register_kernel("AnonymousRandomSeedGenerator", [set_deleter](kernel_context& c) {
    c.set(0, tensor_value::handle(std::make_shared<seed_generator>(c.number(0), c.number(1), true)));
    set_deleter(c);
  });
  register_kernels({"AnonymousMemoryCache", "DummySeedGenerator", "DummyMemoryCache"}, [set_deleter](kernel_context& c) {
    c.set(0, tensor_value::handle(std::make_shared<deleter_resource>()));
    set_deleter(c);
  });
  register_kernels({"DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache", "DeleteIterator"}, [](kernel_context&) {});
  register_kernels({"AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"}, [set_deleter](kernel_context& c) {
    c.set(0, tensor_value::handle(std::make_shared<iterator_resource>(c.node.name())));
    set_deleter(c);
  });
  register_kernel("IteratorGetNextAsOptional", run_next_as_optional);
  register_kernel("DatasetToSingleElement", run_single_element);
  register_kernel("ReduceDataset", run_reduce);
  register_kernel("OptionalHasValue", [](kernel_context& c) { c.set(0, tensor_value(optional_in(c.input(0)).element.has_value())); });
  register_kernel("OptionalGetValue", [](kernel_context& c) {
    const auto& held = optional_in(c.input(0)).element;
    if (!held) throw invalid_argument("The given optional does not have a value.");
    check_element(*held, spec_of(c.node));
    set_element(c, *held);
  });
  register_kernel("OptionalNone", [](kernel_context& c) { c.set(0, tensor_value::handle(std::make_shared<optional_element>())); });
  register_kernel("OptionalFromValue", [](kernel_context& c) {
    auto made = std::make_shared<optional_element>();
    made->element = kept_inputs(c, 0, c.input_count());
    c.set(0, tensor_value::handle(std::move(made)));
  });
}

}  // namespace leat::detail
