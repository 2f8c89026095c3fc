// Every operator that is known, along every path there is for it: `conformance REPOSITORY` runs the samples of samples.cpp and those
// of all element functions, compares the paths with each other and gradients with differences, and says what disagrees; then
// it compares docs/paths.md, the table of which operators have which paths, with what it found, or writes it with `--write`.
// An operator that is known and has no sample is an error. `conformance --only TYPE` shows one operator's disagreements.

#include <leat/session/graph_session.hpp>

#include "calls.hpp"
#include "../support/passes.hpp"

#include <leat/cpu/interpret.hpp>
#include <leat/named/gradients/class_gradient.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/passes/lower.hpp>
#include <leat/proto/freeze.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

using namespace leat;
using namespace conformance;

namespace {

using conformance::text_of;

/// Whether two results are one: the same bytes, or apart by rounding. A NaN is any NaN, and what is below the normal numbers is 0.
bool agree(const tensor_value& a, const tensor_value& b, double scale = 0) {
  if (!a || !b) return !a && !b;
  if (a.type() != b.type() || !(a.extent() == b.extent())) return false;
  return with_dtype(a.type(), [&]<class T>(T) {
    const auto x = a.values<T>(), y = b.values<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::memcmp(&x[i], &y[i], sizeof(T)) == 0) continue;
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x[i]) && std::isnan(y[i])) continue;
        if (x[i] == y[i]) continue;
        const double most = std::max(std::abs(static_cast<double>(x[i])), std::abs(static_cast<double>(y[i])));
        const double unit = sizeof(T) == 4 ? 1e-6 : 1e-14;
        const double apart = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
        if (apart <= 16 * unit * std::max(most, scale) + 2 * static_cast<double>(std::numeric_limits<T>::min())) continue;
      }
      return false;
    }
    return true;
  });
}

// ---- paths ----------------------------------------------------------------------------------------------------------

struct outcome {
  bool there = true;    // whether the operator has this path
  std::string problem;  // an error's words
  std::vector<tensor_value> results;
};
template <class F>
outcome attempt(F f) {
  try {
    return f();
  } catch (const std::exception& e) {
    return {true, e.what(), {}};
  }
}
std::string text_of(const outcome& o) {
  if (!o.there) return "no such path";
  if (!o.problem.empty()) return "error: " + o.problem.substr(0, o.problem.find('\n'));
  std::string text;
  for (const auto& v : o.results) text += text_of(v) + "; ";
  return text;
}

struct call {
  const sample& s;
  dtype tried;
  std::vector<tensor_value> values;
};

std::vector<output> results_of(graph& g, const std::string& name) {
  const graph_operation op = get_operation_by_name(g, name);
  std::vector<output> all = op.outputs();
  // a reference to a variable is told by the variable's value afterwards
  if (!all.empty() && is_reference_result(*g.at(op.index()).op, 0)) all.clear();
  return all;
}

/// In a session of graphs with names: fused where that can be, or node by node.
outcome in_session(const call& c, const graph_def& def, bool fuse, bool* fused = nullptr) {
  return attempt([&] {
    graph g;
    import_again(g, def);
    graph_session s(g, {.fuse = fuse});
    std::vector<output> variables;
    std::map<std::string, tensor_value> feeds;
    for (const node_def& n : def.nodes) {
      if (n.op == "Placeholder" && n.name == "one") {
        tensor_value one(c.tried, shape{});
        with_dtype(c.tried, [&]<class T>(T) { one.values<T>()[0] = T(1); });
        feeds.emplace("one:0", one);
      }
      if (!n.name.starts_with("in")) continue;
      const auto k = static_cast<std::size_t>(std::stoi(n.name.substr(2)));
      if (n.op == "Placeholder") feeds.emplace(n.name + ":0", c.values[k]);
      if (n.op != "VariableV2") continue;
      variables.push_back(get_tensor_by_name(g, n.name + ":0"));
      s.assign(variables.back(), c.values[k]);
    }
    std::vector<graph_element> fetches;
    const bool neighbors = def.nodes.back().name.starts_with("after");
    if (neighbors) {
      for (const node_def& n : def.nodes)
        if (n.name.starts_with("after")) fetches.push_back(get_tensor_by_name(g, n.name + ":0"));
    } else {
      const auto results = results_of(g, "y");
      fetches.assign(results.begin(), results.end());
      if (results.empty()) fetches.push_back(get_operation_by_name(g, "y"));
    }
    outcome made{true, {}, {}};
    for (auto& v : s.run(fetches, feeds))
      if (v) made.results.push_back(v);
    if (fused != nullptr) *fused = s.fused_runs() > 0;
    for (const output& v : variables) made.results.push_back(s.value(v));
    return made;
  });
}

