#pragma once
// A graph in file form: plain data that mirrors TensorFlow's messages (graph.proto, node_def.proto, meta_graph.proto), with their names. It
// can hold every operator, also unknown ones; nothing is checked or run here. `io/` reads and writes it; graphs are imported from it and
// exported to it.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>
#include <leat/proto/node_def.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace leat {

/// The origin of a meta graph. `function_aliases`, `stripped_op_list` and `any_info` are not kept.
/// Source: MetaGraphDef.MetaInfoDef.
struct meta_info_def {
  std::string meta_graph_version{};
  std::vector<std::string> tags{};
  std::string tensorflow_version{};
  std::string tensorflow_git_version{};
  bool stripped_default_attrs = false;
  bool operator==(const meta_info_def&) const;
};

/// The nodes that save and restore variables. `version`: 0 legacy, 1 V1, 2 V2. Source: SaverDef.
struct saver_def {
  std::string filename_tensor_name{};
  std::string save_tensor_name{};
  std::string restore_op_name{};
  std::int32_t max_to_keep = 0;
  bool sharded = false;
  float keep_checkpoint_every_n_hours = 0;
  std::int32_t version = 0;
  bool operator==(const saver_def& other) const;
};

/// A named collection: names of nodes and tensors, bytes (such as serialized VariableDefs), numbers, or messages of any type, which only
/// binary files can hold. Source: CollectionDef.
struct collection_def {
  struct node_list {
    std::vector<std::string> value{};
    bool operator==(const node_list&) const;
  };
  struct bytes_list {
    std::vector<std::string> value{};
    bool operator==(const bytes_list&) const;
  };
  struct int64_list {
    std::vector<std::int64_t> value{};
    bool operator==(const int64_list&) const;
  };
  struct float_list {
    std::vector<float> value{};
    bool operator==(const float_list& other) const;
  };
  /// Each value is a google.protobuf.Any in binary form.
  struct any_list {
    std::vector<std::string> value{};
    bool operator==(const any_list&) const;
  };
  std::variant<std::monostate, node_list, bytes_list, int64_list, float_list, any_list> kind{};
  bool operator==(const collection_def&) const;
};

/// A tensor in a signature: by name, or the three components of a sparse one. Source: TensorInfo.
struct signature_tensor {
  struct sparse {
    std::string values_tensor_name{};
    std::string indices_tensor_name{};
    std::string dense_shape_tensor_name{};
    bool operator==(const sparse&) const;
  };
  std::variant<std::monostate, std::string, sparse> encoding{};
  data_type dtype = data_type::invalid;
  std::optional<tensor_shape_proto> tensor_shape{};
  bool operator==(const signature_tensor&) const;
};

/// A model's inputs and outputs. Source: SignatureDef.
struct signature_def {
  std::map<std::string, signature_tensor> inputs{};
  std::map<std::string, signature_tensor> outputs{};
  std::string method_name{};
  bool operator==(const signature_def&) const;
};

/// A file that belongs to a model. Source: AssetFileDef.
struct asset_file_def {
  std::optional<signature_tensor> tensor_info{};
  std::string filename{};
  bool operator==(const asset_file_def&) const;
};

/// A graph with its metadata. `object_graph_def` is not kept. Source: MetaGraphDef.
struct meta_graph_def {
  meta_info_def meta_info{};
  graph_def graph{};
  std::optional<saver_def> saver{};
  std::map<std::string, collection_def> collections{};
  std::map<std::string, signature_def> signatures{};
  std::vector<asset_file_def> asset_files{};
  bool operator==(const meta_graph_def&) const;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/graph_def.hpp>
#endif
