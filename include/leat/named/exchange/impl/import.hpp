#pragma once
// Implementation of import.hpp: checks the whole graph, orders it, infers the shapes of loop variables by trial imports, and makes the
// nodes.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/infer.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/exchange/import_options.hpp>
#include <leat/named/exchange/restore_contexts.hpp>
#include <leat/named/graph/bind_arguments.hpp>
#include <leat/named/graph/convert.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/proto/narrow_attributes.hpp>
#include <leat/proto/operator_names.hpp>
#include <leat/proto/producer.hpp>

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_set>

namespace leat {

namespace detail {

// An input of a node in a file: "a", "a:1", "^a".
struct file_input {
  std::string_view node;
  int port = 0;
  bool control = false;
};

inline file_input parse_file_input(std::string_view text, const node_def& def) {
  file_input in;
  in.control = text.starts_with('^');
  if (in.control) text.remove_prefix(1);
  const auto colon = text.rfind(':');
  in.node = text.substr(0, colon);
  const std::string_view digits = colon == text.npos ? std::string_view("0") : text.substr(colon + 1);
  if (in.node.empty() || !all_digits(digits) || digits.size() > 5 || (in.control && colon != text.npos))
    throw invalid_argument("the node '" + def.name + "', input: '" + std::string(text) + "' is no name of a tensor");
  in.port = std::stoi(std::string(digits));
  if (in.port > 65535)
    throw invalid_argument("the node '" + def.name + "', input: '" + std::string(text) + "' is beyond the outputs a node can have");
  return in;
}

class importer {
 public:
  importer(graph& g, const graph_def& def, const import_options& options) : g_(g), nodes_(g.named()), def_(def), options_(options) {}

  std::vector<graph_element> run() {
    check();
    const std::vector<int> order = topological();
    if (!ways_back_.empty() && !is_trial_ && options_.input_map.empty()) settle_loops();
    if (nodes_.context != nullptr && options_.input_map.empty()) {
      graph scratch;  // nodes in branches and loops cannot be removed again, so that errors are found first
      scratch.named();
      const import_options plain{.name = "", .unknown_operators = options_.unknown_operators};
      importer trial(scratch, def_, plain);
      trial.is_trial_ = true;
      trial.run();
    }
    // Restores the graph if the import fails.
    struct unless_done {
      graph& g;
      named_part& nodes;
      named_nodes::growth before;
      version_def versions;
      bool done = false;
      ~unless_done() {
        if (done || nodes.context != nullptr) return;
        nodes.return_to(g, std::move(before));
        nodes.versions = std::move(versions);
      }
    } taken_back{g_, nodes_, nodes_.reached(g_), nodes_.versions};
    merge_versions();
    prefix_ = options_.name.empty() ? std::string{} : nodes_.names.open_scope(options_.name);
    choose_names();
    place_.assign(def_.nodes.size(), -1);
    const std::string outer = nodes_.names.scope();
    nodes_.names.set_scope({});
    const struct back {
      name_table& names;
      const std::string& to;
      ~back() { names.set_scope(to); }
    } restore{nodes_.names, outer};
    const int first = g_.size();
    for (int i : order) place_[static_cast<std::size_t>(i)] = enter(static_cast<std::size_t>(i));
    for (std::size_t i = 0; i < def_.nodes.size(); ++i) nodes_.record(place_[i]).order = first + static_cast<int>(i);
    for (const auto& [node, k, to] : ways_back_) {
      const output from(g_, place_[static_cast<std::size_t>(to)],
                        inputs_[static_cast<std::size_t>(node)][static_cast<std::size_t>(k)].port);
      check_way_back(node, k, from);
      nodes_.set_input(g_, place_[static_cast<std::size_t>(node)], k, from.index());
    }
    std::vector<graph_element> elements = returned();
    taken_back.done = true;
    if (!is_trial_ && nodes_.context == nullptr) {
      std::vector<int> made;
      for (int i : order) made.push_back(place_[static_cast<std::size_t>(i)]);
      context_finder(g_, std::move(made)).run();
    }
    return elements;
  }

