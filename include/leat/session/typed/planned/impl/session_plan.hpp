#pragma once
// Planning of the programs of typed sessions: the bodies of session_plan.hpp's functions.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/cpu/interpret.hpp>
#include <leat/ops/converged.hpp>
#include <leat/ops/known.hpp>
#include <leat/passes/deferred.hpp>
#include <leat/passes/gradient.hpp>
#include <leat/passes/lower.hpp>
#include <leat/session/typed/planned/expression_rows.hpp>
#include <leat/ops/print.hpp>
#include <leat/session/typed/planned/session_plan.hpp>

#include <string>

namespace leat::detail {

// Operators of typed expressions that graph files do not know. The print_op here is not the node Print of graphs with names, which writes
// to a session's log.
inline const op_info* own_operator_of_expressions(int code) {
  static constexpr const op_info* all[]{&info_of<number_op>, &info_of<extent_op>, &info_of<index_op>, &info_of<check_range_op>,
                                        &info_of<print_op>,  &info_of<check_converged_op>};
  for (const op_info* op : all)
    if (op->code == code) return op;
  return nullptr;
}
// What is known of a row's operator, by one look-up for all.
inline known_operator known_operator_of(std::string_view type) {
  operators();
  return deferred_expanders().find(type);
}

// Enters rows into a graph in the order in which `flatten` enters expressions, so that the program equals the one that the compiler makes.
class row_writer {
 public:
  row_writer(graph& g, const expression_rows& rows)
      : g_(g), rows_(rows), made_(static_cast<std::size_t>(rows.size()), -1), ids_(static_cast<std::size_t>(rows.size())) {
    for (int k = 0; k < rows.ids(); ++k) ids_[static_cast<std::size_t>(rows.row_of_id(k))].push_back(rows.id(k));
    for (int k = 0; k < rows.dimensions(); ++k) g.name_dimension(rows.dimension(k), kept(rows.text_of_dimension(k)));
  }
  /// The node of the expression with this id. Errors: invalid_argument if the session does not have it.
  int enter(std::uint64_t id) {
    const int target = rows_.find(id);
    if (target < 0) throw invalid_argument("an expression that the session was not made of");
    std::vector<int> open{target};
    while (!open.empty()) {
      const int k = open.back();
      if (made_[static_cast<std::size_t>(k)] >= 0) {
        open.pop_back();
        continue;
      }
      const auto r = rows_.at(k);
      const std::size_t before = open.size();
      for (int i = r.input_count; i-- > 0;)
        if (made_[static_cast<std::size_t>(r.inputs[i])] < 0) open.push_back(static_cast<int>(r.inputs[i]));
      for (int i = r.control_count; i-- > 0;)
        if (made_[static_cast<std::size_t>(r.controls[i])] < 0) open.push_back(static_cast<int>(r.controls[i]));
      if (open.size() != before) continue;
      open.pop_back();
      const int node = write(r);
      made_[static_cast<std::size_t>(k)] = node;
      for (const std::uint64_t known : ids_[static_cast<std::size_t>(k)])
        if (g_.find(known) < 0) g_.remember(known, node);
    }
    return made_[static_cast<std::size_t>(target)];
  }

 private:
  std::string_view kept(const std::int64_t* text) {
    const auto all = text_in(text);
    return g_.keep({all.data(), all.size()}, {});
  }
  static const op_info& operator_of(const expression_rows::row& r, std::string_view name, const known_operator& known) {
    if (const op_info* own = own_operator_of_expressions(r.code)) return *own;
    for (const op_info* op : {known.of_expressions, known.of_files})
      if (op != nullptr && op->code == r.code) return *op;
    if (name.ends_with(further_result_suffix)) {
      const op_info* const of = find_operator(name.substr(0, name.size() - further_result_suffix.size()));
      if (of != nullptr && of->further != nullptr && of->further().code == r.code) return of->further();
    }
    throw invalid_argument("the operator " + std::string(name) +
                           " is not registered, and planned sessions find operators by their type: call leat::use_operator<Op>() before "
                           "the session is made (leat/cpu/use_operator.hpp)");
  }
  int write(const expression_rows::row& r) {
    std::vector<int> inputs, controls;
    for (int i = 0; i < r.input_count; ++i) inputs.push_back(made_[static_cast<std::size_t>(r.inputs[i])]);
    for (int i = 0; i < r.control_count; ++i) controls.push_back(made_[static_cast<std::size_t>(r.controls[i])]);
    const std::span<const std::int64_t> attributes(r.attributes, static_cast<std::size_t>(r.attribute_count));
    const auto type = text_in(rows_.type_of(r));
    const std::string_view name(type.data(), type.size());
    const known_operator known = known_operator_of(name);
    if (known.expand != nullptr) {
      const int made = known.expand(g_, {inputs, attributes});
      return controls.empty() ? made : copy_after(g_, made, controls);
    }
    const op_info& op = operator_of(r, name, known);
    switch (op.kind) {
      case op_kind::placeholder:
      case op_kind::variable:
      case op_kind::constant:
      case op_kind::number:
      case op_kind::extent:
      case op_kind::index: {
        const std::string_view its_name = r.name == 0 ? std::string_view{} : kept(rows_.text_at(r.name));
        return g_.add_leaf(op, r.result, its_name, r.id, attributes);
      }
      default: return g_.add(op, inputs, attributes, controls);
    }
  }

