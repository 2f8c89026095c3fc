#pragma once
// Runs an operator that has a definition (element function, reduction, view, array kernel, composite), or is rewritten to operators that
// have (canonical_rewrite.hpp), as a program of one node: the passes compile it for the current shapes, the interpreter runs it, and the
// node keeps it for the next call with these shapes. So every operator of typed expressions, including user-defined ones, runs in graphs
// with names.

#include <leat/cpu/interpret.hpp>
#include <leat/named/canonical/rewrite.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/arithmetic.hpp>
#include <leat/ops/array_parts.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/ops/reduction.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/text_places.hpp>
#include <leat/runtime/kernels/value_list.hpp>

namespace leat::runtime {

/// The number of a node's last inputs that are attributes given as tensors. A node created by its TensorFlow name alone has them as
/// operands; then the operator's form determines the number.
inline int number_inputs_of(const op_info& op, const node_record& r) {
  if (r.number_inputs > 0) return r.number_inputs;
  int held = 0;
  for (const field& f : op.form) held += is_number_input(f.kind) ? 1 : 0;
  return held;
}

/// A node's program for one set of dtypes and shapes, if it is a single call of an element function: such a call needs no program around
/// it. Immutable, so that several runs may use it without a lock.
class node_function {
 public:
  static constexpr int most_inputs = 3;

  /// The function of a program that is about to run for the first time; null if the program is not one call from operands to the result.
  /// `operands` maps buffers to inputs.
  static std::unique_ptr<const node_function> of(const cpu::bound_program& bound, std::span<const tensor_info> inputs,
                                                 const tensor_info& result, const std::vector<std::pair<int, int>>& operands, int fetch) {
    using kind = cpu::direct_call::kind;
    const cpu::direct_program* const direct = bound.direct();
    if (direct == nullptr || direct->calls.size() != 1 || inputs.size() > most_inputs || inputs.empty()) return nullptr;
    const cpu::direct_call& call = direct->calls[0];
    if ((call.what != kind::block && call.what != kind::single) || call.repeated) return nullptr;
    auto made = std::make_unique<node_function>();
    for (const std::byte* p : call.at)
      if (p != nullptr) return nullptr;  // the program's own memory
    bool writes = false;
    for (const auto& b : direct->buffers)
      for (const auto& a : b.addresses) {
        if (a.offset != 0) return nullptr;
        if (b.number == fetch) {
          if (a.operand != 0) return nullptr;
          writes = true;
          continue;
        }
        const auto found = std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.first == b.number; });
        if (found == operands.end() || a.operand == 0) return nullptr;
        made->from_[a.operand - 1] = found->second;
      }
    if (!writes) return nullptr;
    made->count_ = static_cast<int>(inputs.size());
    std::copy(inputs.begin(), inputs.end(), made->inputs_);
    made->result_ = result;
    if (call.what == kind::block) made->block_ = call.block;
    else made->single_ = call.single;
    made->n_ = call.what == kind::block ? call.n : 1;
    made->rows_ = call.rows;
    return made;
  }

  /// Number of elements.
  std::int64_t size() const { return n_; }
  /// Computes the result of these inputs. Returns false, without effect, if they are variables or have other dtypes or shapes. `input(k)`
  /// is a token; `is_last(k)` is whether this is its last use, so that its memory may become the result's.
  template <class Input, class IsLast>
  bool run(int count, Input input, IsLast is_last, token& result) const {
    if (count != count_) return false;
    for (int k = 0; k < count; ++k) {
      const token& t = input(k);
      if (t.variable != nullptr || t.dead || !t.value || t.value.type() != inputs_[k].type || !(t.value.extent() == inputs_[k].extent))
        return false;
    }
    const void* at[most_inputs];
    for (int k = 0; k < most_inputs; ++k) at[k] = from_[k] < 0 ? nullptr : std::as_const(input(from_[k]).value).data();
    int reused = -1;
    for (int k = 0; k < count && reused < 0; ++k)
      if (is_last(k) && inputs_[k].type == result_.type && inputs_[k].extent == result_.extent && input(k).value.is_alone()) reused = k;
    if (reused >= 0) result.value = std::move(input(reused).value);
    else result.value = tensor_value(result_.type, result_.extent);
    const cpu::flush_denormals mode;
    if (block_ != nullptr) block_(result.value.data(), at[0], at[1], at[2], n_, rows_);
    else single_(result.value.data(), at[0], at[1], at[2]);
    return true;
  }

 private:
  int count_ = 0;
  int from_[most_inputs]{-1, -1, -1};  // indexed by the function's operand: the input
  cpu::block_function block_ = nullptr;
  cpu::single_function single_ = nullptr;
  std::int64_t n_ = 0;
  unsigned rows_ = 0;
  tensor_info result_;
  tensor_info inputs_[most_inputs];
};

