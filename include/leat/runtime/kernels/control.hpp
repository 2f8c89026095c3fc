#pragma once
// Kernels of control flow, of the stacks on which loops keep values for their gradients, and of side effects: printing, checking, calls of
// host functions. The executor handles dead values and frames; these kernels only forward values.

#include <leat/core/fill.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <cmath>
#include <iostream>
#include <mutex>

namespace leat::runtime {

/// A stack of values that a loop pushes and the loop of its gradient pops.
class value_stack final : public resource {
 public:
  value_stack(std::int64_t limit, std::string name) : limit_(limit), name_(std::move(name)) {}
  void push(tensor_value v) {
    // A stack that holds itself, directly or through another resource, would never be released.
    if (v.type() == resource_dtype && dynamic_cast<const closed_resource*>(v.held().get()) == nullptr)
      throw unimplemented("Stack[" + name_ + "] is to hold a handle");
    const std::lock_guard lock(guard_);
    if (closed_) throw invalid_argument("Stack[" + name_ + "] has already been closed.");
    if (limit_ >= 0 && static_cast<std::int64_t>(values_.size()) >= limit_)
      throw invalid_argument("Stack[" + name_ + "] overflowed its max_size (" + std::to_string(limit_) + ")");
    values_.push_back(std::move(v));
  }
  tensor_value pop() {
    const std::lock_guard lock(guard_);
    if (closed_) throw invalid_argument("Stack[" + name_ + "] has already been closed.");
    if (values_.empty()) throw invalid_argument("Stack[" + name_ + "] is empty when calling Pop().");
    tensor_value v = std::move(values_.back());
    values_.pop_back();
    return v;
  }
  void close() {
    const std::lock_guard lock(guard_);
    closed_ = true;
    values_.clear();
  }

 private:
  std::mutex guard_;
  std::vector<tensor_value> values_;
  std::int64_t limit_;
  std::string name_;
  bool closed_ = false;
};

template <class R>
R& held_as(const tensor_value& handle) {
  auto* found = dynamic_cast<R*>(handle.held().get());
  if (found == nullptr) throw invalid_argument("the handle is of a resource of another kind");
  return *found;
}

inline void run_print(kernel_context& c) {
  const std::int64_t first = c.node.integer("first_n", -1);
  if (first < 0 || static_cast<std::int64_t>(c.node.calls.fetch_add(1)) < first) {
    std::string text = c.node.text("message");
    for (int k = 1; k < c.input_count(); ++k) {
      const std::string part = summary_text(c.input(k), c.node.integer("summarize", 3));
      text += c.extent(k).rank == 0 ? "[" + part + "]" : part;
    }
    text += "\n";
    session_state& s = c.step.session;
    const std::lock_guard lock(s.log_guard);
    (s.log != nullptr ? *s.log : std::cerr) << text << std::flush;
  }
  c.set_token(0, c.incoming(0));
}

inline void run_print_text(kernel_context& c) {
  session_state& s = c.step.session;
  const std::lock_guard lock(s.log_guard);
  const std::string stream = c.node.text("output_stream");
  std::ostream& to = s.log != nullptr ? *s.log : stream == "stdout" ? std::cout : std::cerr;
  for (const auto& text : c.input(0).texts()) to << text;
  to << c.node.attribute<std::string>("end", "\n") << std::flush;
}

inline void run_assert(kernel_context& c) {
  const tensor_value& condition = c.input(0);
  if (condition.extent().rank != 0) throw invalid_argument("In[0] should be a scalar: " + brackets(condition.extent()));
  if (condition.as<bool>()) return;
  std::string text = "assertion failed:";
  for (int k = 1; k < c.input_count(); ++k) {
    const std::string part = summary_text(c.input(k), c.node.integer("summarize", 3));
    text += " " + (c.extent(k).rank == 0 ? "[" + part + "]" : part);
  }
  throw invalid_argument(text);
}

inline void run_check_numerics(kernel_context& c) {
  bool nan = false, infinite = false;
  with_fraction(c.type(0), [&]<class T>(T) {
    for (const T v : c.input(0).values<T>()) {
      nan = nan || std::isnan(v);
      infinite = infinite || std::isinf(v);
    }
  });
  if (nan || infinite)
    throw invalid_argument(c.node.text("message") + " : Tensor had " + (nan && infinite ? "NaN and Inf" : nan ? "NaN" : "Inf") + " values");
  c.set(0, c.take(0));
}

inline tensor_literal literal_of(const tensor_value& v) {
  if (v.type() == text_dtype) return {data_type::string, v.extent(), v.texts()};
  std::optional<tensor_literal> literal;
  with_dtype(v.type(), [&]<class T>(T) {
    const auto values = v.values<T>();
    literal = tensor_literal(v.extent(), std::vector<T>(values.begin(), values.end()));
  });
  return *literal;
}

inline std::vector<tensor_value> call_host_function(kernel_context& c, const std::string& token_text) {
  std::vector<tensor_value> inputs;
  for (int k = 0; k < c.input_count(); ++k) inputs.push_back(c.input(k));
  if (const auto given = c.step.session.host_functions.find(token_text)) return (*given)(inputs);
  const auto& built = c.node.owner->named().host_functions;
  const auto at = built.find(token_text);
  if (at == built.end())
    throw failed_precondition("the host function '" + token_text +
                              "' is not known to this session: it belongs to the program that built the graph");
  std::vector<tensor_literal> literals;
  for (const auto& v : inputs) literals.push_back(literal_of(v));
  std::vector<tensor_value> results;
  for (const auto& literal : at->second(literals)) results.emplace_back(literal);
  return results;
}

inline void run_host_function(kernel_context& c) {
  const std::string token_text = c.node.text("token");
  std::vector<tensor_value> results = call_host_function(c, token_text);
  const auto types = c.node.list<data_type>("Tout");
  if (static_cast<int>(results.size()) != c.result_count())
    throw invalid_argument("the host function '" + token_text + "' gave " + std::to_string(results.size()) + " values, not " +
                           std::to_string(c.result_count()));
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (k < types.size() && results[k].type() != static_cast<dtype>(types[k]))
      throw invalid_argument(std::to_string(k) + "-th value returned by the host function '" + token_text + "' is " +
                             dtype_name(results[k].type()) + ", but expects " + dtype_name(static_cast<dtype>(types[k])));
    c.set(static_cast<int>(k), results[k].kept());
  }
}