/// A plain table that is run by the interpreter, with leaves in the order in which they are added.
class plain_table {
 public:
  graph table;
  int leaf(const tensor_value& v) {
    held_.push_back(v);
    return table.add_leaf(info_of<placeholder_op>, {v.type(), v.extent()}, table.keep("in", std::to_string(held_.size())), held_.size());
  }
  std::vector<tensor_value> run(const std::vector<int>& targets) {
    const cpu::interpreter code(leat_test::at_run_time::compile(table, targets));
    cpu::bound_program bound(code);
    const program_view view = code.view();
    std::byte nothing[64]{};
    const auto place = [&](tensor_value& v) { return v.elements() > 0 ? v.data() : nothing; };
    for (int b = 0; b < view.buffers(); ++b)
      if (view.buffer_at(b).where == storage::feed) bound.bind(b, place(held_[static_cast<std::size_t>(view.buffer_at(b).id) - 1]));
    std::vector<tensor_value> made;
    made.reserve(targets.size());
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const tensor_info& info = table.at(targets[k]).result;
      made.emplace_back(info.type, info.extent);
      bound.bind(view.fetch(static_cast<int>(k)), place(made.back()));
    }
    bound.run();
    return made;
  }

 private:
  std::vector<tensor_value> held_;
};

/// The row of the operator's definition, with its operands as leaves: nothing where the definition cannot say this call.
std::optional<int> defined_row(plain_table& t, const call& c, std::vector<int>& operands) {
  const op_info* op = class_of(c.s.type);
  if (op == nullptr || op->kind == op_kind::assign) return std::nullopt;
  std::vector<tensor_info> infos;
  std::vector<tensor_proto> protos;
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (c.s.inputs[k].what == argument::role::number) protos.push_back(c.values[k].proto());
    else infos.push_back({c.values[k].type(), c.values[k].extent()});
  number_values numbers_of;
  for (const auto& p : protos) numbers_of.push_back(&p);
  attribute_map attributes = c.s.attributes;
  if (c.s.type == "OneHot") attributes["T"] = c.tried;
  const auto numbers = numbers_from(form_of(*op, static_cast<int>(infos.size())), attributes, numbers_of, infos);
  if (!numbers) return std::nullopt;
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (c.s.inputs[k].what != argument::role::number) operands.push_back(t.leaf(c.values[k]));
  return add_definition(t.table, *op, operands, *numbers);
}

/// The place among a definition's operands of an input that is a tensor: files may have numbers before it.
std::size_t operand_of(const call& c, std::size_t input) {
  const auto first = c.s.inputs.begin();
  return static_cast<std::size_t>(std::count_if(first, first + static_cast<std::ptrdiff_t>(input),
                                                [](const argument& a) { return a.what != argument::role::number; }));
}

/// The operator's definition as typed expressions use it: one row of a plain table, compiled.
outcome defined(const call& c) {
  return attempt([&] {
    plain_table t;
    std::vector<int> operands;
    const auto row = defined_row(t, c, operands);
    if (!row) return outcome{false, {}, {}};
    return outcome{true, {}, t.run({*row})};
  });
}
/// The gradient of the definition, which typed expressions have, for its operands; nothing where there is none.
std::vector<std::optional<tensor_value>> defined_gradients(const call& c, const tensor_value& seed) {
  plain_table t;
  std::vector<int> operands;
  const auto row = defined_row(t, c, operands);
  if (!row) return {};
  const output y(t.table, *row), dy(t.table, t.leaf(seed));
  const int loss = reduce_sum(y * dy).index();
  const auto slopes = passes::gradients(t.table, loss, operands);
  std::vector<std::optional<tensor_value>> made;
  for (int slope : slopes) made.push_back(slope < 0 ? std::optional<tensor_value>() : t.run({slope})[0]);
  return made;
}