/// The programs of one node, keyed by shapes and attribute values.
class node_programs final : public kernel_memory {
 public:
  void run(kernel_context& c) {
    entry* found = nullptr;
    for (auto& e : entries_)
      if (fits(*e, c)) {
        found = e.get();
        break;
      }
    if (found == nullptr) {
      auto made = make(c);
      if (entries_.size() < most) {
        entries_.push_back(std::move(made));
        found = entries_.back().get();
      } else {
        next_ = (next_ + 1) % most;
        if (last_ == entries_[next_].get()) last_ = nullptr;
        entries_[next_] = std::move(made);
        found = entries_[next_].get();
      }
    }
    if (found->passes_through) return c.set(0, c.take(0));
    tensor_value result(found->results[0].type, found->results[0].extent);
    std::vector<tensor_value> further;
    for (std::size_t k = 1; k < found->results.size(); ++k) further.emplace_back(found->results[k].type, found->results[k].extent);
    if (found->code && !found->bound->is_ready()) find_function(*found, c);
    if (found->code) {
      std::byte nothing[8];  // stands for an array without elements
      const auto place = [&](const std::byte* data) { return data != nullptr ? const_cast<std::byte*>(data) : nothing; };
      for (const auto& [buffer, operand] : found->operands) found->bound->bind(buffer, place(c.input(operand).data()));
      found->bound->bind(found->fetches[0], place(result.data()));
      for (std::size_t k = 0; k < further.size(); ++k) found->bound->bind(found->fetches[k + 1], place(further[k].data()));
      if (!found->bound->is_ready() && last_ != nullptr && last_ != found && last_->bound) found->bound->take_memory(*last_->bound);
      last_ = found;
      // Interruption is safe, because the results of a node that does not finish are never read.
      const step_interruption stop(c.step);
      const cpu::scoped_interruption within(&stop);
      found->bound->run();
    }
    c.set(0, std::move(result));
    for (std::size_t k = 0; k < further.size(); ++k) c.set(static_cast<int>(k) + 1, std::move(further[k]));
  }

 private:
  static constexpr std::size_t most = 16;
  struct entry {
    std::vector<tensor_info> infos;
    std::vector<std::string> numbers;  // the bytes of the inputs that are attributes
    std::vector<tensor_info> results;
    bool passes_through = false;
    std::optional<cpu::interpreter> code;
    std::optional<cpu::bound_program> bound;
    std::vector<std::pair<int, int>> operands;  // buffer, operand
    std::vector<int> fetches;
  };

  int operand_count(const kernel_context& c) {
    if (held_ < 0) held_ = number_inputs_of(*c.node.owner->at(c.node.index).op, *c.node.record);
    return c.input_count() - held_;
  }

  bool fits(const entry& e, kernel_context& c) {
    const int operands = operand_count(c);
    for (int k = 0; k < c.input_count(); ++k) {
      const tensor_value& in = c.input(k);
      const tensor_info& info = e.infos[static_cast<std::size_t>(k)];
      if (in.type() != info.type || !(in.extent() == info.extent)) return false;
      if (k < operands) continue;
      const std::string& bytes = e.numbers[static_cast<std::size_t>(k - operands)];
      if (std::memcmp(bytes.data(), in.data(), in.bytes()) != 0) return false;
    }
    return true;
  }

