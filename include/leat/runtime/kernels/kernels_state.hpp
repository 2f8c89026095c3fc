#pragma once
// Kernels of variables: reading, assigning, scattering, the optimizers' updates. All operands are checked before a variable is
// changed, so a failing step leaves none half written. The arithmetic is TensorFlow's, element by element.

#include <leat/core/early.hpp>
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
      } catch (const failed_precondition&) {  // destroyed in between
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
          const std::int64_t n = held.elements();
          for (std::int64_t i = 0; i < n; ++i)
            to[i] = Add ? arithmetic<T>::add(to[i], from[i]) : arithmetic<T>::subtract(to[i], from[i]);
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

/// Updates row `indices[k]` of `to` with row `k` of the updates; `single`: one number for all of them.
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

inline void run_scatter_nd_update(kernel_context& c) {
  variable_slot& v = c.variable(0);
  const auto indices = c.numbers(1);
  const shape index_shape = c.extent(1);
  const tensor_value updates = c.input(2);
  with_dtype(v.type(), [&]<class T>(T) {
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
          scatter_rows(scatter_kind::update, held.values<T>().data(), width, rows, updates.values<T>().data(), false);
        });
  });
  c.set_variable(0, v);
}

// ---- optimizers -----------------------------------------------------------------------------------------------------

/// The inputs of an optimizer's update: variables that change together, a gradient of their shape, rates.
class apply_call {
 public:
  apply_call(kernel_context& c, int variables, int gradient) : c_(c), gradient_(c.input(gradient)) {
    for (int k = 0; k < variables; ++k) slots_.push_back(&c.variable(k));
    for (int k = 0; k < variables; ++k)
      for (int j = 0; j < k; ++j)
        if (slots_[static_cast<std::size_t>(k)] == slots_[static_cast<std::size_t>(j)])
          throw invalid_argument("one variable twice: '" + slots_[static_cast<std::size_t>(k)]->name() + "'");
  }
  template <class T>
  T rate(int input) {
    const tensor_value& v = c_.input(input);
    if (v.extent().rank != 0) throw invalid_argument("input " + std::to_string(input) + " is not a scalar: " + brackets(v.extent()));
    return v.as<T>();
  }
  /// Calls `change(pointers, gradient, elements)` with all variables locked and their elements unshared.
  template <class T, class Change>
  void run(Change change) {
    std::vector<variable_slot*> order = slots_;
    std::sort(order.begin(), order.end());
    std::vector<std::unique_lock<std::mutex>> locks;
    for (auto* s : order) locks.emplace_back(s->guard());
    for (auto* s : slots_) {
      const tensor_value& held = s->locked_value();
      if (!held) s->fail();
      if (held.type() != gradient_.type() || !(held.extent() == gradient_.extent()))
        throw invalid_argument("var and grad do not have the same shape or dtype: '" + s->name() + "' " + dtype_name(held.type()) + " " +
                               brackets(held.extent()) + " and " + dtype_name(gradient_.type()) + " " + brackets(gradient_.extent()));
    }
    std::vector<T*> at;
    for (auto* s : slots_) {
      tensor_value& held = s->locked_value();
      if (!held.is_alone()) held = held.copy();
      at.push_back(held.values<T>().data());
    }
    change(at.data(), gradient_.values<T>().data(), gradient_.elements());
    c_.set_variable(0, *slots_[0]);
  }
  /// The same for some rows: `change(pointers to the row, gradient's row, width)`, row after row.
  template <class T, class Change>
  void run_rows(const std::vector<std::int64_t>& indices, Change change) {
    std::vector<variable_slot*> order = slots_;
    std::sort(order.begin(), order.end());
    std::vector<std::unique_lock<std::mutex>> locks;
    for (auto* s : order) locks.emplace_back(s->guard());
    std::int64_t width = 1;
    for (auto* s : slots_) {
      const tensor_value& held = s->locked_value();
      if (!held) s->fail();
      const shape& e = held.extent();
      if (e.rank < 1 || !(e == slots_[0]->locked_value().extent())) throw invalid_argument("var and its slots must have the same shape");
      width = e[0] == 0 ? 0 : held.elements() / e[0];
      if (gradient_.elements() != static_cast<std::int64_t>(indices.size()) * width)
        throw invalid_argument("grad must have a row for each index: " + brackets(gradient_.extent()));
      check_indices(indices, e[0], "Index ");
    }
    std::vector<T*> at;
    for (auto* s : slots_) {
      tensor_value& held = s->locked_value();
      if (!held.is_alone()) held = held.copy();
      at.push_back(held.values<T>().data());
    }
    const T* gradient = gradient_.values<T>().data();
    for (std::size_t k = 0; k < indices.size(); ++k) {
      std::vector<T*> row;
      for (T* p : at) row.push_back(p + indices[k] * width);
      change(row.data(), gradient + static_cast<std::int64_t>(k) * width, width);
    }
    c_.set_variable(0, *slots_[0]);
  }
  /// On the rows that input `indices` selects, or on all elements if it is -1.
  template <class T, class F>
  void run_at(int indices, F change) {
    if (indices < 0) run<T>(change);
    else run_rows<T>(c_.numbers(indices), change);
  }

