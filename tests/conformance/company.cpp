// The answer does not depend on company. Each operator that is registered runs alone, beside an unrelated random node (with which a plan
// cannot be one program), among neighbors that it may be fused with, by itself, and with shapes that the graph knows or a run alone: the
// results are the same to the last bit, or all are errors. Inputs have ranks from 0 to 5, no elements, zeros of both signs, infinities, NaN,
// and the largest and smallest normal numbers. `company --only TYPE` shows one operator's disagreements.

#include <leat/session/graph_session.hpp>

#include "calls.hpp"

#include <cstdio>
#include <memory>
#include <optional>

using namespace leat;
using namespace conformance;

namespace {

using conformance::text_of;

struct outcome {
  std::string problem;  // an error's words
  std::vector<tensor_value> results;
};

bool is_same(const tensor_value& a, const tensor_value& b) {
  if (a.type() != b.type() || !(a.extent() == b.extent())) return false;
  if (a.type() == text_dtype) return summary_text(a, 1000) == summary_text(b, 1000);
  return with_dtype(a.type(), [&]<class T>(T) {
    const auto x = a.values<T>(), y = b.values<T>();
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::memcmp(&x[i], &y[i], sizeof(T)) != 0 && !(x[i] != x[i] && y[i] != y[i])) return false;  // any NaN is one
    return true;
  });
}
bool is_same(const outcome& a, const outcome& b) {
  if (a.problem.empty() != b.problem.empty() || a.results.size() != b.results.size()) return false;
  for (std::size_t k = 0; k < a.results.size(); ++k)
    if (!is_same(a.results[k], b.results[k])) return false;
  return true;
}

// TensorFlow refuses a window that is larger than an image whose size the graph knows. Where only the run knows it, there is no window, and
// the result has no element.
bool finds_no_window(const outcome& of_known_shape, const outcome& itself) {
  if (of_known_shape.problem.find("Negative dimension size") == std::string::npos || !itself.problem.empty()) return false;
  for (const tensor_value& r : itself.results)
    if (r.elements() > 0) return false;
  return true;
}
std::string text_of(const outcome& o) {
  if (!o.problem.empty()) return "error: " + o.problem.substr(0, o.problem.find('\n'));
  std::string text;
  for (const tensor_value& v : o.results) text += text_of(v) + "; ";
  return text;
}

/// A graph of the operator with a random node, and its sessions.
class company {
 public:
  explicit company(graph_def def) : has_neighbors_(def.nodes.back().name.starts_with("after")) {
    for (const node_def& n : def.nodes)
      if (n.op == "VariableV2") variables_.push_back(n.name);
      else if (n.op == "Placeholder") placeholders_.push_back(n.name);
    tensor_value sizes(dtype::int32, sized({1}));
    sizes.values<std::int32_t>()[0] = 3;
    def.nodes.push_back(leaf("sizes", sizes, inputs_as::constants));
    def.nodes.push_back({.name = "random", .op = "RandomStandardNormal", .inputs = {"sizes"}});
    attribute_map& attributes = def.nodes.back().attributes;
    attributes["T"] = dtype::int32, attributes["dtype"] = dtype::float32, attributes["seed"] = 7, attributes["seed2"] = 5;
    import_again(graph_, def);
    if (has_neighbors_) {
      for (const node_def& n : def.nodes)
        if (n.name.starts_with("after")) fetches_.push_back(get_tensor_by_name(graph_, n.name + ":0"));
    } else {
      const graph_operation y = get_operation_by_name(graph_, "y");
      // a reference to a variable is told by the variable's value afterwards
      const std::vector<output> results = y.outputs();
      if (results.empty() || is_reference_result(*graph_.at(y.index()).op, 0)) fetches_.push_back(y);
      else fetches_.assign(results.begin(), results.end());
    }
  }

  outcome run(const std::vector<tensor_value>& values, bool fuse, bool beside) {
    try {
      std::unique_ptr<graph_session>& s = sessions_[fuse ? 1 : 0];
      if (s == nullptr) s = std::make_unique<graph_session>(graph_, session_options{.fuse = fuse});
      for (const std::string& name : variables_) s->assign(get_tensor_by_name(graph_, name + ":0"), values[number_in(name)]);
      std::map<std::string, tensor_value> feeds;
      for (const std::string& name : placeholders_)
        if (name == "one") feeds.emplace("one:0", one_of(get_tensor_by_name(graph_, "one:0").type()));
        else feeds.emplace(name + ":0", values[number_in(name)]);
      std::vector<graph_element> fetches = fetches_;
      if (beside) fetches.emplace_back(get_tensor_by_name(graph_, "random:0"));
      outcome made;
      auto got = s->run(fetches, feeds);
      if (beside) got.pop_back();
      for (auto& v : got)
        if (v) made.results.push_back(v);
      for (const std::string& name : variables_) made.results.push_back(s->value(get_tensor_by_name(graph_, name + ":0")));
      return made;
    } catch (const std::exception& e) {
      return {e.what(), {}};
    }
  }

 private:
  static std::size_t number_in(const std::string& name) { return static_cast<std::size_t>(std::stoi(name.substr(2))); }
  static tensor_value one_of(dtype type) {
    tensor_value one(type, shape{});
    with_dtype(type, [&]<class T>(T) { one.values<T>()[0] = T(1); });
    return one;
  }

  graph graph_;
  bool has_neighbors_;
  std::vector<std::string> variables_, placeholders_;
  std::vector<graph_element> fetches_;
  std::unique_ptr<graph_session> sessions_[2];
};