 private:
  // Infers the shapes of loop variables. A loop's `Merge` comes before its back edge, so that its shape is first taken from the value that
  // enters the loop; if an iteration returns another shape, from the dimensions in which both agree. The trials use a scratch graph.
  void settle_loops() {
    std::map<int, shape> shapes;
    for (const auto& way : ways_back_) shapes.emplace(way.node, shape{});
    bool first = true;
    for (int round = 0; round < 4; ++round) {
      graph scratch;
      scratch.named();
      const import_options plain{.name = ""};
      importer trial(scratch, def_, plain);
      trial.is_trial_ = true;
      trial.as_entered_ = first;
      if (!first) trial.merge_shapes_ = shapes;
      try {
        trial.run();
      } catch (const error&) {
        return;  // the import itself reports the error, or infers less of the shapes
      }
      bool settled = true;
      for (const auto& [node, k, to] : ways_back_) {
        const shape in = scratch.at(trial.place_[static_cast<std::size_t>(node)]).result.extent;
        shape both = in;
        const shape back = scratch.at(trial.place_[static_cast<std::size_t>(to)]).result.extent;
        if (both.has_rank()) {
          if (!back.has_rank() || back.rank != both.rank) both = shape::unknown();
          for (int i = 0; i < both.rank; ++i)
            if (both[i] != back[i]) both.dim[i] = unknown_dimension;
        }
        settled = settled && both == in;
        shapes[node] = first ? both : common(shapes[node], both);
      }
      first = false;
      if (settled) {
        merge_shapes_ = std::move(shapes);
        return;
      }
    }
  }
  static shape common(shape a, const shape& b) {
    if (!a.has_rank() || !b.has_rank() || a.rank != b.rank) return shape::unknown();
    for (int i = 0; i < a.rank; ++i)
      if (a[i] != b[i]) a.dim[i] = unknown_dimension;
    return a;
  }

  struct edge {
    int node = -1;  // index in the file; -1 if `mapped` is set
    int port = 0;
    bool control = false;
    output mapped;
  };

  int find(std::string_view name) const {
    const int* at =
        by_name_.find(name_index::hash(name, false), [&](int i) { return def_.nodes[static_cast<std::size_t>(i)].name == name; });
    return at == nullptr ? -1 : *at;
  }

  // Checks everything that can be checked before a node is made.
  void check() {
    std::set<std::string_view> unknown;
    std::string unknown_list;
    most_ports_.assign(def_.nodes.size(), 1);
    for (std::size_t i = 0; i < def_.nodes.size(); ++i) {
      const node_def& def = def_.nodes[i];
      if (!is_valid_node_name(def.name)) throw invalid_argument("`" + def.name + "` is not a valid node name");
      if (find(def.name) >= 0) throw invalid_argument("Node name '" + def.name + "' already exists in the GraphDef");
      by_name_.insert(name_index::hash(def.name, false), static_cast<int>(i));
      if (!options_.unknown_operators && find_operator(def.op) == nullptr && find_definition(def.op) == nullptr)
        if (unknown.insert(def.op).second) unknown_list += (unknown_list.empty() ? "'" : ", '") + def.op + "'";
    }
    if (!unknown.empty()) throw unimplemented("operators that are not known: " + unknown_list);
    std::map<std::string, bool, std::less<>> used;
    for (const auto& [name, tensor] : options_.input_map) {
      if (&tensor.owner() != &g_) throw invalid_argument("input_map: " + describe(tensor) + " is not an element of this graph.");
      used[name] = false;
    }
    inputs_.resize(def_.nodes.size());
    // A limit for the number of results: a count in a file must not cause an allocation of that size.
    allowed_results_ = max_results + 1 + 16 * def_.nodes.size();
    for (std::size_t i = 0; i < def_.nodes.size(); ++i) {
      const node_def& def = def_.nodes[i];
      bool controls_began = false;
      for (const std::string& text : def.inputs) {
        const file_input in = parse_file_input(text, def);
        if (controls_began && !in.control)
          throw invalid_argument("the node '" + def.name + "', input '" + text + "': stands behind control inputs");
        controls_began = in.control;
        edge e{.port = in.port, .control = in.control, .mapped = {}};
        const auto mapped = in.control || options_.input_map.empty() ? options_.input_map.end() : mapping(in);
        if (mapped != options_.input_map.end()) {
          used[mapped->first] = true;
          e.mapped = mapped->second;
        } else {
          e.node = find(in.node);
          if (e.node < 0) throw invalid_argument("the node '" + def.name + "', input '" + text + "': the graph has no node of this name");
          int& most = most_ports_[static_cast<std::size_t>(e.node)];
          most = std::max(most, in.port + 1);
        }
        inputs_[i].push_back(e);
      }
      allowed_results_ += inputs_[i].size();
    }
    std::string missing;
    for (const auto& [name, is_used] : used)
      if (!is_used && find(std::string_view(name).substr(0, name.find(':'))) < 0) missing += (missing.empty() ? "" : ", ") + name;
    if (!missing.empty()) throw invalid_argument("Attempted to map inputs that were not found in graph_def: [" + missing + "]");
    for (const auto& name : options_.return_elements)
      if (find(std::string_view(name).substr(0, name.find(':'))) < 0)
        throw invalid_argument("Requested return " + std::string(name.find(':') == name.npos ? "operation" : "tensor") + " '" + name +
                               "' not found in graph def");
  }
  std::map<std::string, output, std::less<>>::const_iterator mapping(const file_input& in) const {
    const auto exact = options_.input_map.find(std::string(in.node) + ":" + std::to_string(in.port));
    if (exact != options_.input_map.end() || in.port != 0) return exact;
    return options_.input_map.find(in.node);
  }

