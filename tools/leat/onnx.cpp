#include "onnx.hpp"

#include <leat/io/onnx.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/ops/known.hpp>

#include "show.hpp"

#include <algorithm>
#include <cstdio>

namespace tool {

using namespace leat;

namespace {

/// "name" of "name:0" and "name", and others as they are.
std::string short_name(const std::string& text) { return text.ends_with(":0") ? text.substr(0, text.size() - 2) : text; }

const std::string& tensor_of(const signature_tensor& tensor) {
  const auto* name = std::get_if<std::string>(&tensor.encoding);
  if (name == nullptr) throw usage_error("the signature has a sparse tensor, which ONNX does not have");
  return *name;
}

}  // namespace

signature_def chosen_signature(const meta_graph_def& meta, const std::string& name) {
  const auto& all = meta.signatures;
  if (const auto at = all.find(name.empty() ? "serving_default" : name); at != all.end()) return at->second;
  if (name.empty() && all.size() == 1) return all.begin()->second;
  std::string list;
  for (const auto& [key, s] : all) list += (list.empty() ? "" : ", ") + key;
  if (!name.empty()) throw usage_error("--signature: there is no \"" + name + "\" among " + (list.empty() ? "none" : list));
  throw usage_error(all.empty() ? "an ONNX model has inputs and outputs: name the outputs with --fetch"
                                : "which inputs and outputs? name them with --signature (" + list + ") or --fetch");
}

std::vector<std::string> outputs_of(const signature_def& signature) {
  std::vector<std::string> names;
  for (const auto& [key, tensor] : signature.outputs) names.push_back(tensor_of(tensor));
  return names;
}

void save_onnx(const graph_def& def, const signature_def& signature, const onnx_request& request, const std::filesystem::path& path) {
  graph g;
  g.named();
  import_graph(g, def, {.name = ""});
  const std::string prefix = request.prefix.empty() ? "" : request.prefix + "/";
  io::model_signature model;
  const auto tensor = [&](const std::string& name) {
    return io::model_tensor(prefix + short_name(name) + (short_name(name).find(':') == name.npos ? ":0" : ""));
  };
  if (request.fetches.empty()) {
    for (const auto& [key, in] : signature.inputs) {
      const std::string name = prefix + short_name(tensor_of(in));
      // An input that the outputs do not need is gone.
      const auto is_it = [&](const node_def& node) { return node.name == name.substr(0, name.find(':')); };
      if (std::any_of(def.nodes.begin(), def.nodes.end(), is_it)) model.inputs.emplace(key, tensor(tensor_of(in)));
      else std::fprintf(stderr, "leat: the input %s is left out: the outputs do not need it\n", printable(key).c_str());
    }
    for (const auto& [key, out] : signature.outputs) model.outputs.emplace(key, tensor(tensor_of(out)));
  } else {
    for (const node_def& node : def.nodes)
      if (node.op == "Placeholder" || node.op == "PlaceholderV2") model.inputs.emplace(node.name, node.name + ":0");
    for (const auto& fetch : request.fetches) model.outputs.emplace(prefix + short_name(fetch), tensor(fetch));
  }
  io::write_onnx_file(g, model, path, {.opset = request.opset});
}

}  // namespace tool