 private:
  kernel_context& c_;
  tensor_value gradient_;
  std::vector<variable_slot*> slots_;
};

template <class T>
T sign_of(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}
// A step toward 0 by at most `l1`, scaled by `l2`. Source: the proximal operators.
template <class T>
T shrunk(T prox, T rate, T l1, T l2) {
  if (l1 > T(0)) return sign_of(prox) * std::max(std::abs(prox) - rate * l1, T(0)) / (T(1) + rate * l2);
  return prox / (T(1) + rate * l2);
}

/// Registers a step that is the same for all elements ("Apply...") and for selected rows ("SparseApply...", whose input `indices`
/// selects them).
template <class F>
void register_step(const std::string& name, int indices, F step) {
  register_kernel("Apply" + name, [step](kernel_context& c) { step(c, -1); });
  register_kernel("SparseApply" + name, [step, indices](kernel_context& c) { step(c, indices); });
}

inline void register_optimizers() {
  register_kernel("ApplyGradientDescent", [](kernel_context& c) {
    apply_call a(c, 1, 2);
    const auto apply = [&]<class T>(T) {
      const T rate = a.rate<T>(1);
      a.run<T>([&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) p[0][i] -= rate * g[i];
      });
    };
    with_fraction(c.type(2), apply);
  });
  register_kernel("ApplyMomentum", [](kernel_context& c) {
    apply_call a(c, 2, 3);
    const bool nesterov = c.node.flag("use_nesterov");
    with_fraction(c.type(3), [&]<class T>(T) {
      const T rate = a.rate<T>(2), momentum = a.rate<T>(4);
      a.run<T>([&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[1][i] = p[1][i] * momentum + g[i];
          p[0][i] -= nesterov ? g[i] * rate + p[1][i] * momentum * rate : p[1][i] * rate;
        }
      });
    });
  });
  register_kernel("ApplyAdagrad", [](kernel_context& c) {
    apply_call a(c, 2, 3);
    const bool update = c.node.flag("update_slots", true);
    with_fraction(c.type(3), [&]<class T>(T) {
      const T rate = a.rate<T>(2);
      a.run<T>([&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          if (update) p[1][i] += g[i] * g[i];
          p[0][i] -= g[i] * rate / std::sqrt(p[1][i]);
        }
      });
    });
  });
  register_kernel("ApplyAdam", [](kernel_context& c) {
    apply_call a(c, 3, 9);
    const bool nesterov = c.node.flag("use_nesterov");
    with_fraction(c.type(9), [&]<class T>(T) {
      const T power1 = a.rate<T>(3), power2 = a.rate<T>(4), beta1 = a.rate<T>(6), beta2 = a.rate<T>(7), epsilon = a.rate<T>(8);
      const T rate = a.rate<T>(5) * std::sqrt(T(1) - power2) / (T(1) - power1);
      a.run<T>([&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[1][i] += (g[i] - p[1][i]) * (T(1) - beta1);
          p[2][i] += (g[i] * g[i] - p[2][i]) * (T(1) - beta2);
          const T m = nesterov ? g[i] * (T(1) - beta1) + beta1 * p[1][i] : p[1][i];
          p[0][i] -= m * rate / (std::sqrt(p[2][i]) + epsilon);
        }
      });
    });
  });
  register_step("RMSProp", 8, [](kernel_context& c, int indices) {
    apply_call a(c, 3, 7);
    with_fraction(c.type(7), [&]<class T>(T) {
      const T rate = a.rate<T>(3), rho = a.rate<T>(4), momentum = a.rate<T>(5), epsilon = a.rate<T>(6);
      a.run_at<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[1][i] += (g[i] * g[i] - p[1][i]) * (T(1) - rho);
          p[2][i] = p[2][i] * momentum + g[i] * rate / std::sqrt(p[1][i] + epsilon);
          p[0][i] -= p[2][i];
        }
      });
    });
  });
  register_step("CenteredRMSProp", 9, [](kernel_context& c, int indices) {
    apply_call a(c, 4, 8);
    with_fraction(c.type(8), [&]<class T>(T) {
      const T rate = a.rate<T>(4), rho = a.rate<T>(5), momentum = a.rate<T>(6), epsilon = a.rate<T>(7);
      a.run_at<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[2][i] += (g[i] * g[i] - p[2][i]) * (T(1) - rho);
          p[1][i] += (g[i] - p[1][i]) * (T(1) - rho);
          p[3][i] = p[3][i] * momentum + g[i] * rate / std::sqrt(p[2][i] - p[1][i] * p[1][i] + epsilon);
          p[0][i] -= p[3][i];
        }
      });
    });
  });
  register_step("Adadelta", 7, [](kernel_context& c, int indices) {
    apply_call a(c, 3, 6);
    with_fraction(c.type(6), [&]<class T>(T) {
      const T rate = a.rate<T>(3), rho = a.rate<T>(4), epsilon = a.rate<T>(5);
      a.run_at<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[1][i] = p[1][i] * rho + g[i] * g[i] * (T(1) - rho);
          const T update = std::sqrt(p[2][i] + epsilon) / std::sqrt(p[1][i] + epsilon) * g[i];
          p[0][i] -= update * rate;
          p[2][i] = p[2][i] * rho + update * update * (T(1) - rho);
        }
      });
    });
  });
  register_step("Ftrl", 4, [](kernel_context& c, int indices) {
    apply_call a(c, 3, 3);
    const bool by_rate = c.node.flag("multiply_linear_by_lr");
    with_fraction(c.type(3), [&]<class T>(T) {
      const int k = indices < 0 ? 4 : 5;
      const T rate = a.rate<T>(k), l1 = a.rate<T>(k + 1), l2 = a.rate<T>(k + 2), power = a.rate<T>(k + 3);
      const auto root = [&](T x) { return power == T(-0.5) ? std::sqrt(x) : std::pow(x, -power); };
      a.run_at<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        const T scale = by_rate ? rate : T(1);  // converts the linear accumulator to units of the rate
        for (std::int64_t i = 0; i < n; ++i) {
          const T next = p[1][i] + g[i] * g[i];
          const T sigma = (root(next) - root(p[1][i])) / (by_rate ? T(1) : rate);
          p[2][i] += g[i] * scale - sigma * p[0][i];
          const T quadratic = root(next) / (by_rate ? T(1) : rate) + T(2) * l2 * scale;
          const T limit = l1 * scale;
          p[0][i] = std::abs(p[2][i]) > limit ? (sign_of(p[2][i]) * limit - p[2][i]) / quadratic : T(0);
          p[1][i] = next;
        }
      });
    });
  });
  register_step("ProximalGradientDescent", 5, [](kernel_context& c, int indices) {
    apply_call a(c, 1, 4);
    with_fraction(c.type(4), [&]<class T>(T) {
      const T rate = a.rate<T>(1), l1 = a.rate<T>(2), l2 = a.rate<T>(3);
      a.run_at<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) p[0][i] = shrunk(p[0][i] - g[i] * rate, rate, l1, l2);
      });
    });
  });
  register_step("ProximalAdagrad", 6, [](kernel_context& c, int indices) {
    apply_call a(c, 2, 5);
    with_fraction(c.type(5), [&]<class T>(T) {
      const T rate = a.rate<T>(2), l1 = a.rate<T>(3), l2 = a.rate<T>(4);
      a.run_at<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[1][i] += g[i] * g[i];
          const T its = rate / std::sqrt(p[1][i]);
          p[0][i] = shrunk(p[0][i] - g[i] * its, its, l1, l2);
        }
      });
    });
  });
  register_kernel("SparseApplyMomentum", [](kernel_context& c) {
    apply_call a(c, 2, 3);
    const bool nesterov = c.node.flag("use_nesterov");
    const auto indices = c.numbers(4);
    with_fraction(c.type(3), [&]<class T>(T) {
      const T rate = a.rate<T>(2), momentum = a.rate<T>(5);
      a.run_rows<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          p[1][i] = p[1][i] * momentum + g[i];
          p[0][i] -= nesterov ? g[i] * rate + p[1][i] * momentum * rate : p[1][i] * rate;
        }
      });
    });
  });
  register_kernel("SparseApplyAdagrad", [](kernel_context& c) {
    apply_call a(c, 2, 3);
    const bool update = c.node.flag("update_slots", true);
    const auto indices = c.numbers(4);
    with_fraction(c.type(3), [&]<class T>(T) {
      const T rate = a.rate<T>(2);
      a.run_rows<T>(indices, [&](T** p, const T* g, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          if (update) p[1][i] += g[i] * g[i];
          p[0][i] -= rate * g[i] / std::sqrt(p[1][i]);
        }
      });
    });
  });
}