  // The order in which nodes are made: operands before users, and as in the file where that leaves a choice. A loop's back edge, from
  // NextIteration to Merge, is ignored.
  std::vector<int> topological() {
    const std::size_t n = def_.nodes.size();
    std::vector<int> waits(n, 0);
    std::vector<std::vector<int>> users(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < inputs_[i].size(); ++k) {
        const int from = inputs_[i][k].node;
        if (from < 0) continue;
        if (is_merge(def_.nodes[i].op) && !inputs_[i][k].control && is_next_iteration(def_.nodes[static_cast<std::size_t>(from)].op)) {
          ways_back_.push_back({static_cast<int>(i), static_cast<int>(k), from});
          continue;
        }
        ++waits[i];
        users[static_cast<std::size_t>(from)].push_back(static_cast<int>(i));
      }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (std::size_t i = 0; i < n; ++i)
      if (waits[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> order;
    order.reserve(n);
    while (!ready.empty()) {
      const int i = ready.top();
      ready.pop();
      order.push_back(i);
      for (int user : users[static_cast<std::size_t>(i)])
        if (--waits[static_cast<std::size_t>(user)] == 0) ready.push(user);
    }
    if (order.size() != n) {
      std::string names;
      int told = 0;
      for (std::size_t i = 0; i < n && told < 5; ++i)
        if (waits[i] > 0) names += (told++ > 0 ? ", '" : "'") + def_.nodes[i].name + "'";
      throw invalid_argument("the graph has a cycle that is no loop, among or before the nodes " + names);
    }
    return order;
  }

  // A graph with nodes of several files gets the oldest producer version among them. Source: TensorFlow's
  // `GraphConstructor::UpdateVersionDef`.
  void merge_versions() {
    version_def& versions = nodes_.versions;
    if (g_.size() == 0) {
      versions = def_.versions;
      return;
    }
    versions.producer = std::min(versions.producer, def_.versions.producer);
    versions.min_consumer = std::max(versions.min_consumer, def_.versions.min_consumer);
    for (const std::int32_t bad : def_.versions.bad_consumers)
      if (std::find(versions.bad_consumers.begin(), versions.bad_consumers.end(), bad) == versions.bad_consumers.end())
        versions.bad_consumers.push_back(bad);
  }

  // Chooses the nodes' names in the graph: the file's names with the prefix; names that differ only in case are distinct. A number is added
  // only if the graph has a node or a scope of exactly the same name. Source: TensorFlow's `GraphConstructor::FindUniqueName`.
  void choose_names() {
    const std::string before = prefix_.empty() ? std::string{} : prefix_ + "/";
    names_.reserve(def_.nodes.size());
    for (const node_def& def : def_.nodes) names_.push_back(before + def.name);
    if (g_.size() == 0) return;
    const std::unordered_set<std::string_view> in_file(names_.begin(), names_.end());
    std::set<std::string, std::less<>> taken;
    for (int i = 0; i < g_.size(); ++i)
      for_each_scope(nodes_.record(i).name, before, [&](std::string_view name) {
        if (in_file.contains(name)) taken.emplace(name);
      });
    if (!taken.empty()) number(taken);
  }
  // Calls `f` with a name and with each scope around it, as long as these begin with the prefix.
  template <class F>
  static void for_each_scope(std::string_view name, std::string_view before, F f) {
    if (!name.starts_with(before)) return;
    for (; name.size() > before.size(); name = name.substr(0, name.rfind('/'))) {
      f(name);
      if (name.find('/', before.size()) == name.npos) break;
    }
  }
  // Appends to each name that is taken a number with which it occurs neither in the graph nor in the file.
  void number(const std::set<std::string, std::less<>>& taken) {
    std::unordered_set<std::string> used;
    const auto use = [&](std::string_view name) { for_each_scope(name, {}, [&](std::string_view part) { used.emplace(part); }); };
    for (int i = 0; i < g_.size(); ++i) use(nodes_.record(i).name);
    for (const std::string& name : names_) use(name);
    for (std::string& name : names_) {
      if (!taken.contains(name)) continue;
      const std::string plain = name;
      for (int count = 1; !used.insert(name = plain + "_" + std::to_string(count)).second;) ++count;
    }
  }

  // Makes one node. Its operands exist already, except for a loop's back edge.
  int enter(std::size_t in_file) {
    const node_def& def = def_.nodes[in_file];
    const std::vector<edge>& edges = inputs_[in_file];
    node_request request;
    std::vector<output> inputs;
    std::vector<int> controls;
    for (const edge& e : edges) {
      const int from = e.node < 0 ? -1 : place_[static_cast<std::size_t>(e.node)];
      if (!e.control && e.node >= 0 && from < 0) {
        if (inputs.size() >= 64)
          fail(def, "a loop's back edge is input " + std::to_string(inputs.size()) + "; only inputs 0 to 63 can be one");
        request.open_inputs |= std::uint64_t{1} << inputs.size();
      }
      if (e.control) controls.push_back(e.node < 0 ? e.mapped.index() : from);
      else inputs.push_back(e.node < 0 ? e.mapped : output(g_, std::max(from, 0), e.port));
    }
    const op_info& op = nodes_.operator_or_opaque(def.op);
    for (std::size_t k = 0; k < inputs.size(); ++k)  // control inputs come last
      if (edges[k].node < 0 || place_[static_cast<std::size_t>(edges[k].node)] >= 0) check_output(def, def.inputs[k], inputs[k]);
    request.op = &op;
    request.inputs = inputs;
    request.attributes = def.attributes;
    request.controls = std::move(controls);
    request.device = def.device;
    request.name = names_[in_file];
    nodes_.names.take(names_[in_file]);
    move_classes(request.attributes);
    std::vector<std::int64_t> numbers;
    std::exception_ptr refusal;
    try {
      if (!named_part::is_opaque(op)) describe_known(def, request, numbers);
      else if (const operator_definition* defined = find_definition(def.op))
        describe_defined(static_cast<int>(in_file), *defined, edges, request);
    } catch (const error& e) {
      if ((is_carried(def, request) || has_complex(def)) && describe_twin(static_cast<int>(in_file), edges, request))
        return append(def, request, numbers, nullptr, in_file);
      if (!is_carried(def, request) && !is_computed_elsewhere(def, op)) rethrow_saying(e, place_of(def) + e.what());
      // The import accepts such a node; only a run of it fails.
      refusal = std::make_exception_ptr(unimplemented(place_of(def) + e.what()));
      numbers.clear();
      carry(def, request);
    }
    return append(def, request, numbers, std::move(refusal), in_file);
  }
  // Appends a node whose results are known to the graph. `refusal`: the error of a run of it, if it has no kernel.
  int append(const node_def& def, node_request& request, const std::vector<std::int64_t>& numbers, std::exception_ptr refusal,
             std::size_t in_file) {
    const op_info& op = *request.op;
    if (request.results.empty() && op.kind != op_kind::group && find_definition(def.op) == nullptr) {
      request.complete = false;
      request.results.assign(static_cast<std::size_t>(most_ports_[in_file]), {dtype::invalid, shape::unknown()});
    }
    request.numbers = numbers;
    take_shape_hints(def, request);
    results_ += request.results.size();
    if (results_ > allowed_results_)
      throw resource_exhausted(place_of(def) + "has " + std::to_string(request.results.size()) +
                               " outputs; with it the graph has more than " + std::to_string(allowed_results_) +
                               ", which is not in proportion to its size");
    const int made = nodes_.append(g_, std::move(request));
    if (refusal != nullptr) nodes_.refusals.emplace(made, std::move(refusal));
    return made;
  }

  // Whether a node has an input or attribute of a dtype that the library carries from file to file but does not compute with, or computes
  // with in the kernels of a wider one. Constants are no operators of their dtype: those of narrow dtypes are values like others.
  static bool is_carried(const node_def& def, const node_request& request) {
    const auto is_one = [&](data_type type) {
      return leat::is_known(type) && (is_carried_only(static_cast<dtype>(type)) ||
                                      (request.op->kind != op_kind::constant && is_narrow(static_cast<dtype>(base_of(type)))));
    };
    for (std::size_t k = 0; k < request.inputs.size(); ++k)
      if (!is_open(request, static_cast<int>(k)) && is_one(to_data_type(request.inputs[k].type()))) return true;
    for (const auto& [name, value] : def.attributes) {
      if (const auto* type = value.get_if<data_type>(); type != nullptr && is_one(*type)) return true;
      if (const auto* list = value.get_list<data_type>(); list != nullptr && std::any_of(list->begin(), list->end(), is_one)) return true;
    }
    return false;
  }
  // Whether an attribute names a complex dtype.
  static bool has_complex(const node_def& def) {
    bool any = false;
    for_each_dtype(def.attributes, [&](dtype type) { any = any || is_complex(type); });
    return any;
  }
  // Whether TensorFlow computes the operator with the node's dtype, and this library only with others.
  static bool is_computed_elsewhere(const node_def& def, const op_info& op) {
    switch (const dtype type = type_attribute(def, "T"); op.what.elsewhere) {
      case dtype_group::signed_integers: return type == dtype::int32 || type == dtype::int64;
      case dtype_group::reals: return type == dtype::float32 || type == dtype::float64;
      default: return false;
    }
  }
  // Sets the results of a node that cannot be run, as far as its attributes determine them.
  static void carry(const node_def& def, node_request& request) {
    request.complete = false;
    request.number_inputs = 0;
    request.results = {};
    const operator_definition* const defined = named_part::is_opaque(*request.op) ? find_definition(def.op) : nullptr;
    if (defined == nullptr) {
      request.results.push_back({dtype::invalid, shape::unknown()});
      return;
    }
    try {
      for (const tensor_info& info : results_of(*defined, def.attributes)) request.results.push_back(info);
    } catch (const error&) {
    }
  }

  // The attribute `_output_shapes` refines the shapes of the results, and must not contradict what is known of them. It is not kept,
  // because the graph may change. Source: TensorFlow's `GraphConstructor::ValidateShape`.
  static void take_shape_hints(const node_def& def, node_request& request) {
    const auto* attribute = request.attributes.find("_output_shapes");
    const auto* held = attribute != nullptr ? attribute->get_if<attribute_list>() : nullptr;
    if (held == nullptr) return;
    const auto* said = held->get_if<tensor_shape_proto>();
    const std::size_t count = said != nullptr ? said->size() : 0;
    if (is_operator<handle_variable_op>(*request.op)) {  // the shape of the handle, a scalar
      request.attributes.erase("_output_shapes");
      return;
    }
    if (count < request.results.size())
      fail(def, "has " + std::to_string(request.results.size()) + " outputs but the _output_shapes attribute specifies shapes for " +
                    std::to_string(count) + " outputs");
    for (std::size_t k = 0; k < request.results.size(); ++k) {
      shape& known = request.results[k].extent;
      const shape hint = to_shape((*said)[k]);
      if (!hint.is_countable()) fail(def, "has an invalid _output_shapes attribute (shape #" + std::to_string(k) + "): too many elements");
      if (may_equal(known, hint)) known = known_of(known, hint);
      else if (!may_have_other_shape(def.op))
        fail(def, "has an _output_shapes attribute inconsistent with the GraphDef for output #" + std::to_string(k) + ": " +
                      leat::shape_text(known) + " and " + leat::shape_text(hint));
    }
    request.attributes.erase("_output_shapes");
  }
  // Operators for which some versions of TensorFlow inferred other result shapes: references and handles. Source: the list in
  // `ValidateShape`.
  static bool may_have_other_shape(std::string_view op) {
    constexpr std::string_view of_reference[]{"Accumulator", "Barrier", "Enter", "Iterator", "Mutex",      "Queue",
                                              "Reader",      "Ref",     "Stack", "Table",    "TensorArray"};
    return std::ranges::any_of(of_reference, [&](std::string_view part) { return op.find(part) != op.npos; });
  }

  // Checks that an input names an existing result of its node.
  void check_output(const node_def& def, const std::string& text, const output& in) const {
    const int has = nodes_.record(in.index()).results;
    if (in.port() < has) return;
    fail(def, "input '" + text + "': '" + nodes_.record(in.index()).name + "' (" + std::string(g_.at(in.index()).op->type) + ") has " +
                  (has == 0 ? std::string("no output") : std::to_string(has) + (has == 1 ? " output" : " outputs")));
  }
  // The dtype and shape of an input. A variable by handle is a handle to operators that do not take it as a variable, such as those of
  // control flow.
  tensor_info info_of_input(const output& in) const {
    if (is_operator<handle_variable_op>(*g_.at(in.index()).op)) return {static_cast<dtype>(data_type::resource), shape{}};
    return {in.type(), in.extent()};
  }
  static bool is_open(const node_request& request, int k) { return k < 64 && (request.open_inputs >> k & 1) != 0; }
  // Whether an input may be a reference to a variable, as far as is known; a fed tensor may be one.
  bool may_refer(const output& in) const {
    const op_info& from = *g_.at(in.index()).op;
    if (in.type() == static_cast<dtype>(data_type::resource)) return true;  // a handle that control flow has passed on
    if (from.kind == op_kind::placeholder || is_reference_result(from, in.port())) return true;
    return from.infer == nullptr && find_definition(from.type) == nullptr;  // of an unknown operator
  }
  // Checks that the value of a back edge has its Merge's dtype.
  void check_way_back(int node, int k, const output& from) const {
    const node_def& def = def_.nodes[static_cast<std::size_t>(node)];
    check_output(def, def.inputs[static_cast<std::size_t>(k)], from);
    const dtype wanted = g_.at(place_[static_cast<std::size_t>(node)]).result.type, is = from.type();
    if (wanted != dtype::invalid && is != dtype::invalid && wanted != is)
      fail(def, "input '" + def.inputs[static_cast<std::size_t>(k)] + "' has type " + type_text(to_data_type(is)) +
                    ", the loop's variable " + type_text(to_data_type(wanted)));
  }

  // Operators with a definition. Attributes are kept as in the file; defaults are applied for checking only.
  void describe_defined(int in_file, const operator_definition& d, const std::vector<edge>& edges, node_request& request,
                        bool as_twin = false) {
    const node_def& def = def_.nodes[static_cast<std::size_t>(in_file)];
    std::vector<tensor_info> infos;
    std::size_t k = 0;
    for (const edge& e : edges) {
      if (e.control) continue;
      const bool is_later = e.node >= 0 && place_[static_cast<std::size_t>(e.node)] < 0;
      const output& in = request.inputs[k++];
      infos.push_back(is_later ? tensor_info{dtype::invalid, shape::unknown()} : tensor_info{in.type(), in.extent()});
    }
    if (const auto known = merge_shapes_.find(in_file); known != merge_shapes_.end() || as_entered_)
      for (std::size_t i = 0; i < infos.size(); ++i)
        if (is_open(request, static_cast<int>(i))) infos[i].extent = as_entered_ ? infos[0].extent : known->second;
    attribute_map attributes = as_twin ? with_stand_ins(def.attributes) : def.attributes;
    const auto ranges = ranges_of(d, static_cast<int>(infos.size()), attributes);
    for (const auto& range : ranges)
      for (int i = range.first; i < range.first + range.count; ++i)
        if (!range.argument->reference && !is_open(request, i))
          infos[static_cast<std::size_t>(i)] = info_of_input(request.inputs[static_cast<std::size_t>(i)]);
    if (as_twin)
      for (tensor_info& info : infos)
        if (const dtype other = stand_in_dtype(info.type); other != dtype::invalid) info.type = other;
    bind_attributes(d, ranges, infos, attributes);
    check_attributes(d, attributes);
    for (const auto& range : ranges)
      for (int i = range.first; i < range.first + range.count; ++i)
        if (range.argument->reference && !is_open(request, i) && !may_refer(request.inputs[static_cast<std::size_t>(i)]))
          throw invalid_argument("input '" + range.argument->name + "' must be a variable, and '" +
                                 def.inputs[static_cast<std::size_t>(i)] + "' gives a value");
    request.results = infer_results(d, request.inputs, infos, attributes);
  }

  // A node with narrow or complex dtypes that its operator's line does not allow may have a kernel for these, if the line allows the dtypes
  // that stand in for them. Returns false if it is no such node.
  bool describe_twin(int in_file, const std::vector<edge>& edges, node_request& request) {
    const node_def& def = def_.nodes[static_cast<std::size_t>(in_file)];
    const operator_definition* const defined = named_part::is_opaque(*request.op) ? find_definition(def.op) : nullptr;
    if (defined == nullptr) return false;
    // Real numbers beside complex ones would be taken for the same.
    for (const output& one : request.inputs)
      for (const output& other : request.inputs)
        if (is_complex(one.type()) && other.type() == part_dtype(one.type())) return false;
    try {
      request.results = {};
      describe_defined(in_file, *defined, edges, request, true);
      std::size_t k = 0;
      for (const tensor_info& info : results_of(*defined, def.attributes))
        if (k < request.results.size()) request.results[k++].type = info.type;
      return true;
    } catch (const error&) {
      return false;
    }
  }

  // Replaces the names in "_class" by those that the nodes have in the graph.
  void move_classes(attribute_map& attributes) const {
    auto* value = attributes.find_to_change("_class");
    const auto* list = value != nullptr ? value->get_list<std::string>() : nullptr;
    if (list == nullptr) return;
    std::vector<std::string> moved(*list);
    for (auto& text : moved) {
      if (!text.starts_with("loc:@")) continue;
      const int of = find(std::string_view(text).substr(5));
      if (of >= 0) text = "loc:@" + names_[static_cast<std::size_t>(of)];
      else if (!prefix_.empty()) text = "loc:@" + prefix_ + "/" + text.substr(5);
    }
    if (moved != *list) *value = std::move(moved);
  }

  static dtype type_attribute(const node_def& def, std::string_view name) {
    const auto* a = def.attributes.find(name);
    const auto* type = a != nullptr ? a->get_if<data_type>() : nullptr;
    return type == nullptr ? dtype::invalid : static_cast<dtype>(base_of(*type));
  }
  static std::string place_of(const node_def& def) { return "the node '" + def.name + "' (" + def.op + "): "; }
  [[noreturn]] static void fail(const node_def& def, const std::string& what) { throw invalid_argument(place_of(def) + what); }

  void describe_known(const node_def& def, node_request& request, std::vector<std::int64_t>& numbers) {
    const op_info& op = *request.op;
    if (op.kind == op_kind::placeholder || op.kind == op_kind::variable || op.kind == op_kind::constant) {
      describe_leaf(def, request, numbers);
      return;
    }
    if (op.kind == op_kind::group) {
      if (!request.inputs.empty()) throw invalid_argument("takes no inputs but control inputs");
      return;
    }
    const auto fields = form_of(op, static_cast<int>(request.inputs.size()));
    int fixed = 0;
    int held = 0;
    bool list = false;
    for (const field& f : fields) {
      list = list || f.kind == field_kind::operands;
      fixed += leat::is_operand(f.kind) && f.kind != field_kind::operands ? 1 : 0;
      held += is_number_input(f.kind) ? 1 : 0;
    }
    const int operands = static_cast<int>(request.inputs.size()) - held;
    if (list ? operands < 1 : operands != fixed)
      throw invalid_argument("has " + std::to_string(request.inputs.size()) + " inputs, which is not what the operator takes");
    if (const auto* n = integer_in(def.attributes, "N"); list && n != nullptr && *n != operands)
      throw invalid_argument("attribute N is " + std::to_string(*n) + ", and there are " + std::to_string(operands) + " such inputs");
    request.number_inputs = held;
    check_operand_types(def, fields, request.inputs.first(static_cast<std::size_t>(operands)));
    std::vector<tensor_info> infos;
    bool all_known = true;
    for (int k = 0; k < operands; ++k) {
      tensor_info info = info_of_input(request.inputs[static_cast<std::size_t>(k)]);
      for (const field& f : fields)
        if (f.kind == field_kind::type_of && info.type == dtype::invalid && speaks_of(fields, static_cast<int>(f.value), k))
          info.type = type_attribute(def, f.name);
      all_known = all_known && info.type != dtype::invalid;
      infos.push_back(info);
    }
    for (const field& f : fields) {
      if (f.kind != field_kind::type_of) continue;
      const dtype said = type_attribute(def, f.name);
      const dtype is = infos[static_cast<std::size_t>(f.value)].type;
      if (said != dtype::invalid && is != dtype::invalid && said != is)
        throw invalid_argument("attribute " + std::string(f.name) + " is " + name_of_data_type(to_data_type(said)) +
                               ", but its input has " + name_of_data_type(to_data_type(is)));
    }
    number_values values;
    std::deque<tensor_proto> computed;  // values computed from known shapes
    for (int k = operands; k < static_cast<int>(request.inputs.size()); ++k) {
      const output& in = request.inputs[static_cast<std::size_t>(k)];
      values.push_back(in.port() == 0 ? nodes_.contents_of(g_, in.index()) : nullptr);
      const auto found = values.back() == nullptr && in.extent().has_rank() ? fully_known_numbers(in) : std::nullopt;
      if (!found) continue;
      // Values are often known where their number is not part of the shape: of ranges and concatenations.
      shape extent = in.extent();
      if (extent.rank == 1) extent.dim[0] = static_cast<std::int64_t>(found->size());
      if (extent.is_static()) values.back() = &computed.emplace_back(tensor_literal(extent, *found).proto());
    }
    const auto read = numbers_from(fields, def.attributes, values, infos);
    const dtype asked_for = result_type(fields, def.attributes, infos);
    if (!read || !all_known) {
      request.complete = false;
      request.results.push_back({asked_for, shape::unknown()});
      if (op.what.takes_shape) request.results.back().extent = shape_of_numbers(request.inputs.back());
    } else if (is_carried_only(asked_for) || stand_in_dtype(asked_for) != dtype::invalid || carried_type(infos)) {
      request.complete = false;
      const inference got = infer_any_result(op, fields, infos, *read);
      if (got.problem.empty()) request.results.push_back({got.type, got.extent});
      else request.results.push_back({dtype::invalid, shape::unknown()});
    } else {
      numbers = *read;
      const inference got = infer_result(op, infos, numbers);
      if (!got.problem.empty()) throw invalid_argument(std::string(got.problem));
      request.results.push_back({got.type, got.extent});
    }
    const std::span<const std::int64_t> known(numbers);
    add_further_results(request.results, op, fields, infos, request.complete ? &known : nullptr);
  }
  // Checks that operands of one group have one dtype, if it is known, and that references are to variables.
  void check_operand_types(const node_def& def, detail::list_view<field> fields, std::span<const output> operands) const {
    std::size_t at = 0;
    std::size_t first = operands.size();
    for (const field& f : fields) {
      if (!leat::is_operand(f.kind)) continue;
      const std::size_t end = f.kind == field_kind::operands ? operands.size() : std::min(at + 1, operands.size());
      for (; at < end; ++at) {
        if (f.kind == field_kind::reference && !may_refer(operands[at]))
          throw invalid_argument("input '" + std::string(f.name) + "' must be a variable, and '" + def.inputs[at] + "' gives a value");
        const dtype type = operands[at].type();
        if (f.value != 0 || type == dtype::invalid) continue;
        if (first == operands.size()) first = at;
        else if (type != operands[first].type())
          throw invalid_argument("input '" + def.inputs[at] + "' has type " + type_text(to_data_type(type)) + ", input '" +
                                 def.inputs[first] + "' " + type_text(to_data_type(operands[first].type())));
      }
    }
  }
  static int group_of(detail::list_view<field> fields, int k) {
    int at = 0;
    for (const field& f : fields) {
      if (f.kind == field_kind::operands) return static_cast<int>(f.value);
      if (leat::is_operand(f.kind) && at++ == k) return static_cast<int>(f.value);
    }
    return -1;
  }
  // The shape given by a tensor of sizes, as far as these are known.
  static shape shape_of_numbers(const output& o) {
    const auto found = known_numbers(o);
    if (!found || found->size() > static_cast<std::size_t>(max_rank)) return shape::unknown();
    shape s;
    for (auto n : *found) s.push(n < 0 ? unknown_dimension : n);
    return s;
  }
  // Whether one operand's dtype determines the other's: they are the same operand, or belong to the same group.
  static bool speaks_of(detail::list_view<field> fields, int one, int other) {
    return one == other || (group_of(fields, one) != -1 && group_of(fields, one) == group_of(fields, other));
  }
  // Whether a dtype is one that the library does not compute with; strings are, too.
  static bool is_carried_type(dtype type) { return to_dtype(to_data_type(type)) == dtype::invalid; }
  static bool carried_type(std::span<const tensor_info> infos) {
    return std::any_of(infos.begin(), infos.end(), [](const tensor_info& i) { return is_carried_type(i.type); });
  }
  void describe_leaf(const node_def& def, node_request& request, std::vector<std::int64_t>& numbers) {
    if (!request.inputs.empty()) throw invalid_argument("takes no inputs");
    const dtype type = type_attribute(def, "dtype");
    if (type == dtype::invalid) throw invalid_argument("lacks the attribute dtype");
    tensor_info result{type, shape::unknown()};
    if (request.op->kind == op_kind::constant) {
      const auto* value = def.attributes.find("value");
      const auto* tensor = value != nullptr ? value->get_if<tensor_proto>() : nullptr;
      if (tensor == nullptr) throw invalid_argument("lacks the attribute value");
      if (const auto problem = problem_of(*tensor); !problem.empty()) throw invalid_argument("attribute value: " + problem);
      if (static_cast<dtype>(tensor->dtype) != type) throw invalid_argument("attribute value has another dtype than attribute dtype");
      result.extent = to_shape(tensor->shape);
      if (const auto one = scalar_bits(*tensor)) numbers.push_back(*one);
      request.complete = !numbers.empty();
    } else {
      if (const auto said = declared_shape(def, def_.versions.producer)) {
        result.extent = to_shape(*said);
        // An imported graph has a single producer version, although files differ in what an empty shape means: the shape that this file's
        // producer meant is written explicitly.
        if (request.op->kind == op_kind::placeholder) request.attributes["shape"] = *said;
      }
      if (request.op->kind == op_kind::variable) numbers = {0, 1, 0};
    }
    request.results.push_back(result);
  }
  std::vector<graph_element> returned() {
    std::vector<graph_element> list;
    for (const auto& name : options_.return_elements) {
      const auto colon = name.find(':');
      const int index = place_[static_cast<std::size_t>(find(std::string_view(name).substr(0, colon)))];
      if (colon == name.npos) {
        list.emplace_back(graph_operation(g_, index));
        continue;
      }
      const std::string digits = name.substr(colon + 1);
      if (!all_digits(digits) || digits.size() > 5) throw invalid_argument("Requested return tensor '" + name + "' is no name of a tensor");
      const int port = std::stoi(digits);
      const auto mapped = mapping({.node = std::string_view(name).substr(0, colon), .port = port});
      list.emplace_back(mapped != options_.input_map.end() ? mapped->second : graph_operation(g_, index).result(port));
    }
    return list;
  }

  struct way_back {
    int node;
    int input;
    int from;
  };
  graph& g_;
  named_part& nodes_;
  const graph_def& def_;
  const import_options& options_;
  std::string prefix_;
  std::vector<std::string> names_;  // by node of the file: its name in the graph
  name_index by_name_;
  std::vector<std::vector<edge>> inputs_;
  std::vector<int> most_ports_;
  std::vector<int> place_;
  std::vector<way_back> ways_back_;
  std::size_t results_ = 0;  // number of results of all imported nodes
  std::size_t allowed_results_ = 0;
  std::map<int, shape> merge_shapes_;  // shapes of loop variables, where known
  bool is_trial_ = false;
  bool as_entered_ = false;  // loop variables take the shape of their initial value
};

// Brings the inputs of nodes with an older spelling into the order of the current one.
inline void put_number_last(node_def& n) {
  const older_spelling* const s = find_older_spelling(n.op);
  if (s == nullptr || !s->number_first) return;
  const auto end = std::find_if(n.inputs.begin(), n.inputs.end(), [](const std::string& in) { return in.starts_with('^'); });
  if (n.inputs.begin() != end) std::rotate(n.inputs.begin(), n.inputs.begin() + 1, end);
}
inline bool has_number_first(const graph_def& def) {
  return std::ranges::any_of(def.nodes, [](const node_def& n) {
    const older_spelling* const s = find_older_spelling(n.op);
    return s != nullptr && s->number_first;
  });
}
inline std::vector<graph_element> import_ordered(graph& g, const graph_def& def, const import_options& options) {
  if (!has_number_first(def)) return importer(g, def, options).run();
  graph_def ordered = def;
  for (node_def& n : ordered.nodes) put_number_last(n);
  return importer(g, ordered, options).run();
}

}  // namespace detail

LEAT_FUNCTION std::vector<graph_element> import_graph(graph& g, const graph_def& def, const import_options& options) {
  if (const auto& functions = detail::inliner_of_functions(); functions.inlined != nullptr && !def.library.empty()) {
    const graph_def flat = functions.inlined(def);
    std::string library = functions.merged(g.named().library, flat.library);
    auto elements = detail::import_ordered(g, flat, options);
    g.named().library = std::move(library);
    return elements;
  }
  return detail::import_ordered(g, def, options);
}

}  // namespace leat
