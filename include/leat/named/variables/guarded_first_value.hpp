#pragma once
// Guards a variable's initial value that reads other variables, which may not be initialized yet.

#include <leat/named/graph/lookup.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/named/variables/initial_value.hpp>

namespace leat::detail {

// Rewrites an initial value so that it reads other variables only if they are initialized, and takes their initial values if they are not.
// The nodes in between are copied, with the new variable's name as suffix.
class guarded_first_value {
 public:
  guarded_first_value(graph& g, std::string_view variable_name) : g_(g), nodes_(g.named()), suffix_("_" + std::string(variable_name)) {}

  output guard(const output& value) {
    if (depends_on_loop(value.index())) return value;
    std::vector<std::pair<int, int>> open{{value.index(), 0}};  // nodes, each with the number of its inputs that are done
    while (!open.empty()) {
      auto& [index, done] = open.back();
      if (stands_for_itself(index) || g_.at(index).op->kind == op_kind::variable || done == nodes_.input_count(g_, index)) {
        const int finished = index;
        open.pop_back();
        if (!made_.contains(finished)) made_[finished] = rewrite(finished);
        continue;
      }
      const int next = nodes_.input(g_, index, done++).index();
      if (!made_.contains(next)) open.emplace_back(next, 0);
    }
    return at(value);
  }

 private:
  // A question, or a read of a variable by handle, which TensorFlow does not guard.
  bool stands_for_itself(int index) const {
    return g_.at(index).op->what.state == state_role::is_initialized ||
           (nodes_.input_count(g_, index) == 1 && nodes_.is_handle(nodes_.input(g_, index, 0)));
  }
  output at(const output& o) const {
    const output& made = made_.at(o.index());
    return static_cast<bool>(made) ? output(g_, made.index(), o.port()) : o;
  }
  bool depends_on_loop(int index) const {
    std::vector<int> open{index};
    std::unordered_set<int> seen{index};
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (g_.at(i).op->what.control == flow::next) return true;
      const auto add = [&](int from) {
        if (seen.insert(from).second) open.push_back(from);
      };
      for (int k = 0; k < nodes_.input_count(g_, i); ++k) add(nodes_.input(g_, i, k).index());
      for (int k = 0; k < g_.at(i).control_count; ++k) add(g_.control(g_.at(i), k));
    }
    return false;
  }
  // The node's replacement; empty if it needs none.
  output rewrite(int index) {
    if (stands_for_itself(index)) return {};
    if (g_.at(index).op->kind == op_kind::variable) {
      const int assigns = nodes_.record(index).initializer;
      if (assigns < 0 || !is_listed(index)) return {};
      // The other variable's initial value was guarded when that variable was made.
      return value_or({g_, index}, nodes_.input(g_, assigns, 1), std::source_location());
    }
    std::vector<output> inputs;
    bool changed = false;
    for (int k = 0; k < nodes_.input_count(g_, index); ++k) {
      const output before = nodes_.input(g_, index, k);
      inputs.push_back(at(before));
      changed = changed || inputs.back().index() != before.index();
    }
    if (!changed) return {};
    const node_record& r = nodes_.record(index);
    const facts& what = g_.at(index).op->what;
    const bool was_reference = what.control == flow::branch && what.forwards_reference;
    const std::string its_name = nodes_.names.node_name(r.name + suffix_ + "/");
    nodes_.names.take(its_name);
    node_request request{.op = was_reference ? &find_definition("Switch")->info : g_.at(index).op, .name = its_name};
    request.inputs = inputs;
    request.number_inputs = r.number_inputs;
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < g_.at(index).attribute_count; ++k) numbers.push_back(g_.attribute(g_.at(index), k));
    request.numbers = numbers;
    request.attributes = r.attributes;
    request.results.push_back(g_.at(index).result);
    request.results.append(r.further().data(), r.further().size());
    request.complete = r.complete;
    return {g_, nodes_.append(g_, std::move(request))};
  }
  bool is_listed(int index) const {
    for (const auto name : {collection::global_variables, collection::local_variables})
      for (const output& v : get_tensors(g_, name))
        if (v.index() == index) return true;
    return false;
  }

  graph& g_;
  named_part& nodes_;
  std::string suffix_;
  std::map<int, output> made_;  // by node; empty where the node needs no replacement
};

}  // namespace leat::detail