// ---- what is found --------------------------------------------------------------------------------------------------

struct paths_of {
  bool definition = false, fused = false, alone = false, kernel = false, frozen = false;
  bool gradient = false, typed_gradient = false;
  std::set<dtype> types;
};
std::map<std::string, paths_of> found;
int disagreements = 0, comparisons = 0;
bool verbose = false;

std::string text_of(const call& c) {
  std::string text = c.s.type + "<" + std::string(name_of_dtype(c.tried)) + ">(";
  for (std::size_t k = 0; k < c.values.size(); ++k) text += (k > 0 ? ", " : "") + brackets(c.values[k].extent());
  text += ")";
  for (const auto& a : c.s.attributes) {
    text += " " + a.name;
    if (const auto* flag = a.value.get_if<bool>()) text += *flag ? "=true" : "=false";
    if (const auto* n = a.value.get_if<std::int64_t>()) text += "=" + std::to_string(*n);
    if (const auto* t = a.value.get_if<std::string>()) text += "=" + *t;
    if (const auto* d = a.value.get_if<data_type>()) text += "=" + std::string(name_of_data_type(*d));
  }
  return text;
}
void disagree(const call& c, std::string_view path, const outcome& is, const outcome& wanted) {
  ++disagreements;
  std::printf("%s, %s:\n  %s\n  node by node: %s\n", text_of(c).c_str(), std::string(path).c_str(), text_of(is).c_str(),
              text_of(wanted).c_str());
  if (verbose)
    for (const auto& v : c.values) std::printf("    of %s\n", text_of(v).c_str());
}
void compare(const call& c, std::string_view path, const outcome& is, const outcome& wanted, double scale) {
  if (!is.there) return;
  ++comparisons;
  bool same = is.problem.empty() == wanted.problem.empty();
  if (same && is.problem.empty()) {
    // a path that has the first result alone
    for (std::size_t k = 0; k < std::min(is.results.size(), wanted.results.size()) && same; ++k)
      same = agree(is.results[k], wanted.results[k], scale);
    same = same && !(is.results.empty() && !wanted.results.empty());
  }
  if (!same) disagree(c, path, is, wanted);
}

// Of sums: how large the summands are, since their order may differ.
double scale_of(const call& c) {
  if (!c.s.sums) return 0;
  double most = 0;
  for (const auto& v : c.values)
    if (is_floating(v.type()))
      with_fraction(v.type(), [&]<class T>(T) {
        for (T x : v.values<T>())
          if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
      });
  return most;
}

