#pragma once
// Kernels of variables: reading, assigning, scattering, the optimizers' updates. All operands are checked before a variable is changed, so
// a failing step leaves no variable half written. The arithmetic is TensorFlow's, element by element.

#include <leat/core/fill.hpp>
#include <leat/proto/operator_names.hpp>
#include <leat/runtime/kernels/element_blocks.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>

namespace leat::runtime {

inline void want_shape(const char* op, const shape& of_variable, const shape& of_value) {
  if (!(of_variable == of_value))
    throw invalid_argument(std::string(op) + " requires shapes of both tensors to match. lhs shape= " + brackets(of_variable) +
                           " rhs shape= " + brackets(of_value));
}

inline void run_assign(kernel_context& c) {
  variable_slot& v = c.variable(0);
  tensor_value value = c.take(1);
  if (value.type() != v.type())
    throw invalid_argument("Assign: the variable is " + dtype_name(v.type()) + ", the value " + dtype_name(value.type()));
  if (c.node.flag("validate_shape", true)) {
    shape wanted = v.extent();
    if (v.is_initialized()) {
      try {
        wanted = v.read().extent();
      } catch (const failed_precondition&) {  // the variable was destroyed in between
      }
    }
    if (wanted.has_rank() ? !may_equal(wanted, value.extent()) : false) want_shape("Assign", wanted, value.extent());
  }
  v.assign(std::move(value));
  c.set_variable(0, v);
}

template <bool Add>
void run_assign_change(kernel_context& c) {
  variable_slot& v = c.variable(0);
  const tensor_value value = c.input(1);
  with_number(v.type(), [&]<class T>(T) {
    v.update(
        [&](const tensor_value& held) {
          if (value.type() != held.type())
            throw invalid_argument("the variable is " + dtype_name(held.type()) + ", the value " + dtype_name(value.type()));
          want_shape("Assign", held.extent(), value.extent());
        },
        [&](tensor_value& held) {
          T* to = held.values<T>().data();
          const T* from = value.values<T>().data();
          combine(to, from, held.elements(), [](T a, T b) { return Add ? arithmetic<T>::add(a, b) : arithmetic<T>::subtract(a, b); });
        });
  });
  c.set_variable(0, v);
}

enum class scatter_kind { update, add, sub, mul, div, min, max };

template <class T>
T scattered(scatter_kind kind, T a, T b) {
  switch (kind) {
    case scatter_kind::update: return b;
    case scatter_kind::min: return b < a ? b : a;
    case scatter_kind::max: return a < b ? b : a;
    default: break;
  }
  if constexpr (std::is_same_v<T, bool>) {
    return a;
  } else {
    switch (kind) {
      case scatter_kind::add: return arithmetic<T>::add(a, b);
      case scatter_kind::sub: return arithmetic<T>::subtract(a, b);
      case scatter_kind::mul: return arithmetic<T>::multiply(a, b);
      case scatter_kind::div: return arithmetic<T>::divide(a, b);
      default: return a;
    }
  }
}

/// Updates row `indices[k]` of `to` with row `k` of the updates; with `single`, with one value for all elements.
template <class T>
void scatter_rows(scatter_kind kind, T* to, std::int64_t width, const std::vector<std::int64_t>& indices, const T* from, bool single) {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    T* row = to + indices[k] * width;
    const T* source = single ? from : from + static_cast<std::int64_t>(k) * width;
    for (std::int64_t j = 0; j < width; ++j) row[j] = scattered(kind, row[j], single ? *source : source[j]);
  }
}

inline void check_indices(const std::vector<std::int64_t>& indices, std::int64_t rows, std::string_view name = "indices") {
  for (std::size_t k = 0; k < indices.size(); ++k)
    if (indices[k] < 0 || indices[k] >= rows)
      throw invalid_argument(std::string(name) + "[" + std::to_string(k) + "] = " + std::to_string(indices[k]) + " is not in [0, " +
                             std::to_string(rows) + ")");
}

inline void run_scatter(kernel_context& c, scatter_kind kind) {
  variable_slot& v = c.variable(0);
  const auto indices = c.numbers(1);
  const shape index_shape = c.extent(1);
  const tensor_value updates = c.input(2);
  const auto scatter = [&]<class T>(T) {
    v.update(
        [&](const tensor_value& held) {
          const shape& s = held.extent();
          if (s.rank < 1) throw invalid_argument("params must be at least 1-D, got shape " + brackets(s));
          shape wanted = index_shape;
          for (int i = 1; i < s.rank; ++i) wanted.push(s[i]);
          if (updates.type() != held.type())
            throw invalid_argument("updates are " + dtype_name(updates.type()) + ", the variable " + dtype_name(held.type()));
          if (updates.extent().rank != 0 && !(updates.extent() == wanted))
            throw invalid_argument("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape " +
                                   brackets(updates.extent()) + ", indices.shape " + brackets(index_shape) + ", params.shape " +
                                   brackets(s));
          check_indices(indices, s[0]);
          if constexpr (std::is_integral_v<T>)
            if (kind == scatter_kind::div && !indices.empty())
              for (const T u : updates.values<T>())
                if (u == T(0)) throw invalid_argument("Integer division by zero");
        },
        [&](tensor_value& held) {
          if (held.elements() == 0) return;
          scatter_rows(kind, held.values<T>().data(), held.elements() / held.extent()[0], indices, updates.values<T>().data(),
                       updates.extent().rank == 0);
        });
  };
  if (kind == scatter_kind::update && v.type() == dtype::boolean) scatter(bool{});
  else with_number(v.type(), scatter);
  c.set_variable(0, v);
}

