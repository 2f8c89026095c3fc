#pragma once
// How `to_graph` writes typed gradients, training steps and `print`: it calls the functions of graphs with names. Including this header
// registers them.

#include <leat/core/fill.hpp>
#include <leat/named/exchange/graph_writer.hpp>
#include <leat/named/functions/print.hpp>
#include <leat/named/gradients/derivatives.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/ops/print.hpp>
#include <leat/train/named/optimizers.hpp>

namespace leat {

namespace detail {

inline output write_gradient(graph_writer& writer, const node& n) {
  std::vector<output>& all = writer.gradients[writer.number(n, 1)];
  if (all.empty()) {
    const auto kind = static_cast<passes::derivative_kind>(writer.number(n, 2));
    const auto operands = [&](int first, int count) {
      std::vector<output> list;
      for (int k = first; k < first + count; ++k) list.push_back(writer.input(n, k));
      return list;
    };
    const auto y_count = static_cast<int>(writer.number(n, 3));
    const int rest = n.input_count - y_count;
    const auto ys = operands(0, y_count);
    if (kind == passes::derivative_kind::gradient) {
      all = leat::gradients(ys, operands(y_count, rest));
    } else if (kind == passes::derivative_kind::weighed_gradient) {
      all = leat::gradients(ys, operands(y_count, rest - y_count), {.grad_ys = operands(rest, y_count)});
    } else {
      all = leat::jvp(ys, operands(y_count, rest / 2), operands(y_count + rest / 2, rest / 2));
    }
  }
  const output made = all[static_cast<std::size_t>(writer.number(n, 0))];
  if (!static_cast<bool>(made)) throw unimplemented("to_graph: a gradient that no named operator passes");
  return made;
}
inline output write_step(graph_writer& writer, const node& n) {
  const auto count = static_cast<int>(writer.number(n, 1));
  int next = count == 0 ? 1 : 2 * count;
  output counter;
  if (writer.number(n, 2) != 0) counter = writer.input(n, next++);
  std::vector<operand_value> settings;
  for (int k = 3; k < n.attribute_count; k += 2) {
    if (writer.number(n, k) != 0) {
      settings.emplace_back(writer.carried(writer.number(n, k + 1)));
    } else {
      const auto plain = writer.plain_number(n, next);
      if (plain) settings.emplace_back(static_cast<double>(*plain));
      else settings.emplace_back(writer.input(n, next));
      ++next;
    }
  }
  const auto rule = find_rule(static_cast<std::uint64_t>(writer.number(n, 0)));
  if (!rule) throw unimplemented("to_graph: a rule of an optimizer that graphs with names do not know");
  optimizer_description what = describe_rule(*rule, settings);
  if (count != 0) what.adds_equal_rows = false;  // each index occurs once in the given rows
  const named_optimizer optimizer(std::move(what));
  graph_operation step;
  if (count == 0) {
    step = optimizer.minimize(writer.input(n, 0), {.global_step = counter});
  } else {
    std::vector<variable_gradient> pairs;
    for (int k = 0; k < count; ++k) {
      const output variable = writer.input(n, count + k);
      const node& from = writer.row_of(n, k);
      if (!is_operator<deferred_rows_op>(*from.op)) pairs.push_back({gradient_value(writer.input(n, k)), variable});
      else pairs.push_back({{writer.input(from, 0), writer.input(from, 1), shape_of(variable)}, variable});
    }
    if (writer.change_gradients) writer.change_gradients(pairs);
    step = optimizer.apply_gradients(pairs, counter);
  }
  return {step.owner(), step.index()};
}
// Writes no node: the training step uses the rows directly.
inline output write_rows(graph_writer& writer, const node& n) { return writer.input(n, 0); }
inline output write_print(graph_writer& writer, const node& n) {
  std::vector<operand_value> data;
  for (int k = 1; k < n.input_count; ++k) data.emplace_back(writer.input(n, k));
  std::vector<std::int64_t> message;
  for (int k = 2 + n.input_count; k < n.attribute_count; ++k) message.push_back(writer.number(n, k));
  const auto text = text_in(message.data());
  return leat::print(writer.input(n, 0), data, {.message = {text.begin(), text.end()}, .summarize = writer.number(n, 0)});
}
LEAT_FILL(fill_deferred_writers) {
  enter_deferred_writer(print_op::type, write_print);
  enter_deferred_writer(deferred_gradient_op::type, write_gradient);
  enter_deferred_writer(deferred_step_op::type, write_step);
  enter_deferred_writer(deferred_rows_op::type, write_rows);
}

}  // namespace detail

}  // namespace leat
