#pragma once
// Files: graphs, tables, arrays, records, checkpoints, pipelines over them, event files. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/checkpoint/impl/checkpoint_files.hpp>
#include <leat/checkpoint/impl/checkpoint_reader.hpp>
#include <leat/checkpoint/impl/checkpoint_state.hpp>
#include <leat/checkpoint/impl/graph_session_access.hpp>
#include <leat/checkpoint/impl/manifest.hpp>
#include <leat/checkpoint/impl/meta_graph.hpp>
#include <leat/checkpoint/impl/packed_texts.hpp>
#include <leat/checkpoint/impl/saver.hpp>
#include <leat/checkpoint/impl/session_access.hpp>
#include <leat/checkpoint/impl/shard_file.hpp>
#include <leat/core/standard.hpp>
#include <leat/data/impl/dataset_function.hpp>
#include <leat/data/impl/files.hpp>
#include <leat/data/impl/graph_dataset.hpp>
#include <leat/data/impl/graph_datasets.hpp>
#include <leat/data/impl/graph_iterator.hpp>
#include <leat/data/impl/iterator_states.hpp>
#include <leat/data/impl/stage.hpp>
#include <leat/data/kernels.hpp>
#include <leat/io/impl/collections.hpp>
#include <leat/io/impl/csv.hpp>
#include <leat/io/impl/describe.hpp>
#include <leat/io/impl/dot.hpp>
#include <leat/io/impl/element_format.hpp>
#include <leat/io/impl/example.hpp>
#include <leat/io/impl/file.hpp>
#include <leat/io/impl/functions.hpp>
#include <leat/io/impl/idx.hpp>
#include <leat/io/impl/inflate.hpp>
#include <leat/io/impl/input_file.hpp>
#include <leat/io/impl/lines.hpp>
#include <leat/io/impl/model_files.hpp>
#include <leat/io/impl/npy.hpp>
#include <leat/io/impl/npz.hpp>
#include <leat/io/impl/onnx.hpp>
#include <leat/io/impl/jpeg.hpp>
#include <leat/io/impl/library.hpp>
#include <leat/io/impl/png.hpp>
#include <leat/io/impl/random_state.hpp>
#include <leat/io/impl/record.hpp>
#include <leat/io/impl/safetensors.hpp>
#include <leat/io/impl/saved_model.hpp>
#include <leat/io/impl/saved_model_folder.hpp>
#include <leat/io/impl/saver_nodes.hpp>
#include <leat/io/impl/sliced_checkpoint.hpp>
#include <leat/io/impl/snappy.hpp>
#include <leat/io/impl/sorted_table.hpp>
#include <leat/io/impl/staged_file.hpp>
#include <leat/io/impl/tensor_bundle.hpp>
#include <leat/io/impl/tensor_parts.hpp>
#include <leat/io/impl/text.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/summary/impl/event.hpp>
#include <leat/summary/impl/event_reader.hpp>
#include <leat/summary/impl/file_writer.hpp>
#include <leat/summary/impl/file_writer_graphs.hpp>
#include <leat/summary/impl/histogram_counts.hpp>
#include <leat/summary/impl/media.hpp>
#include <leat/summary/impl/named_summary.hpp>
#include <leat/summary/impl/run_metadata.hpp>
#include <leat/summary/impl/value_list.hpp>
#include <leat/summary/kernels_summary.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_files() { return true; }
}  // namespace leat::detail
#endif