/// Checks what a node does with indices outside its array: TensorFlow's usual way is to reject them. Errors: unimplemented for others.
inline void want_known_policy(const kernel_node& n) {
  const std::string policy = n.text("bad_indices_policy");
  if (!policy.empty() && policy != "DEFAULT" && policy != "ERROR")
    throw unimplemented("bad_indices_policy '" + policy + "' is none of DEFAULT and ERROR");
}

inline void run_scatter_nd_into_variable(kernel_context& c, scatter_kind kind) {
  want_known_policy(c.node);
  variable_slot& v = c.variable(0);
  const auto indices = c.numbers(1);
  const shape index_shape = c.extent(1);
  const tensor_value updates = c.input(2);
  const auto scatter = [&]<class T>(T) {
    std::vector<std::int64_t> rows;
    std::int64_t width = 1;
    v.update(
        [&](const tensor_value& held) {
          const shape& s = held.extent();
          const std::int64_t depth = index_shape.rank == 0 ? 1 : index_shape[index_shape.rank - 1];
          if (updates.type() != held.type())
            throw invalid_argument("updates are " + dtype_name(updates.type()) + ", the variable " + dtype_name(held.type()));
          if (depth > s.rank) throw invalid_argument("The inner dimension of indices must be <= the rank of the variable");
          width = s.elements(static_cast<int>(depth), s.rank);
          const std::size_t count = depth == 0 ? 0 : indices.size() / static_cast<std::size_t>(depth);
          if (updates.elements() != static_cast<std::int64_t>(count) * width)
            throw invalid_argument("Must have updates.shape = indices.shape[:-1] + ref.shape[indices.shape[-1]:], got updates.shape " +
                                   brackets(updates.extent()));
          for (std::size_t k = 0; k < count; ++k) {
            std::int64_t row = 0;
            for (std::int64_t a = 0; a < depth; ++a) {
              const auto at = indices[k * static_cast<std::size_t>(depth) + static_cast<std::size_t>(a)];
              if (at < 0 || at >= s[static_cast<int>(a)])
                throw invalid_argument("indices[" + std::to_string(k) + "] does not index into shape " + brackets(s));
              row = row * s[static_cast<int>(a)] + at;
            }
            rows.push_back(row);
          }
        },
        [&](tensor_value& held) {
          scatter_rows(kind, held.values<T>().data(), width, rows, updates.values<T>().data(), false);
        });
  };
  if (kind == scatter_kind::update && v.type() == dtype::boolean) scatter(bool{});
  else with_number(v.type(), scatter);
  c.set_variable(0, v);
}

inline void run_count_up_to(kernel_context& c) {
  variable_slot& v = c.variable(0);
  const std::int64_t limit = c.node.integer("limit");
  with_index(v.type(), [&]<class T>(T) {
    T before{};
    v.update(
        [&](const tensor_value& held) {
          if (held.extent().rank != 0) throw invalid_argument("input is not a scalar: " + brackets(held.extent()));
          before = held.as<T>();
          if (before >= limit || before == std::numeric_limits<T>::max()) throw out_of_range("Reached limit of " + std::to_string(limit));
        },
        [&](tensor_value& held) { held.values<T>()[0] = before + 1; });
    c.set(0, tensor_value(before));
  });
}

LEAT_FILL(fill_state_kernels) {
  for (const std::string_view type : leat::detail::kept_variables)
    register_kernel(type, [](kernel_context& c) { c.set_variable(0, slot_of(c)); });
  register_kernel("Assign", run_assign);
  register_kernel("AssignAdd", run_assign_change<true>);
  register_kernel("AssignSub", run_assign_change<false>);
  register_kernel("IsVariableInitialized", [](kernel_context& c) { c.set(0, tensor_value(c.variable(0).is_initialized())); });
  register_kernels({"CountUpTo", "ResourceCountUpTo"}, run_count_up_to);
  register_kernel("TemporaryVariable", [](kernel_context& c) {
    const node& n = c.node.owner->at(c.node.index);
    const std::string name = c.node.text("var_name").empty() ? c.node.name() : c.node.text("var_name");
    auto slot = c.step.resources.find_or_make<variable_slot>(
        "temporary", name, [&] { return std::make_shared<variable_slot>(name, n.result.type, n.result.extent); });
    if (n.result.extent.is_static()) {
      tensor_value zeros(n.result.type, n.result.extent);  // new elements, not shared with another value
      if (zeros.bytes() > 0) std::memset(zeros.data(), 0, zeros.bytes());
      slot->assign(std::move(zeros));
    }
    c.set_variable(0, *slot);
  });
  register_kernel("DestroyTemporaryVariable", [](kernel_context& c) {
    c.set(0, c.variable(0).read());
    c.variable(0).clear();
  });
  const std::pair<const char*, scatter_kind> scatters[]{{"ScatterUpdate", scatter_kind::update}, {"ScatterAdd", scatter_kind::add},
                                                        {"ScatterSub", scatter_kind::sub},       {"ScatterMul", scatter_kind::mul},
                                                        {"ScatterDiv", scatter_kind::div},       {"ScatterMin", scatter_kind::min},
                                                        {"ScatterMax", scatter_kind::max}};
  for (const auto& [type, kind] : scatters) register_kernel(type, [which = kind](kernel_context& c) { run_scatter(c, which); });
  const std::pair<const char*, scatter_kind> nd_scatters[]{{"ScatterNdUpdate", scatter_kind::update}, {"ScatterNdAdd", scatter_kind::add},
                                                           {"ScatterNdSub", scatter_kind::sub},       {"ScatterNdMin", scatter_kind::min},
                                                           {"ScatterNdMax", scatter_kind::max}};
  for (const auto& [type, kind] : nd_scatters)
    register_kernel(type, [which = kind](kernel_context& c) { run_scatter_nd_into_variable(c, which); });
}

}  // namespace leat::runtime