void try_values(const sample& s, dtype tried, flavor how) {
  const call c{s, tried, values_of(s, tried, how)};
  graph_def fed;
  try {
    fed = graph_of(s, c.values, tried, inputs_as::fed);
  } catch (const std::exception&) {
    return;  // another dtype than the operator takes
  }
  paths_of& p = found[s.type];
  const outcome alone = in_session(c, fed, false);
  if (is_unsupported(alone.problem)) {
    // then on every path
    bool fused = false;
    const outcome other = in_session(c, fed, true, &fused);
    if (other.problem.empty()) disagree(c, "fused, though refused", other, alone);
    return;
  }
  const double scale = scale_of(c);
  p.alone = true;
  if (alone.problem.empty()) {
    bool own = false;
    for (const auto& a : s.inputs) own = own || a.type == dtype::invalid;
    if (own) p.types.insert(tried);
  }
  bool fused = false;
  const outcome whole = in_session(c, fed, true, &fused);
  p.fused = p.fused || fused;
  compare(c, "fused", whole, alone, scale);
  const outcome its = defined(c);
  p.definition = p.definition || (its.there && its.problem.empty());
  compare(c, "definition", its, alone, scale);
  bool has_tensor = false;
  for (const auto& a : s.inputs) has_tensor = has_tensor || a.what == argument::role::tensor;
  if (has_tensor) {
    const outcome folded = in_session(c, graph_of(s, c.values, tried, inputs_as::constants), true);
    compare(c, "constants", folded, alone, scale);
    bool writes = false;
    for (const auto& a : s.inputs) writes = writes || a.what == argument::role::variable;
    if (!writes) {
      const outcome frozen = attempt([&] {
        variable_values known;
        for (std::size_t k = 0; k < c.values.size(); ++k)
          if (s.inputs[k].what == argument::role::tensor) known.emplace(input_name(k), c.values[k].proto());
        return in_session(c, freeze(graph_of(s, c.values, tried, inputs_as::variables), known), true);
      });
      p.frozen = p.frozen || frozen.problem.empty();
      compare(c, "frozen", frozen, alone, scale);
      if (alone.problem.empty() && !alone.results.empty()) {
        bool all_tried = true;
        for (const auto& r : alone.results) all_tried = all_tried && r.type() == tried;
        const graph_def chained = with_neighbors(fed, s, tried, all_tried ? static_cast<int>(alone.results.size()) : 0);
        if (all_tried) compare(c, "fused with neighbors", in_session(c, chained, true), in_session(c, chained, false), scale);
      }
    }
  }
}

// ---- gradients ------------------------------------------------------------------------------------------------------

/// Operands for slopes: apart from each other and from where functions have corners.
tensor_value smooth_values(const shape& extent, int region, std::size_t input) {
  tensor_value v(dtype::float64, extent);
  auto all = v.values<double>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double step = std::fmod(0.37 + 0.6180339887 * static_cast<double>(i) + 0.2718281 * static_cast<double>(input), 1.0);
    all[i] = region == 0   ? 0.12 + 0.8 * step
             : region == 1 ? (step < 0.5 ? -0.9 + 1.5 * step : 0.15 + 0.8 * (step - 0.5))
                           : 1.2 + 5.5 * step;
  }
  return v;
}