LEAT_EARLY inline const leat::detail::filled_early state_kernels_known{[] {
  register_kernels({"VariableV2", "Variable"}, [](kernel_context& c) { c.set_variable(0, slot_of(c)); });
  register_kernel("Assign", run_assign);
  register_kernel("AssignAdd", run_assign_change<true>);
  register_kernel("AssignSub", run_assign_change<false>);
  register_kernel("IsVariableInitialized", [](kernel_context& c) { c.set(0, tensor_value(c.variable(0).is_initialized())); });
  register_kernel("CountUpTo", [](kernel_context& c) {
    variable_slot& v = c.variable(0);
    const std::int64_t limit = c.node.integer("limit");
    with_index(v.type(), [&]<class T>(T) {
      T before{};
      v.update(
          [&](const tensor_value& held) {
            before = held.as<T>();
            if (before >= limit || before == std::numeric_limits<T>::max()) throw out_of_range("Reached limit of " + std::to_string(limit));
          },
          [&](tensor_value& held) { held.values<T>()[0] = before + 1; });
      c.set(0, tensor_value(before));
    });
  });
  register_kernel("TemporaryVariable", [](kernel_context& c) {
    const node& n = c.node.owner->at(c.node.index);
    const std::string name = c.node.text("var_name").empty() ? c.node.name() : c.node.text("var_name");
    auto slot = c.step.resources.find_or_make<variable_slot>(
        "temporary", name, [&] { return std::make_shared<variable_slot>(name, n.result.type, n.result.extent); });
    if (n.result.extent.is_static()) {
      tensor_value zeros(n.result.type, n.result.extent);  // no elements of somebody else
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
  register_kernel("ScatterNdUpdate", run_scatter_nd_update);
  register_optimizers();
}};

}  // namespace leat::runtime
