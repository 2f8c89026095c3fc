#pragma once
// Implementation of functions.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary/read.hpp>
#include <leat/io/function_messages.hpp>
#include <leat/io/functions.hpp>
#include <leat/io/impl/function_parts.hpp>
#include <leat/io/library.hpp>
#include <leat/io/place.hpp>
#include <leat/named/exchange/import_options.hpp>

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace leat::io::detail {

class function_inliner : private function_parts {
 public:
  explicit function_inliner(const graph_def& def) : def_(def) {
    read_message(protozero::pbf_reader{def.library.data(), def.library.size()}, library_, place{nullptr, "library"}, 1);
    for (const function_def& f : library_.function)
      if (f.signature) functions_.emplace(f.signature->name, &f);
    for (const node_def& n : def.nodes) names_.insert(n.name);
  }

  graph_def run() {
    body top;
    top.is_graph = true;
    for (const node_def& n : def_.nodes) top.names.emplace(n.name, n.name);
    place_nodes(def_.nodes, top);
    graph_def flat{.nodes = std::move(out_), .versions = def_.versions, .library = {}};
    flat.library = needed_functions(def_.library, flat.nodes);
    return flat;
  }

 private:
  using tensors = std::vector<std::string>;
  // What a call gives: its results, and the control inputs of whoever waits for its effects.
  struct outcome {
    tensors values{};
    tensors controls{};
    bool acts = false;  // whether it does more than compute its results
  };
  // The nodes of a function, or of the graph, while they are placed.
  struct body {
    bool is_graph = false;
    std::string prefix{};
    attributes_of_call attributes = nullptr;
    std::unordered_map<std::string, std::string> names{};        // by name in the body: the name in the result
    std::unordered_map<std::string, tensors> arguments{};        // by name: the tensors
    std::unordered_map<std::string, std::map<std::string, tensors>> calls{};  // by name: results by their names; "" for all
    std::set<std::string> waited_for{};                          // nodes that are control inputs
    std::string pivot{};      // control input of nodes that nothing else of the branch or iteration keeps waiting
    tensors controls{};       // control inputs of nodes with effects: those of the call
    std::string device{};
    std::vector<std::string> called{};  // functions on the way here
    tensors effects{};        // control inputs of whoever waits for the effects of this body
    bool acts = false;
  };
  static constexpr std::size_t most_nodes = 1'000'000, most_calls = 100'000, most_depth = 64;

  // ---- names ----

  std::string new_name(const std::string& wanted) {
    std::string name = wanted;
    if (names_.insert(name).second) return name;
    int& last = numbers_[wanted];  // so that the thousandth node of a name does not try the numbers of all others
    do name = wanted + "_" + std::to_string(++last);
    while (!names_.insert(name).second);
    return name;
  }
  static std::string node_of(const std::string& tensor) { return tensor.substr(0, tensor.rfind(':')); }
  [[noreturn]] static void refuse_size() {
    throw resource_exhausted("the graph has more than a million nodes when its functions stand in place of their calls");
  }
  void put(node_def n) {
    if (out_.size() >= most_nodes) refuse_size();
    out_.push_back(std::move(n));
  }
  // Makes a node of the result; returns its name.
  std::string make(std::string_view op, const std::string& name, tensors inputs, attribute_map attributes, const std::string& device) {
    node_def n{
        .name = new_name(name), .op = std::string(op), .inputs = std::move(inputs), .device = device, .attributes = std::move(attributes)};
    std::string made = n.name;
    put(std::move(n));
    return made;
  }

  // ---- inputs ----

  // The tensor, or the control input, that an input of a node of the body stands for; `bodies` are the body's nodes by name.
  std::string resolve(const std::string& text, const body& b, const std::unordered_map<std::string, const node_def*>& bodies) const {
    const reference r = parse(text, b.is_graph);
    if (!r.is_valid) throw not_inlined{};
    const auto at = [&](const tensors& list) {
      if (static_cast<std::size_t>(r.index) >= list.size()) throw not_inlined{};
      return list[static_cast<std::size_t>(r.index)];
    };
    if (const auto argument = b.arguments.find(r.node); argument != b.arguments.end()) {
      if (r.control) return argument->second.empty() ? std::string{} : "^" + node_of(argument->second.front());
      return at(argument->second);
    }
    const auto name = b.names.find(r.node);
    if (name == b.names.end()) {
      if (b.is_graph) return text;  // the graph lacks the node, which its import tells
      throw not_inlined{};
    }
    if (r.control) return "^" + name->second;
    if (const auto call = b.calls.find(r.node); call != b.calls.end()) {
      const auto found = call->second.find(r.out);
      if (found == call->second.end()) throw not_inlined{};
      return at(found->second);
    }
    const int port = b.is_graph ? r.index : port_of(*bodies.at(r.node), r.out, r.index);
    return port == 0 ? name->second : name->second + ":" + std::to_string(port);
  }
  // Node and port apart, so that "x" and "x:0" are one tensor.
  static std::string plain(std::string tensor) {
    if (tensor.ends_with(":0")) tensor.resize(tensor.size() - 2);
    return tensor;
  }
  bool waits_for_nothing(const std::string& tensor) const { return unmoved_.contains(plain(tensor)); }

  // ---- nodes ----

  // A node of a body that is no call.
  void put_node(const node_def& n, body& b, const std::unordered_map<std::string, const node_def*>& bodies) {
    node_def made{.name = b.names.at(n.name), .op = n.op, .inputs = {}, .device = n.device.empty() ? b.device : n.device, .attributes = {}};
    made.attributes = b.is_graph ? n.attributes : filled(n.attributes, b.attributes);
    tensors controls;
    bool waits = b.pivot.empty();
    for (const std::string& text : n.inputs) {
      std::string input;
      try {
        input = resolve(text, b, bodies);
      } catch (const not_inlined&) {
        if (!b.is_graph) throw;
        input = text;  // what is wrong with it, the import tells
      }
      if (input.empty()) continue;
      if (input.starts_with('^')) {
        controls.push_back(std::move(input));
        continue;
      }
      waits = waits || !waits_for_nothing(input);
      made.inputs.push_back(std::move(input));
    }
    if (!b.is_graph) {
      made.attributes.erase("_class");  // names of nodes of the body
      if (!waits) controls.push_back(b.pivot);
      if (has_effects(n.op)) {
        controls.insert(controls.end(), b.controls.begin(), b.controls.end());
        if (!only_reads(n.op)) {
          b.effects.push_back("^" + made.name);
          b.acts = true;
        }
      }
    }
    std::set<std::string> known;
    for (std::string& c : controls)
      if (known.insert(c).second) made.inputs.push_back(std::move(c));
    put(std::move(made));
  }

  enum class call_kind { none, call, by_name, branch, cases, loop };
  call_kind kind_of(const node_def& n) const {
    static const std::map<std::string_view, call_kind> kinds{
        {"PartitionedCall", call_kind::call}, {"StatefulPartitionedCall", call_kind::call}, {"If", call_kind::branch},
        {"StatelessIf", call_kind::branch},   {"Case", call_kind::cases},                   {"StatelessCase", call_kind::cases},
        {"While", call_kind::loop},           {"StatelessWhile", call_kind::loop}};
    if (const auto at = kinds.find(n.op); at != kinds.end()) return at->second;
    return functions_.contains(n.op) ? call_kind::by_name : call_kind::none;
  }

  // Places all nodes of a body: first the calls, each behind those whose results it takes.
  void place_nodes(const std::vector<node_def>& nodes, body& b) {
    std::unordered_map<std::string, const node_def*> bodies;
    for (const node_def& n : nodes) bodies.emplace(n.name, &n);
    for (const node_def& n : nodes)
      for (const std::string& text : n.inputs)
        if (text.starts_with('^')) b.waited_for.insert(text.substr(1));
    std::vector<const node_def*> calls;
    std::unordered_map<std::string, int> waits;
    std::unordered_map<std::string, std::vector<const node_def*>> users;
    for (const node_def& n : nodes)
      if (kind_of(n) != call_kind::none) waits.emplace(n.name, 0);
    for (const node_def& n : nodes) {
      const auto its = waits.find(n.name);
      if (its == waits.end() || bodies.at(n.name) != &n) continue;
      for (const std::string& text : n.inputs)
        if (const reference r = parse(text, b.is_graph); !r.control && waits.contains(r.node)) {
          ++its->second;
          users[r.node].push_back(&n);
        }
      if (its->second == 0) calls.push_back(&n);
    }
    std::unordered_set<std::string> placed;
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const node_def& n = *calls[k];
      if (place_call(n, b, bodies)) placed.insert(n.name);
      for (const node_def* user : users[n.name])
        if (--waits[user->name] == 0) calls.push_back(user);
    }
    for (const node_def& n : nodes)
      if (!placed.contains(n.name)) put_node(n, b, bodies);
  }

  // Places the nodes of a call. Returns false, and leaves everything as it was, if the call remains.
  bool place_call(const node_def& n, body& b, const std::unordered_map<std::string, const node_def*>& bodies) {
    const std::size_t before = out_.size();
    try {
      node_def call = n;
      if (!b.is_graph) call.attributes = filled(n.attributes, b.attributes);
      call.name = b.names.at(n.name);
      if (call.device.empty()) call.device = b.device;
      tensors inputs, controls;
      for (const std::string& text : n.inputs)
        if (std::string input = resolve(text, b, bodies); !input.empty())
          (input.starts_with('^') ? controls : inputs).push_back(std::move(input));
      call.inputs = std::move(inputs);
      std::vector<data_type> types;
      std::map<std::string, tensors> by_name;
      const outcome made = expand(call, controls, b, types, by_name);
      by_name[""] = made.values;  // the graph's nodes name results by their numbers
      b.effects.insert(b.effects.end(), made.controls.begin(), made.controls.end());
      b.acts = b.acts || made.acts;
      if (b.is_graph || b.waited_for.contains(n.name)) put_end(call, made, controls, types);
      if (b.is_graph && made.acts) {
        // Whoever uses a result of the call has its effects, too.
        for (std::size_t k = 0; k < made.values.size(); ++k) by_name[""][k] = call.name + ":" + std::to_string(k);
      }
      b.calls[n.name] = std::move(by_name);
      return true;
    } catch (const not_inlined&) {
      for (std::size_t k = before; k < out_.size(); ++k) names_.erase(out_[k].name);
      out_.resize(before);
      return false;
    }
  }
  // The node that stays under the name of a call.
  void put_end(const node_def& call, const outcome& made, const tensors& controls, const std::vector<data_type>& types) {
    if (types.size() != made.values.size()) throw not_inlined{};
    node_def end{.name = call.name, .op = "NoOp", .inputs = made.values, .device = call.device, .attributes = {}};
    if (types.size() == 1) end.op = "Identity", end.attributes["T"] = types[0];
    if (types.size() > 1) end.op = "IdentityN", end.attributes["T"] = types;
    std::set<std::string> known;
    for (const tensors* list : {&made.controls, &controls})
      for (const std::string& c : *list)
        if (known.insert(c).second) end.inputs.push_back(c);
    put(std::move(end));
  }

  outcome expand(const node_def& call, const tensors& controls, const body& outer, std::vector<data_type>& types,
                 std::map<std::string, tensors>& by_name) {
    const call_kind kind = kind_of(call);
    // A branch or a loop itself waits for the callers' control inputs, because its nodes cannot.
    tensors all = outer.controls;
    all.insert(all.end(), controls.begin(), controls.end());
    outcome made;
    if (kind == call_kind::by_name) {
      const function_def& f = *functions_.at(call.op);
      made = enter(call.op, call.attributes, call.inputs, call, controls, outer, outer.pivot);
      std::size_t at = 0;
      for (const operator_argument& a : f.signature->output_arg) {
        const std::size_t count = count_of(a, call.attributes);
        if (at + count > made.values.size()) throw not_inlined{};
        by_name[a.name] = tensors(made.values.begin() + static_cast<std::ptrdiff_t>(at),
                                  made.values.begin() + static_cast<std::ptrdiff_t>(at + count));
        at += count;
        if (!a.type_list_attr.empty()) {
          const auto list = types_in(call, a.type_list_attr);
          types.insert(types.end(), list.begin(), list.end());
        } else {
          types.insert(types.end(), count, a.type_attr.empty() ? a.type : type_in(call.attributes, a.type_attr));
        }
      }
      return made;
    }
    if (kind == call_kind::call) {
      const function_value& f = function_in(call, "f");
      made = enter(f.name, f.attributes, call.inputs, call, controls, outer, outer.pivot);
      types = types_in(call, "Tout");
    } else if (kind == call_kind::loop) {
      types = types_in(call, "T");
      made = loop(call, all, outer, types);
    } else {
      if (call.inputs.empty()) throw not_inlined{};
      types = types_in(call, "Tout");
      const std::string chosen = call.inputs.front();
      const tensors arguments(call.inputs.begin() + 1, call.inputs.end());
      if (kind == call_kind::branch) {
        const auto side = [&](std::string_view name) {
          return [this, &call, &outer, f = function_in(call, name)](const tensors& given, const std::string& pivot) {
            return enter(f.name, f.attributes, given, call, {}, outer, pivot);
          };
        };
        made = branch(call, outer, truth_of(call, chosen, type_in(call.attributes, "Tcond"), all), arguments, types, all,
                      side("then_branch"), side("else_branch"));
      } else {
        const auto* list = call.attributes.find("branches");
        const auto* branches = list != nullptr ? list->get_list<function_value>() : nullptr;
        if (branches == nullptr || branches->empty() || branches->size() > most_depth) throw not_inlined{};
        made = cases(call, chosen, arguments, types, all, outer, *branches, 0);
      }
    }
    by_name["output"] = made.values;
    return made;
  }

  // Places the body of a function.
  outcome enter(const std::string& name, const attribute_map& attributes, const tensors& given, const node_def& call,
                const tensors& controls, const body& outer, const std::string& pivot) {
    const auto at = functions_.find(name);
    if (at == functions_.end() || outer.called.size() >= most_depth) throw not_inlined{};
    if (std::find(outer.called.begin(), outer.called.end(), name) != outer.called.end()) throw not_inlined{};  // it calls itself
    const function_def& f = *at->second;
    // Bodies without nodes, and bodies that turn out to have no place, leave nothing in the result, and their calls may double at each
    // depth.
    if (++calls_ > most_calls)
      throw resource_exhausted("the graph calls functions more than " + std::to_string(most_calls) +
                               " times, counting calls within functions");
    tried_nodes_ += f.nodes.size();
    if (tried_nodes_ > 2 * most_nodes) refuse_size();
    body b;
    b.prefix = call.name + "/";
    b.attributes = &attributes;
    b.pivot = pivot;
    b.device = call.device;
    b.called = outer.called;
    b.called.push_back(name);
    if (pivot == outer.pivot) b.controls = outer.controls;  // in a branch or a loop everything waits for its pivot
    b.controls.insert(b.controls.end(), controls.begin(), controls.end());
    std::size_t next = 0;
    for (const operator_argument& a : f.signature->input_arg) {
      const std::size_t count = count_of(a, attributes);
      if (next + count > given.size()) throw not_inlined{};
      b.arguments[a.name] =
          tensors(given.begin() + static_cast<std::ptrdiff_t>(next), given.begin() + static_cast<std::ptrdiff_t>(next + count));
      next += count;
    }
    if (next != given.size()) throw not_inlined{};
    for (const node_def& n : f.nodes) {
      if (b.arguments.contains(n.name) || b.names.contains(n.name)) throw not_inlined{};
      b.names.emplace(n.name, new_name(b.prefix + n.name));
    }
    for (const auto& [key, node] : f.control_ret) b.waited_for.insert(node);
    try {
      place_nodes(f.nodes, b);
    } catch (const not_inlined&) {
      for (const auto& [key, made] : b.names) names_.erase(made);
      throw;
    }
    std::unordered_map<std::string, const node_def*> bodies;
    for (const node_def& n : f.nodes) bodies.emplace(n.name, &n);
    outcome made;
    for (const operator_argument& a : f.signature->output_arg) {
      const auto from = std::find_if(f.ret.begin(), f.ret.end(), [&](const auto& entry) { return entry.key == a.name; });
      if (from == f.ret.end()) throw not_inlined{};
      const std::size_t count = count_of(a, attributes);
      const reference r = parse(from->value, false);
      for (std::size_t k = 0; k < count; ++k)
        made.values.push_back(resolve(r.has_index || count == 1 ? from->value : from->value + ":" + std::to_string(k), b, bodies));
    }
    std::set<std::string> known;
    for (const auto& [key, node] : f.control_ret)
      if (std::string c = resolve("^" + node, b, bodies); known.insert(c).second) made.controls.push_back(std::move(c));
    for (std::string& c : b.effects)
      if (known.insert(c).second) made.controls.push_back(std::move(c));
    made.acts = b.acts;
    return made;
  }

  // ---- branches ----

  static tensors with(const std::string& input, const tensors& controls) {
    tensors all{input};
    all.insert(all.end(), controls.begin(), controls.end());
    return all;
  }
  // A condition as a bool: numbers other than zero are true.
  std::string truth_of(const node_def& call, const std::string& tensor, data_type type, const tensors& controls) {
    if (type == data_type::boolean) return tensor;
    if (to_dtype(type) == dtype::invalid) throw not_inlined{};
    return make("Cast", call.name + "/pred", with(tensor, controls), {{"SrcT", type}, {"DstT", data_type::boolean}}, call.device);
  }
  // A tensor that is there whichever branch is taken, or in every iteration, as one that is there only with the pivot.
  std::string gated(const std::string& tensor, const std::string& pivot, data_type type, const node_def& call) {
    if (!waits_for_nothing(tensor)) return tensor;
    return make("Identity", call.name + "/Identity", {tensor, pivot}, {{"T", type}}, call.device);
  }

  template <class Then, class Else>
  outcome branch(const node_def& call, const body& outer, const std::string& decides, const tensors& arguments,
                 const std::vector<data_type>& types, const tensors& controls, Then then, Else otherwise) {
    auto given = types_in(call, "Tin");
    if (given.size() + 1 == arguments.size()) given.push_back(data_type::int32);  // the number of the branch, for those behind
    if (given.size() != arguments.size()) throw not_inlined{};
    const attribute_map truth{{"T", data_type::boolean}};
    const std::string condition = outer.pivot.empty() ? decides : gated(decides, outer.pivot, data_type::boolean, call);
    tensors twice{condition, condition};
    twice.insert(twice.end(), controls.begin(), controls.end());
    const std::string sides = make("Switch", call.name + "/switch_pred", std::move(twice), truth, call.device);
    const std::string pivots[]{make("Identity", call.name + "/pivot_f", {sides}, truth, call.device),
                               make("Identity", call.name + "/pivot_t", {sides + ":1"}, truth, call.device)};
    tensors sides_of[2];
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      // A handle is there for both branches: who writes through it, or reads, waits for the pivot.
      if (given[k] == data_type::resource) {
        unmoved_.insert(plain(arguments[k]));
        for (tensors& side : sides_of) side.push_back(arguments[k]);
        continue;
      }
      // Each branch has a node of its own, so that it belongs to the branch (named/exchange/restore_contexts.hpp).
      for (int side = 0; side < 2; ++side) {
        const std::string s = make("Switch", call.name + "/Switch", {arguments[k], condition}, {{"T", given[k]}}, call.device);
        sides_of[side].push_back(side == 0 ? s : s + ":1");
      }
    }
    const outcome results[]{otherwise(sides_of[0], "^" + pivots[0]), then(sides_of[1], "^" + pivots[1])};
    outcome made{.acts = results[0].acts || results[1].acts};
    for (const outcome& r : results)
      if (r.values.size() != types.size()) throw not_inlined{};
    for (std::size_t k = 0; k < types.size(); ++k) {
      tensors in;
      for (int side = 0; side < 2; ++side) in.push_back(gated(results[side].values[k], "^" + pivots[side], types[k], call));
      made.values.push_back(make("Merge", call.name + "/Merge", std::move(in), {{"T", types[k]}, {"N", 2}}, call.device));
    }
    if (types.empty() || !results[0].controls.empty() || !results[1].controls.empty()) {
      tensors ends;
      for (int side = 0; side < 2; ++side)
        ends.push_back(make("Identity", call.name + "/end", with(pivots[side], results[side].controls), truth, call.device));
      made.controls.push_back("^" +
                              make("Merge", call.name + "/ends", std::move(ends), {{"T", data_type::boolean}, {"N", 2}}, call.device));
    }
    return made;
  }
  static tensors with_number(tensors arguments, const std::string& number) {
    arguments.push_back(number);
    return arguments;
  }
  template <class F>
  static auto one_without_number(F f) {
    return [f](tensors given, const std::string& pivot) {
      given.pop_back();
      return f(given, pivot);
    };
  }
  // The branches from number k on; any number that has none takes the last.
  outcome cases(const node_def& call, const std::string& number, const tensors& arguments, const std::vector<data_type>& types,
                const tensors& controls, const body& outer, const std::vector<function_value>& branches, std::size_t k) {
    const function_value& f = branches[k];
    if (branches.size() == 1) return enter(f.name, f.attributes, arguments, call, controls, outer, outer.pivot);
    tensor_proto value{.dtype = data_type::int32, .field = tensor_field::int_val};
    const auto bits = static_cast<std::uint32_t>(k);
    for (int byte = 0; byte < 4; ++byte) value.bytes.push_back(static_cast<char>(bits >> (8 * byte) & 0xff));
    tensors of_constant = controls;
    if (!outer.pivot.empty()) of_constant.push_back(outer.pivot);
    const std::string which =
        make("Const", call.name + "/case", std::move(of_constant), {{"dtype", data_type::int32}, {"value", value}}, call.device);
    const std::string is_it = make("Equal", call.name + "/Equal", {number, which}, {{"T", data_type::int32}}, call.device);
    const auto one = [&](const function_value& its) {
      return [this, &call, &outer, &its](const tensors& given, const std::string& pivot) {
        return enter(its.name, its.attributes, given, call, {}, outer, pivot);
      };
    };
    if (k + 2 >= branches.size()) return branch(call, outer, is_it, arguments, types, controls, one(f), one(branches[k + 1]));
    return branch(call, outer, is_it, with_number(arguments, number), types, controls, one_without_number(one(f)),
                  [&](const tensors& given, const std::string& pivot) {
                    body inner = outer;
                    inner.pivot = pivot;
                    return cases(call, given.back(), tensors(given.begin(), given.end() - 1), types, {}, inner, branches, k + 1);
                  });
  }
  // ---- loops ----

  outcome loop(const node_def& call, const tensors& controls, const body& outer, const std::vector<data_type>& types) {
    if (types.size() != call.inputs.size()) throw not_inlined{};
    const function_value &cond = function_in(call, "cond"), &body_of = function_in(call, "body");
    const auto at = functions_.find(body_of.name);
    if (at == functions_.end()) throw not_inlined{};
    const function_def& f = *at->second;
    if (f.signature->input_arg.size() != types.size() || f.signature->output_arg.size() != types.size()) throw not_inlined{};
    const auto* said = call.attributes.find("parallel_iterations");
    const auto* parallel = said != nullptr ? said->get_if<std::int64_t>() : nullptr;
    const std::string frame = call.name + "/frame";
    // A variable that the body returns as it came is one value for the whole loop.
    std::vector<char> stays(types.size(), 0);
    for (std::size_t k = 0; k < types.size(); ++k) {
      const auto from =
          std::find_if(f.ret.begin(), f.ret.end(), [&](const auto& entry) { return entry.key == f.signature->output_arg[k].name; });
      if (from == f.ret.end()) throw not_inlined{};
      const reference r = parse(from->value, false);
      stays[k] = types[k] == data_type::resource || (r.node == f.signature->input_arg[k].name && r.out.empty());
    }
    tensors values, merges(types.size());
    std::vector<std::size_t> moving;
    for (std::size_t k = 0; k < types.size(); ++k) {
      const attribute_map attributes{{"T", types[k]},
                                     {"frame_name", frame},
                                     {"is_constant", stays[k] != 0},
                                     {"parallel_iterations", parallel != nullptr ? *parallel : std::int64_t{10}}};
      tensors in = with(call.inputs[k], controls);
      if (waits_for_nothing(call.inputs[k]) && !outer.pivot.empty()) in.push_back(outer.pivot);
      const std::string entered = make("Enter", call.name + "/Enter", std::move(in), attributes, call.device);
      if (stays[k] != 0) {
        unmoved_.insert(entered);
        values.push_back(entered);
        continue;
      }
      moving.push_back(k);
      merges[k] = make("Merge", call.name + "/Merge", {entered, entered}, {{"T", types[k]}, {"N", 2}}, call.device);
      merge_places_[merges[k]] = out_.size() - 1;
      values.push_back(merges[k]);
    }
    if (moving.empty()) throw not_inlined{};
    const outcome condition = enter(cond.name, cond.attributes, values, call, {}, outer, "^" + merges[moving.front()]);
    if (condition.values.size() != 1) throw not_inlined{};
    const auto* cond_of = functions_.at(cond.name);
    if (cond_of->signature->output_arg.size() != 1) throw not_inlined{};
    const std::string go_on = make(
        "LoopCond", call.name + "/LoopCond",
        with(gated(truth_of(call, condition.values[0], cond_of->signature->output_arg[0].type, {}), "^" + merges[moving.front()],
                   data_type::boolean, call),
             condition.controls),
        {}, call.device);
    tensors exits(types.size());
    for (const std::size_t k : moving) {
      const attribute_map type{{"T", types[k]}};
      const std::string s = make("Switch", call.name + "/Switch", {merges[k], go_on}, type, call.device);
      values[k] = make("Identity", call.name + "/Identity", {s + ":1"}, type, call.device);
      exits[k] = make("Exit", call.name + "/Exit", {s}, type, call.device);
    }
    const std::string pivot = "^" + values[moving.front()];
    const outcome step = enter(body_of.name, body_of.attributes, values, call, {}, outer, pivot);
    if (step.values.size() != types.size()) throw not_inlined{};
    for (const std::size_t k : moving) {
      const std::string next = make("NextIteration", call.name + "/NextIteration",
                                    with(gated(step.values[k], pivot, types[k], call), step.controls), {{"T", types[k]}}, call.device);
      out_[merge_places_.at(merges[k])].inputs[1] = next;
    }
    outcome made{.acts = condition.acts || step.acts};
    for (std::size_t k = 0; k < types.size(); ++k) made.values.push_back(stays[k] != 0 ? call.inputs[k] : exits[k]);
    if (!condition.controls.empty() || !step.controls.empty()) made.controls.push_back("^" + exits[moving.front()]);
    return made;
  }

  const graph_def& def_;
  function_library library_;
  std::unordered_map<std::string, const function_def*> functions_;
  std::vector<node_def> out_;
  std::size_t calls_ = 0, tried_nodes_ = 0;  // bodies of functions and the nodes in them, whether or not these stayed
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> numbers_;  // by name: the last number that was added to it
  std::unordered_set<std::string> unmoved_;  // tensors that are there whatever branch is taken, or in each iteration
  std::unordered_map<std::string, std::size_t> merge_places_;
};

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION graph_def inline_functions(const graph_def& def) {
  if (def.library.empty()) return def;
  return detail::function_inliner(def).run();
}

}  // namespace leat::io

namespace leat::detail {

LEAT_FILL(fill_function_inliner) { inliner_of_functions() = {io::inline_functions, io::merged_libraries, io::needed_functions}; }

}  // namespace leat::detail