void try_gradient(const sample& s, int region) {
  bool writes = false;
  for (const auto& a : s.inputs) writes = writes || a.what == argument::role::variable;
  if (writes) return;
  call c{s, dtype::float64, values_of(s, dtype::float64, flavor::ordinary)};
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (s.inputs[k].what == argument::role::tensor && is_floating(c.values[k].type()) && s.inputs[k].fixed.empty())
      c.values[k] = smooth_values(s.inputs[k].extent, region, k);
  graph_def def;
  try {
    def = graph_of(s, c.values, dtype::float64, inputs_as::fed);
  } catch (const std::exception&) {
    return;
  }
  const outcome whole = in_session(c, def, false);
  if (!whole.problem.empty() || whole.results.empty() || whole.results[0].type() != dtype::float64) return;
  graph g;
  const auto scope = g.as_default();
  import_again(g, def);
  std::vector<output> xs;
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (s.inputs[k].what == argument::role::tensor && is_floating(c.values[k].type())) {
      xs.push_back(get_tensor_by_name(g, input_name(k) + ":0"));
      which.push_back(k);
    }
  if (xs.empty()) return;
  const output y = get_operation_by_name(g, "y").result();
  const tensor_value seed = smooth_values(whole.results[0].extent(), 0, 7);
  std::vector<output> slopes;
  try {
    const output dy = constant(tensor_literal(whole.results[0].extent(), seed.as<std::vector<double>>()), "dy");
    slopes = gradients({y}, xs, {.grad_ys = {dy}});
  } catch (const unimplemented&) {
    return;  // refused, in words
  } catch (const not_found&) {
    return;
  } catch (const std::exception& e) {
    if (s.sharp) return;
    ++disagreements;
    std::printf("%s, gradient: %s\n", text_of(c).c_str(), e.what());
    return;
  }
  if (s.sharp) {  // there is one, which differences do not give
    for (const output& slope : slopes) found[s.type].gradient = found[s.type].gradient || static_cast<bool>(slope);
    return;
  }
  std::map<std::string, tensor_value> feeds;
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (s.inputs[k].what == argument::role::tensor) feeds.emplace(input_name(k) + ":0", c.values[k]);
  const auto loss = [&](std::size_t k, std::size_t i, double h) {
    call moved{s, dtype::float64, c.values};
    moved.values[k] = c.values[k].copy();
    moved.values[k].values<double>()[i] += h;
    const outcome o = in_session(moved, def, false);
    double sum = 0;
    const auto v = o.results[0].values<double>();
    for (std::size_t j = 0; j < v.size(); ++j) sum += v[j] * seed.values<double>()[j];
    return sum;
  };
  std::vector<std::optional<tensor_value>> typed;
  try {
    std::vector<std::optional<tensor_value>> all = defined_gradients(c, seed);
    for (std::size_t k : which)
      if (operand_of(c, k) < all.size()) typed.push_back(std::move(all[operand_of(c, k)]));
  } catch (const std::exception& e) {
    ++disagreements;
    std::printf("%s, gradient of the definition: %s\n", text_of(c).c_str(), e.what());
  }
  for (std::size_t n = 0; n < xs.size(); ++n) {
    if (!static_cast<bool>(slopes[n])) continue;
    found[s.type].gradient = true;
    ++comparisons;
    outcome paths[2];
    for (const bool fuse : {false, true})
      paths[fuse ? 1 : 0] = attempt([&] {
        graph_session session(g, {.fuse = fuse});
        return outcome{true, {}, {session.run(std::vector<output>{slopes[n]}, feeds)[0]}};
      });
    tensor_value wanted = c.values[which[n]].copy();
    auto all = wanted.values<double>();
    bool finite = true;
    for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 9); ++i) {
      const double h = 1e-5;
      all[i] = (loss(which[n], i, h) - loss(which[n], i, -h)) / (2 * h);
      finite = finite && std::isfinite(all[i]);
    }
    if (!finite) continue;
    std::vector<outcome> all_paths{paths[0], paths[1]};
    const char* names[]{"", ", fused", ", of the definition"};
    if (n < typed.size() && typed[n]) {
      all_paths.push_back({true, {}, {*typed[n]}});
      found[s.type].typed_gradient = true;
    }
    for (std::size_t p = 0; p < all_paths.size(); ++p) {
      const outcome& o = all_paths[p];
      bool same = o.problem.empty() && o.results[0].extent() == wanted.extent();
      if (same) {
        const auto is = o.results[0].values<double>();
        for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 9); ++i)
          same = same && std::abs(is[i] - all[i]) <= 1e-5 * std::max(1.0, std::abs(all[i]));
      }
      if (!same) {
        ++disagreements;
        std::printf("%s, gradient of input %zu in region %d%s:\n  %s\n  differences: %s\n", text_of(c).c_str(), which[n], region, names[p],
                    text_of(o).c_str(), text_of(wanted).c_str());
      }
    }
  }
}

// ---- two texts of one gradient ----------------------------------------------------------------------------------------

