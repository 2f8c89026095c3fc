#pragma once
// Writes inference graphs as ONNX models (.onnx). Variables become constants: those of a graph must already be frozen; those of a session
// get their current values.
//
//   io::write_onnx_file(s, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}, "model.onnx");
//
// Each operator becomes one or several of ONNX's operators (onnx/operators.hpp is the table); nodes that the outputs do not need are left
// out. A control dependency is dropped if the node that it waits for has no lasting effect: NoOp, assertions, printing, summaries. Unknown
// sizes of inputs become named dimensions. Needs protozero (Debian: libprotozero-dev). Source: ONNX's operators, versions 17 to 21.

#include <leat/core/function_bodies.hpp>
#include <leat/io/saved_model.hpp>

#include <filesystem>
#include <string>

namespace leat::io {

/// Options of `write_onnx`.
struct onnx_options {
  int opset = 17;              // version of ONNX's operators, 17 to 21
  std::string name = "graph";  // the graph's name in the file
};

/// The model in ONNX's binary form. Inputs may be any tensors of the graph; the nodes that compute them are left out. Inputs and outputs
/// get their names from the signature. Unknown sizes of an input x are named by axis, "x_0"; or "batch" for the first axis, if no other
/// input has an unknown first size.
/// Errors: failed_precondition for a variable (freeze it, or pass the session); unimplemented, naming node and operator, for anything that
/// ONNX cannot express; invalid_argument for a placeholder that is not an input, an input or output of unknown rank or of a dtype without
/// numbers, a name used twice, no outputs, another opset; not_found for elements that the graph does not have.
std::string write_onnx(graph& g, const model_signature& model, const onnx_options& options = {});
/// The model in ONNX's binary form, with the current values of the session's variables. Errors: also failed_precondition for variables
/// without a value.
std::string write_onnx(graph_session& s, const model_signature& model, const onnx_options& options = {});

/// Writes the model to a file in ONNX's binary form. Errors: those of `write_onnx`, and failed_precondition if the file cannot be written.
void write_onnx_file(graph& g, const model_signature& model, const std::filesystem::path& path, const onnx_options& options = {});
void write_onnx_file(graph_session& s, const model_signature& model, const std::filesystem::path& path, const onnx_options& options = {});

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/onnx.hpp>
#endif