std::string text_of(const sample& s, dtype tried) {
  std::string text = s.type + "<" + std::string(name_of_dtype(tried)) + ">(";
  for (const argument& a : s.inputs) text += (text.back() == '(' ? "" : ", ") + brackets(a.extent);
  text += ")";
  for (const auto& a : s.attributes) {
    text += " " + a.name;
    if (const auto* flag = a.value.get_if<bool>()) text += *flag ? "=true" : "=false";
    if (const auto* n = a.value.get_if<std::int64_t>()) text += "=" + std::to_string(*n);
    if (const auto* t = a.value.get_if<std::string>()) text += "=" + *t;
    if (const auto* d = a.value.get_if<data_type>()) text += "=" + std::string(name_of_data_type(*d));
  }
  return text;
}

/// All but the shapes.
std::string form_of_call(const sample& s) {
  graph_def def;
  def.nodes.push_back({.name = "y", .op = s.type, .attributes = s.attributes});
  std::string text = io::write_binary(def);
  for (const argument& a : s.inputs) {
    text += " " + std::to_string(static_cast<int>(a.what)) + std::to_string(static_cast<int>(a.type));
    for (const double x : a.fixed) text += "," + std::to_string(x);
  }
  return text;
}
/// The sample with other shapes for the operands that have the first one's, of every rank and without elements.
std::vector<sample> with_other_shapes(const sample& s) {
  const argument* first = nullptr;
  for (const argument& a : s.inputs)
    if (first == nullptr && a.what != argument::role::number && a.fixed.empty()) first = &a;
  std::vector<sample> made;
  if (first == nullptr) return made;
  for (const shape& extent : {sized({}), sized({4}), sized({2, 3}), sized({2, 1, 3}), sized({2, 3, 1, 2}), sized({1, 2, 1, 3, 2}),
                              sized({0}), sized({2, 0}), sized({0, 1, 3})}) {
    if (extent == first->extent) continue;
    sample other = s;
    for (argument& a : other.inputs)
      if (a.what != argument::role::number && a.fixed.empty() && a.extent == first->extent) a.extent = extent;
    made.push_back(std::move(other));
  }
  return made;
}

int disagreements = 0, comparisons = 0;

void check(const sample& s, dtype tried, std::string_view way, const outcome& is, const outcome& wanted) {
  ++comparisons;
  if (is_same(is, wanted)) return;
  ++disagreements;
  std::printf("%s, %s:\n  %s\n  by itself: %s\n", text_of(s, tried).c_str(), std::string(way).c_str(), text_of(is).c_str(),
              text_of(wanted).c_str());
}

/// The samples differ in shapes alone.
void try_all(const std::vector<sample>& samples, dtype tried) {
  std::unique_ptr<company> any_shape, among;  // whose graph knows no shapes
  for (const sample& s : samples) {
    graph_def known;
    bool writes = false;
    for (const argument& a : s.inputs) writes = writes || a.what == argument::role::variable;
    std::unique_ptr<company> with_shapes;
    std::string refused;
    try {
      known = graph_of(s, values_of(s, tried, flavor::ordinary), tried, inputs_as::fed);
    } catch (const std::exception&) {
      return;  // another dtype than the operator takes
    }
    graph_def unknown = known;
    for (node_def& n : unknown.nodes)
      if (n.op == "Placeholder") n.attributes["shape"] = to_proto(shape::unknown());
    try {
      with_shapes = std::make_unique<company>(known);
    } catch (const std::exception& e) {
      refused = e.what();
    }
    if (writes) any_shape = nullptr;
    try {
      if (any_shape == nullptr) any_shape = std::make_unique<company>(unknown);
    } catch (const std::exception&) {
      return;
    }
    for (const flavor how : {flavor::ordinary, flavor::zeros, flavor::nonfinite, flavor::extreme}) {
      if (how == flavor::nonfinite && !is_floating(tried)) continue;
      if (tried == dtype::boolean && how == flavor::extreme) continue;
      const std::vector<tensor_value> values = values_of(s, tried, how);
      const outcome itself = any_shape->run(values, false, false);
      if (is_unsupported(itself.problem)) break;
      check(s, tried, "as a program", any_shape->run(values, true, false), itself);
      check(s, tried, "beside a random node", any_shape->run(values, true, true), itself);
      const outcome seen = with_shapes != nullptr ? with_shapes->run(values, true, false) : outcome{refused, {}};
      if (!finds_no_window(seen, itself)) check(s, tried, "of known shape", seen, itself);
      if (writes || !itself.problem.empty() || itself.results.empty()) continue;
      bool all_tried = true;
      for (const tensor_value& r : itself.results) all_tried = all_tried && r.type() == tried;
      if (!all_tried) continue;
      if (among == nullptr) among = std::make_unique<company>(with_neighbors(unknown, s, tried, static_cast<int>(itself.results.size())));
      check(s, tried, "with neighbors", among->run(values, true, false), itself);
      check(s, tried, "with neighbors, beside a random node", among->run(values, true, true), itself);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string only = count > 2 ? arguments[2] : "";
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<std::string> missing;
  std::map<std::string, std::vector<sample>> by_form;
  std::set<std::string> types;
  for (const sample& s : all_samples(missing)) {
    if (!only.empty() && s.type != only) continue;
    types.insert(s.type);
    std::vector<sample>& its = by_form[form_of_call(s)];
    if (its.empty()) {
      its.push_back(s);
      for (sample& other : with_other_shapes(s)) its.push_back(std::move(other));
    } else {
      its.push_back(s);
    }
  }
  for (const std::string& type : missing) {
    std::printf("%s is known and has no sample in tests/conformance/samples.cpp\n", type.c_str());
    ++disagreements;
  }
  for (const auto& [form, samples] : by_form)
    for (const dtype tried : every_dtype) try_all(samples, tried);
  std::printf("%zu operators, %d comparisons, %d disagreements\n", types.size(), comparisons, disagreements);
  return disagreements == 0 ? 0 : 1;
}
