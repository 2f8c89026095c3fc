#pragma once
// Graphs of files as ONNX models.

#include "graph_file.hpp"

#include <string>
#include <vector>

namespace tool {

/// How a model is written.
struct onnx_request {
  std::vector<std::string> fetches{};  // outputs; the placeholders that they need are inputs, all by their nodes' names
  std::string signature{};             // otherwise that of the model whose inputs and outputs count
  std::string prefix{};                // of all names of the graph
  int opset = 17;
};

/// The signature that counts: the one of this name, else serving_default, else the only one.
/// Errors: usage_error if there is none.
leat::signature_def chosen_signature(const leat::meta_graph_def& meta, const std::string& name);
/// The tensors that the outputs of a signature are. Errors: usage_error for a sparse one.
std::vector<std::string> outputs_of(const leat::signature_def& signature);

/// The model of a frozen graph. Errors: those of `leat::io::write_onnx`; usage_error for what the graph does not have.
void save_onnx(const leat::graph_def& graph, const leat::signature_def& signature, const onnx_request& request,
               const std::filesystem::path& path);

}  // namespace tool