// Whether the node passes a variable on by its handle, to be read later, and not the value that it has now. A handle of anything else, such
// as a queue, is a value.
inline bool passes_handle(kernel_context& c) { return c.is_variable(0) && c.node.type_of("T") == resource_dtype; }

LEAT_FILL(fill_control_kernels) {
  const operator_kernel pass = [](kernel_context& c) { c.set_token(0, c.incoming(0)); };
  // Reading forwards the reference to the variable, which must already have a value.
  register_kernel("Identity", [](kernel_context& c) {
    if (passes_handle(c)) return c.set_variable(0, c.variable(0));
    if (c.is_variable(0) && !c.variable(0).is_initialized()) c.variable(0).fail();
    c.set_token(0, c.incoming(0));
  });
  // A loop reads a variable once, so that all iterations see one value, whatever other runs write meanwhile.
  register_kernel("Enter", [](kernel_context& c) {
    if (passes_handle(c)) c.set_variable(0, c.variable(0));
    else if (c.is_variable(0)) c.set(0, c.take(0));
    else c.set_token(0, c.incoming(0));
  });
  register_kernels(
      {"StopGradient", "PreventGradient", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "RefIdentity", "Snapshot"},
      pass);
  register_kernel("LoopCond", [](kernel_context& c) {
    if (c.extent(0).rank != 0) throw invalid_argument("LoopCond: the condition must be a scalar, got shape " + brackets(c.extent(0)));
    c.set(0, c.take(0));
  });
  const operator_kernel switched = [](kernel_context& c) {
    if (c.extent(1).rank != 0) throw invalid_argument("The second input must be a scalar, but it has shape " + brackets(c.extent(1)));
    const int taken = c.input(1).as<bool>() ? 1 : 0;
    c.set_token(taken, c.incoming(0));
    c.set_dead(1 - taken);
  };
  // A branch gets the variable's value at the time of the choice, whatever the other branch assigns.
  register_kernel("Switch", [switched](kernel_context& c) {
    const bool is_handle = passes_handle(c);
    if (!is_handle) static_cast<void>(c.input(0));
    const int taken = c.input(1).as<bool>() ? 1 : 0;
    switched(c);
    if (is_handle) c.set_variable(taken, c.variable(0));
    else c.set(taken, c.take(0));
  });
  register_kernel("RefSwitch", switched);
  const operator_kernel merged = [](kernel_context& c) {
    for (int k = 0; k < c.input_count(); ++k)
      if (const token& t = c.incoming(k); !t.dead && (t.value || t.variable != nullptr)) {
        c.set_token(0, t);
        c.set(1, tensor_value(static_cast<std::int32_t>(k)));
        return;
      }
    throw error("Merge: no input");
  };
  register_kernels({"Merge", "RefMerge"}, merged);
  register_kernel("RefSelect", [](kernel_context& c) {
    if (c.extent(0).rank != 0) throw invalid_argument("Index must be a scalar, but it has shape " + brackets(c.extent(0)));
    const std::int64_t at = c.number(0);
    if (at < 0 || at >= c.input_count() - 1)
      throw invalid_argument("Index must be in the range [0, " + std::to_string(c.input_count() - 1) + ") but got " + std::to_string(at));
    c.set_token(0, c.incoming(static_cast<int>(at) + 1));
  });
  register_kernels({"NoOp", "ControlTrigger"}, [](kernel_context&) {});
  register_kernel("Abort", [](kernel_context& c) {
    throw aborted(c.node.text("error_msg").empty() ? "Abort" : c.node.text("error_msg"));
  });

  register_kernel("StackV2", [](kernel_context& c) {
    c.set(0, tensor_value::handle(std::make_shared<value_stack>(c.number(0), c.node.name())));
  });
  register_kernel("Stack", [](kernel_context& c) { c.set(0, tensor_value::handle(std::make_shared<value_stack>(-1, c.node.name()))); });
  register_kernels({"StackPushV2", "StackPush"}, [](kernel_context& c) {
    held_as<value_stack>(c.input(0)).push(c.input(1));
    c.set(0, c.take(1));
  });
  register_kernels({"StackPopV2", "StackPop"}, [](kernel_context& c) { c.set(0, held_as<value_stack>(c.input(0)).pop()); });
  register_kernels({"StackCloseV2", "StackClose"}, [](kernel_context& c) { held_as<value_stack>(c.input(0)).close(); });

  register_kernel("Print", run_print);
  register_kernel("PrintV2", run_print_text);
  register_kernel("Assert", run_assert);
  register_kernel("CheckNumerics", run_check_numerics);
  register_kernels({"PyFunc", "PyFuncStateless"}, run_host_function);
}

}  // namespace leat::runtime