/// Operators whose gradient in graphs with names is a function of its own, beside that of the class: TensorFlow's nodes there depend on what
/// is known of shapes, or on more results than a row has.
struct two_texts {
  std::string_view type, reason;
};
constexpr two_texts with_two_texts[]{
    {"BroadcastTo", "axes computed in the run"},
    {"ConcatV2", "ShapeN, ConcatOffset and slices at offsets computed in the run"},
    {"GatherV2", "the gradient is sparse"},
    {"Max", "the shape with kept axes is computed in the run"},
    {"Mean", "the number of elements is computed in the run"},
    {"Min", "as Max"},
    {"Pad", "slices at offsets computed in the run"},
    {"SelectV2", "axes computed in the run"},
    {"Slice", "paddings computed in the run"},
    {"SoftmaxCrossEntropyWithLogits", "a second result, whose gradient TensorFlow passes to the logits alone: so second derivatives differ"},
    {"SparseSoftmaxCrossEntropyWithLogits", "as the dense one"},
    {"Sum", "the shape with kept axes is computed in the run"},
    {"Transpose", "an order that is known in the run alone"},
    {"UnsortedSegmentSum", "ids that are negative"},
};
/// Whether graphs with names have a function for the gradient of an operator whose class has one, too.
bool has_two_texts(const std::string& type) {
  const op_info* const op = class_of(type);
  return op != nullptr && op->has_gradient && static_cast<bool>(detail::find_gradient(type)) &&
         !detail::is_class_gradient(type);
}
bool may_have_two_texts(std::string_view type) {
  return std::ranges::any_of(with_two_texts, [&](const two_texts& t) { return t.type == current_spelling(type); });
}

/// First and second derivatives of a sample's first result by both texts: for each floating-point operand, of the sum of the result times
/// numbers, then of the sum of those times numbers. Empty where there is none.
using derivatives = std::vector<std::optional<tensor_value>>;
tensor_literal literal_of(const tensor_value& v) {
  if (v.type() == dtype::float32) return tensor_literal(v.extent(), v.as<std::vector<float>>());
  return tensor_literal(v.extent(), v.as<std::vector<double>>());
}
derivatives named_derivatives(const call& c, const graph_def& def, const tensor_value& seed, const std::vector<std::size_t>& which) {
  graph g;
  const auto scope = g.as_default();
  import_again(g, def);
  std::vector<output> xs;
  for (const std::size_t k : which) xs.push_back(get_tensor_by_name(g, input_name(k) + ":0"));
  const output dy = constant(literal_of(seed), "dy");
  std::vector<output> slopes = gradients({get_operation_by_name(g, "y").result()}, xs, {.grad_ys = {dy}});
  std::vector<output> some, seeds;
  for (std::size_t k = 0; k < xs.size(); ++k)
    if (static_cast<bool>(slopes[k])) {
      some.push_back(slopes[k]);
      seeds.push_back(constant(literal_of(made_values(c.tried, c.values[which[k]].extent(), flavor::ordinary, 5 + k)), "seed"));
    }
  if (!some.empty()) {
    const auto further = gradients(some, xs, {.grad_ys = seeds});
    slopes.insert(slopes.end(), further.begin(), further.end());
  }
  std::map<std::string, tensor_value> feeds;
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (c.s.inputs[k].what == argument::role::tensor) feeds.emplace(input_name(k) + ":0", c.values[k]);
  graph_session session(g, {.fuse = false});
  derivatives made;
  for (const output& slope : slopes)
    made.push_back(static_cast<bool>(slope) ? std::optional(session.run(std::vector<output>{slope}, feeds)[0]) : std::nullopt);
  return made;
}
derivatives class_derivatives(const call& c, const tensor_value& seed, const std::vector<std::size_t>& which) {
  plain_table t;
  std::vector<int> operands;
  const auto row = defined_row(t, c, operands);
  if (!row) return {};
  std::vector<int> xs;
  for (const std::size_t k : which)
    if (operand_of(c, k) < operands.size()) xs.push_back(operands[operand_of(c, k)]);
  const output y(t.table, *row), dy(t.table, t.leaf(seed));
  const auto slopes = passes::gradients(t.table, reduce_sum(y * dy).index(), xs);
  std::vector<int> rows(slopes.begin(), slopes.end());
  output loss;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] < 0) continue;
    const output its_seed(t.table, t.leaf(made_values(c.tried, c.values[which[k]].extent(), flavor::ordinary, 5 + k)));
    const output part = reduce_sum(output(t.table, rows[k]) * its_seed);
    loss = static_cast<bool>(loss) ? loss + part : part;
  }
  if (static_cast<bool>(loss))
    for (const int further : passes::gradients(t.table, loss.index(), xs)) rows.push_back(further);
  derivatives made;
  for (const int r : rows) made.push_back(r < 0 ? std::optional<tensor_value>() : t.run({r})[0]);
  return made;
}
bool is_all(const tensor_value& v, double value) {
  return with_dtype(v.type(), [&]<class T>(T) { return std::ranges::all_of(v.values<T>(), [&](T x) { return x == static_cast<T>(value); }); });
}

