#pragma once
// Files: graphs, tables, arrays, records, checkpoints, pipelines over them, event files. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/checkpoint/checkpoint_files_bodies.hpp>
#include <leat/checkpoint/checkpoint_reader_bodies.hpp>
#include <leat/checkpoint/checkpoint_state_bodies.hpp>
#include <leat/checkpoint/graph_session_access_bodies.hpp>
#include <leat/checkpoint/manifest_bodies.hpp>
#include <leat/checkpoint/packed_texts_bodies.hpp>
#include <leat/checkpoint/saver_bodies.hpp>
#include <leat/checkpoint/session_access_bodies.hpp>
#include <leat/checkpoint/shard_file_bodies.hpp>
#include <leat/core/standard.hpp>
#include <leat/data/files_bodies.hpp>
#include <leat/data/graph_iterator_bodies.hpp>
#include <leat/data/iterator_states_bodies.hpp>
#include <leat/data/stage_bodies.hpp>
#include <leat/io/collections_bodies.hpp>
#include <leat/io/csv_bodies.hpp>
#include <leat/io/describe_bodies.hpp>
#include <leat/io/dot_bodies.hpp>
#include <leat/io/element_format_bodies.hpp>
#include <leat/io/example_bodies.hpp>
#include <leat/io/file_bodies.hpp>
#include <leat/io/idx_bodies.hpp>
#include <leat/io/inflate_bodies.hpp>
#include <leat/io/input_file_bodies.hpp>
#include <leat/io/lines_bodies.hpp>
#include <leat/io/model_files_bodies.hpp>
#include <leat/io/npy_bodies.hpp>
#include <leat/io/npz_bodies.hpp>
#include <leat/io/onnx_bodies.hpp>
#include <leat/io/random_state_bodies.hpp>
#include <leat/io/record_bodies.hpp>
#include <leat/io/safetensors_bodies.hpp>
#include <leat/io/saved_model_bodies.hpp>
#include <leat/io/saved_model_folder_bodies.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/io/sliced_checkpoint_bodies.hpp>
#include <leat/io/snappy_bodies.hpp>
#include <leat/io/sorted_table_bodies.hpp>
#include <leat/io/staged_file_bodies.hpp>
#include <leat/io/tensor_bundle_bodies.hpp>
#include <leat/io/tensor_parts_bodies.hpp>
#include <leat/io/text_bodies.hpp>
#include <leat/summary/event_bodies.hpp>
#include <leat/summary/event_reader_bodies.hpp>
#include <leat/summary/file_writer_bodies.hpp>
#include <leat/summary/file_writer_graphs_bodies.hpp>
#include <leat/summary/histogram_counts_bodies.hpp>
#include <leat/summary/kernels_summary.hpp>
#include <leat/summary/media_bodies.hpp>
#include <leat/summary/named_summary_bodies.hpp>
#include <leat/summary/run_metadata_bodies.hpp>
#include <leat/summary/value_list_bodies.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_files() { return true; }
}  // namespace leat::detail
#endif