  std::unique_ptr<entry> make(kernel_context& c) {
    const op_info& op = *c.node.owner->at(c.node.index).op;
    auto made = std::make_unique<entry>();
    const int operands = operand_count(c);
    std::vector<tensor_proto> held;
    for (int k = 0; k < c.input_count(); ++k) {
      const tensor_value& in = c.input(k);
      if (size_of(in.type()) == 0) throw unimplemented("no kernel for dtype " + dtype_name(in.type()));
      made->infos.push_back({in.type(), in.extent()});
      if (k < operands) continue;
      made->numbers.emplace_back(reinterpret_cast<const char*>(in.data()), in.bytes());
      held.push_back(in.proto());
    }
    number_values values;
    for (const auto& p : held) values.push_back(&p);
    const std::span<const tensor_info> infos(made->infos.data(), static_cast<std::size_t>(operands));
    graph table;
    std::vector<int> rows;
    const auto add_leaves = [&] {
      for (int k = 0; k < operands; ++k)
        rows.push_back(table.add_leaf(info_of<placeholder_op>, made->infos[static_cast<std::size_t>(k)],
                                      table.keep("input ", std::to_string(k)), static_cast<std::uint64_t>(k) + 1));
    };
    if (op.infer == nullptr) {
      add_leaves();
      const canonical_rewrite& rewrite = *leat::detail::find_rewrite(op.type);
      std::vector<output> of;
      for (int k : rewrite.operands) {
        if (k >= operands) throw invalid_argument("a " + std::string(op.type) + " of " + std::to_string(operands) + " inputs");
        of.emplace_back(table, rows[static_cast<std::size_t>(k)]);
      }
      const output row = rewrite.make(table, of, graph_operation(*c.node.owner, c.node.index));
      if (!static_cast<bool>(row)) throw invalid_argument("a " + std::string(op.type) + " of inputs that do not fit each other");
      finish(*made, table, {row.index()});
      return made;
    }
    const auto fields = form_of(op, operands);
    const auto numbers = numbers_from(fields, c.node.record->attributes, values, infos);
    if (!numbers && is_operator<euclidean_norm_op>(op)) {  // of single elements
      add_leaves();
      finish(*made, table, {make_node<abs_op>({}, output{table, rows[0]}).index()});
      return made;
    }
    if (!numbers) {
      if (op.kind != op_kind::reduction && !is_operator<mean_op>(op))
        throw unimplemented("a " + std::string(op.type) + " with these numbers");
      made->passes_through = true;  // reduces along no axis
      return made;
    }
    add_leaves();
    std::vector<int> targets{add_definition(table, op, rows, *numbers)};
    for (int port = 1; port < c.node.record->results; ++port) {
      if (op.further == nullptr) throw unimplemented("result " + std::to_string(port) + " of a " + std::string(op.type));
      targets.push_back(leat::detail::result_row(op, table, rows, *numbers, port).index());
    }
    finish(*made, table, targets);
    return made;
  }
  static void finish(entry& made, const graph& table, const std::vector<int>& rows) {
    const op_info& op = *table.at(rows[0]).op;
    std::int64_t elements = 0;
    for (const int row : rows) {
      made.results.push_back(table.at(row).result);
      if (!made.results.back().extent.is_static()) throw unimplemented("a " + std::string(op.type) + " whose result's shape is not known");
      elements += made.results.back().extent.elements();
    }
    // Results without elements need no run, unless indices must be checked against their range.
    if (elements == 0 && !op.may_refuse && !is_operator<gather_op>(op)) return;
    made.code.emplace(passes::compile(table, rows));
    made.bound.emplace(*made.code);
    const program_view v = made.code->view();
    for (std::size_t k = 0; k < rows.size(); ++k) made.fetches.push_back(v.fetch(static_cast<int>(k)));
    for (int b = 0; b < v.buffers(); ++b)
      if (v.buffer_at(b).where == storage::feed) made.operands.emplace_back(b, static_cast<int>(v.buffer_at(b).id) - 1);
  }

  // Only for a program that needs no memory, because memory belongs to the last program that ran.
  void find_function(entry& e, kernel_context& c) {
    if (functions_.size() >= most_functions || operand_count(c) != c.input_count() || e.results.size() > 1 || e.bound->needed_bytes() > 0)
      return;
    e.bound->reserve();
    auto made = node_function::of(*e.bound, e.infos, e.results[0], e.operands, e.fetches[0]);
    if (made == nullptr) return;
    c.node.function.store(made.get(), std::memory_order_release);
    functions_.push_back(std::move(made));
  }

  static constexpr std::size_t most_functions = 8;
  std::vector<std::unique_ptr<const node_function>> functions_;  // all that were made, because another run may still use one
  std::vector<std::unique_ptr<entry>> entries_;
  std::size_t next_ = 0;
  entry* last_ = nullptr;  // the last that ran; it holds the memory
  int held_ = -1;          // number of inputs that are attributes
};

// Gradients of lists of tensors are lists, and add up.
inline void add_lists(kernel_context& c) {
  tensor_value sum = c.input(0);
  for (int k = 1; k < c.input_count(); ++k) sum = sum_of_lists(sum, c.input(k));
  c.set(0, std::move(sum));
}

/// Runs a node by its operator's definition.
inline void run_definition(kernel_context& c) {
  const op_info& op = *c.node.owner->at(c.node.index).op;
  const bool is_equal = is_operator<equal_op>(op), compares = is_equal || is_operator<not_equal_op>(op);
  if (compares && c.input_count() == 2 && c.type(0) == text_dtype) return compare_texts(c, is_equal);
  if (op.what.narrow == narrow_rule::moves)
    for (int k = 0; k < c.input_count(); ++k)
      if (c.type(k) == text_dtype) return run_on_places(c, run_definition);
  // With incompatible_shape_error=false, shapes that do not broadcast are unequal.
  if (compares && !c.node.flag("incompatible_shape_error", true) && !broadcast(c.extent(0), c.extent(1)).ok)
    return c.set(0, tensor_value(!is_equal));
  if (is_operator<add_n_op>(op) && c.input_count() > 0 && c.type(0) == resource_dtype) return add_lists(c);
  const std::lock_guard lock(c.node.guard);
  if (c.node.memory == nullptr) c.node.memory = std::make_unique<node_programs>();
  static_cast<node_programs&>(*c.node.memory).run(c);
}

}  // namespace leat::runtime