/// Compares the text of graphs with names and that of the class, value by value, NaN included.
void compare_texts(const sample& s, dtype tried, flavor how) {
  for (const auto& a : s.inputs)
    if (a.what == argument::role::variable) return;
  const op_info* const op = class_of(s.type);
  if (op == nullptr || !op->has_gradient || !static_cast<bool>(detail::find_gradient(s.type))) return;
  const call c{s, tried, values_of(s, tried, how)};
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < c.values.size(); ++k)
    if (s.inputs[k].what == argument::role::tensor && c.values[k].type() == tried) which.push_back(k);
  derivatives named, of_class;
  try {
    const graph_def def = graph_of(s, c.values, tried, inputs_as::fed);
    const outcome whole = in_session(c, def, false);
    if (which.empty() || !whole.problem.empty() || whole.results.empty() || whole.results[0].type() != tried) return;
    const tensor_value seed = made_values(tried, whole.results[0].extent(), flavor::ordinary, 7);
    named = named_derivatives(c, def, seed, which);
    of_class = class_derivatives(c, seed, which);
  } catch (const std::exception& e) {
    if (verbose) std::printf("%s, derivatives: %s\n", text_of(c).c_str(), e.what());
    return;
  }
  for (std::size_t k = 0; k < std::min(named.size(), of_class.size()); ++k) {
    if (!named[k] && !of_class[k]) continue;
    if (k >= which.size() && s.type == "SoftmaxCrossEntropyWithLogits") continue;
    ++comparisons;
    // None and zeros are one.
    const bool same = named[k] && of_class[k] ? agree(*named[k], *of_class[k], 10 * std::max(1.0, scale_of(c)))
                                              : is_all(named[k] ? *named[k] : *of_class[k], 0);
    if (same) continue;
    ++disagreements;
    const auto shown = [](const std::optional<tensor_value>& v) { return v ? text_of(*v) : std::string("none"); };
    std::printf("%s, %s derivative for operand %zu:\n  of graphs: %s\n  of the class: %s\n", text_of(c).c_str(),
                k < which.size() ? "first" : "second", which[k % which.size()], shown(named[k]).c_str(), shown(of_class[k]).c_str());
    if (verbose)
      for (const auto& v : c.values) std::printf("    of %s\n", text_of(v).c_str());
  }
}

// ---- all of them ----------------------------------------------------------------------------------------------------