  graph& g_;
  const expression_rows& rows_;
  std::vector<int> made_;
  std::vector<std::vector<std::uint64_t>> ids_;
};

inline int expand_gradient(graph& g, const deferred_row& row) {
  const auto base = static_cast<std::uint64_t>(row.attributes[1]);
  const auto id_of = [&](std::size_t k) { return mix(base, k + 1000); };
  const auto wanted = static_cast<std::size_t>(row.attributes[0]);
  if (const int known = g.find(id_of(wanted)); known >= 0) return known;
  const auto made = passes::derivatives(g, static_cast<passes::derivative_kind>(row.attributes[2]), row.inputs,
                                        static_cast<std::size_t>(row.attributes[3]));
  for (std::size_t k = 0; k < made.size(); ++k) g.remember(id_of(k), made[k]);
  return made[wanted];
}
LEAT_FILL(fill_gradient_expander) { enter_deferred_expander<deferred_gradient_op>(expand_gradient); }

struct planned_code::parts {
  explicit parts(const program& p) : code(p) {}
  cpu::interpreter code;
};

LEAT_FUNCTION planned_code::planned_code(const session_plan& of, std::span<const std::uint64_t> fetches) {
  const expression_rows rows(of.rows());
  graph g;
  for (int k = 0; k < rows.models(); ++k) g.note_models(rows.number_of_models(k));
  row_writer writer(g, rows);
  list<int> targets;
  for (const std::uint64_t id : fetches) targets.push_back(writer.enter(id));
  parts_ = std::make_unique<parts>(passes::compile(g, std::move(targets)));
  data_ = parts_->code.data();
  const program_view v = view();
  for (int b = 0; b < v.buffers(); ++b) {
    const auto info = v.buffer_at(b);
    if (info.where == storage::feed || info.where == storage::number) leaves_.push_back({info.id, b});
    if (info.where == storage::number) (info.extent.rank == 0 ? numbers_ : arrays_).push_back({info.id, b});
  }
  for (int k = 0; k < v.names(); ++k) names_.push_back(v.name(k));
}
LEAT_FUNCTION planned_code::~planned_code() = default;
struct planned_code::direct {
  cpu::direct_program program;
};
LEAT_FUNCTION void planned_code::delete_direct::operator()(direct* d) const { delete d; }
LEAT_FUNCTION planned_code::direct_calls planned_code::resolve(const program_plan& plan) const {
  auto made = parts_->code.direct(plan.numbers.data());
  return direct_calls(made ? new direct{std::move(*made)} : nullptr);
}
LEAT_FUNCTION void planned_code::run(const workspace& w, direct* calls) const {
  if (calls != nullptr) parts_->code.run_direct(w, calls->program);
  else parts_->code.run_in_mode(w);
}
LEAT_FUNCTION void planned_code::run(const workspace& w, step_listener& listener) const { parts_->code.run(w, listener); }

LEAT_FUNCTION session_plan::session_plan(const std::int64_t* rows, std::span<const std::uint64_t> targets) : rows_(rows) {
  const expression_rows read(rows);
  graph g;
  row_writer writer(g, read);
  for (const std::uint64_t id : targets) writer.enter(id);
  table_ = pack_session(g);
  if (const message problem = view().problem(); problem.size > 0) throw invalid_argument(std::string(problem.view()));
}

}  // namespace leat::detail