std::string table_text() {
  std::string text =
      "# Paths of operators\n\n"
      "Which ways there are to compute each operator, as the test `docs.paths` found them by running it: on every dtype, with empty, "
      "one-element\nand broadcast shapes, NaN, infinities and extremes. What several paths compute is the same, but for rounding where "
      "sums have another order.\nWritten by `conformance . --write`.\n\n"
      "- *definition*: one class says shape, elements and gradient; typed expressions are made of these, compiled or interpreted.\n"
      "- *fused*: a `graph_session` makes it part of a program, with its neighbors.\n"
      "- *node by node*: a `graph_session` runs it by itself: by its *definition*, or by a *kernel* of its own.\n"
      "- *frozen*: its inputs were variables, were frozen to constants, and the graph was read again from the bytes of a file.\n"
      "- *gradient*: the text of the *class*, which serves typed graphs and graphs with names; of *names* alone; or *two texts*, for the "
      "reasons below.\n  Each was compared with differences, and the two with each other, first and second order.\n"
      "- *dtypes*: of its operands, of those that may differ.\n\n"
      "| operator | definition | fused | node by node | frozen | gradient | dtypes |\n|---|---|---|---|---|---|---|\n";
  const auto yes = [](bool b) { return b ? "yes" : "-"; };
  for (const auto& [type, p] : found) {
    std::string types;
    for (dtype d : every_dtype)
      if (p.types.contains(d)) types += (types.empty() ? "" : ", ") + std::string(name_of_dtype(d));
    if (p.types.size() == 6) types = "all";
    if (types.empty()) types = "its own";
    const bool of_class = p.typed_gradient && (!p.gradient || !has_two_texts(type));
    const std::string gradient = of_class ? "class" : p.gradient && p.typed_gradient ? "two texts" : p.gradient ? "names" : "-";
    text += "| " + type + " | " + yes(p.definition) + " | " + yes(p.fused) + " | " +
            (!p.alone                       ? "-"
             : find_kernel(type) != nullptr ? "kernel"
                                            : "definition") +
            " | " + yes(p.frozen) + " | " + gradient + " | " + types + " |\n";
  }
  text += "\nOperators with two texts of their gradient:\n\n| operator | because of |\n|---|---|\n";
  for (const two_texts& t : with_two_texts) text += "| " + std::string(t.type) + " | " + std::string(t.reason) + " |\n";
  std::string exempt, known;
  for (const auto& type : all_types()) {
    if (is_exempt(type)) exempt += (exempt.empty() ? "" : ", ") + type;
    else if (!runs(type)) known += (known.empty() ? "" : ", ") + type;
  }
  text +=
      "\nNo functions of their inputs alone, or computed by one kernel with a test of its own, and run node by node where they are not variables "
      "or control flow that programs contain:\n" +
      exempt + ".\n";
  text += "\nKnown to graphs and files, with dtypes and shapes, and not run: " + (known.empty() ? "none" : known) + ".\n";
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  std::string repository = ".", only;
  bool write = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--write") write = true;
    else if (word == "--only" && i + 1 < count) only = arguments[++i], verbose = true;
    else repository = word;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<std::string> missing;
  const std::vector<sample> samples = all_samples(missing);
  for (const auto& type : missing) {
    std::printf("%s is known and has no sample in tests/conformance/samples.cpp\n", type.c_str());
    ++disagreements;
  }
  for (const auto& s : samples) {
    if (!only.empty() && s.type != only) continue;
    if (!runs(s.type)) {
      std::printf("%s has a sample and is not known\n", s.type.c_str());
      ++disagreements;
      continue;
    }
    for (dtype tried : every_dtype) {
      try_values(s, tried, flavor::ordinary);
      if (is_floating(tried)) try_values(s, tried, flavor::nonfinite);
      if (!s.sums || !is_floating(tried)) try_values(s, tried, flavor::extreme);
    }
    for (int region = 0; region < 3; ++region) try_gradient(s, region);
    for (const dtype tried : {dtype::float32, dtype::float64})
      for (const flavor how : {flavor::ordinary, flavor::nonfinite, flavor::zeros}) compare_texts(s, tried, how);
  }
  for (const auto& type : all_types())
    if (has_two_texts(type) && !may_have_two_texts(type)) {
      std::printf("%s has two texts of its gradient: let the class's serve graphs with names (class_gradient)\n", type.c_str());
      ++disagreements;
    }
  for (const two_texts& t : with_two_texts)
    if (only.empty() && !has_two_texts(std::string(t.type))) {
      std::printf("%s has one text of its gradient: it stands in the list of those with two\n", std::string(t.type).c_str());
      ++disagreements;
    }
  std::printf("%zu operators, %d comparisons, %d disagreements\n", found.size(), comparisons, disagreements);
  if (!only.empty()) return disagreements == 0 ? 0 : 1;
  const auto path = std::filesystem::path(repository) / "docs" / "paths.md";
  const std::string text = table_text();
  if (write) {
    std::ofstream(path) << text;
  } else {
    std::ifstream file(path);
    std::ostringstream is;
    is << file.rdbuf();
    if (is.str() != text) {
      std::printf("docs/paths.md is not what was found: run conformance . --write\n");
      return 1;
    }
  }
  return disagreements == 0 ? 0 : 1;
}
