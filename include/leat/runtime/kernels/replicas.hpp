#pragma once
// Synchronous training in which the replicas' gradients are collected on the task that stores the variables. A round is one update: each
// replica gives its gradients, which are kept in one slot per replica and variable, and arrives; the last one to arrive applies the update,
// which uses the means of the gradients, and ends the round; the others wait for that. So no thread of a chief is needed, a gradient that
// is given twice counts once, and sums are in the order of the replicas, whatever the order of arrival. A replica without more data leaves;
// later rounds wait only for the others.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/element_blocks.hpp>
#include <leat/runtime/kernels/equal_rows.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

inline constexpr std::int64_t most_replicas = 65'536;

class replica_rounds final : public resource {
 public:
  /// Errors: invalid_argument for less than 1 or more than 65,536 replicas.
  explicit replica_rounds(std::int64_t replicas) {
    if (replicas < 1 || replicas > most_replicas) throw invalid_argument(std::to_string(replicas) + " replicas; at least 1");
    all_.resize(static_cast<std::size_t>(replicas));
  }

  std::int64_t replicas() const { return static_cast<std::int64_t>(all_.size()); }
  /// A replica begins, or begins again. Errors: invalid_argument for an unknown number.
  void join(std::int64_t number) {
    const std::lock_guard lock(guard_);
    member& m = at(number);
    m = {.times_joined = m.times_joined + 1, .last = m.last};
    if (applying_ == number) applying_ = -1;
    changed_.notify_all();
  }
  /// A replica ends. When all have ended, rounds wait for all replicas again. Errors: invalid_argument for an unknown number.
  void leave(std::int64_t number) {
    const std::lock_guard lock(guard_);
    at(number).has_left = true;
    at(number).has_arrived = false;
    if (applying_ == number) applying_ = -1;
    if (std::all_of(all_.begin(), all_.end(), [](const member& m) { return m.has_left; }))
      for (member& m : all_) m = {.times_joined = m.times_joined};
    changed_.notify_all();
  }
  /// Waits until all replicas have arrived. Returns true in the one replica that must apply the update; in the others, returns false after
  /// it was applied.
  /// `trained`: describes what the replica's step trains; must be equal for all replicas of a round.
  /// Errors: deadline_exceeded, which names the missing replicas; invalid_argument, in all of them, if replicas run different steps;
  /// aborted if another process joined with the same number.
  bool arrive(std::int64_t number, std::int64_t timeout_in_ms, step_state& step, const std::string& trained = {}) {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    std::unique_lock lock(guard_);
    member& m = at(number);
    if (applying_ == number) applying_ = -1;  // its update failed and is tried again
    m.has_left = m.applies = false;
    m.has_arrived = true;
    m.last = begin;
    m.trained = trained;
    m.refused.clear();
    refuse_others(number);
    const std::int64_t joined = m.times_joined, round = round_;
    struct leaving {  // a replica that stops waiting no longer counts as arrived
      replica_rounds& its;
      member& m;
      std::int64_t joined, round;
      ~leaving() {
        if (its.round_ == round && m.times_joined == joined && !m.applies) m.has_arrived = false;
      }
    } const left{*this, m, joined, round};
    changed_.notify_all();
    while (round_ == round) {
      if (m.times_joined != joined)
        throw aborted("another process has joined as worker " + std::to_string(number) + " of " + std::to_string(replicas()) +
                      ": each worker has a number of its own");
      if (!m.refused.empty()) throw invalid_argument(m.refused);
      if (applying_ < 0 && std::all_of(all_.begin(), all_.end(), [](const member& one) { return one.has_left || one.has_arrived; })) {
        applying_ = number;
        return m.applies = true;
      }
      step.check();
      if (timeout_in_ms > 0 && steady_clock::now() - begin >= milliseconds(timeout_in_ms))
        throw deadline_exceeded("a synchronous update was not made within " + std::to_string(timeout_in_ms) + " ms: " + missing());
      changed_.wait_for(lock, milliseconds(2));  // polls, because cancellation does not notify
    }
    return false;
  }
  /// Ends the round after the update was applied. Errors: aborted if the replica is not the one that applies the update.
  void end(std::int64_t number) {
    const std::lock_guard lock(guard_);
    if (applying_ != number) throw aborted("worker " + std::to_string(number) + " ends an update that it does not apply any more");
    applying_ = -1;
    ++round_;
    for (member& m : all_) m.has_arrived = m.applies = false;
    changed_.notify_all();
  }

 private:
  struct member {
    std::int64_t times_joined = 0;
    std::chrono::steady_clock::time_point last{};  // when it last gave gradients
    std::string trained{};                         // the step that gave them
    std::string refused{};                         // why it stopped waiting
    bool has_arrived = false;
    bool has_left = false;
    bool applies = false;
  };
  member& at(std::int64_t number) {
    if (number < 0 || number >= replicas())
      throw invalid_argument("worker " + std::to_string(number) + " of " + std::to_string(replicas()) + "; they are counted from 0");
    return all_[static_cast<std::size_t>(number)];
  }
  // Gradients of different training steps cannot form one update, because each variable would have gradients of some replicas only.
  void refuse_others(std::int64_t number) {
    member& m = at(number);
    for (std::size_t k = 0; k < all_.size(); ++k) {
      member& other = all_[k];
      if (!other.has_arrived || other.trained == m.trained) continue;
      m.refused = "workers run different training steps in one synchronous update: worker " + std::to_string(k) + " trains " +
                  other.trained + ", worker " + std::to_string(number) + " trains " + m.trained;
      if (other.applies) continue;
      other.refused = m.refused;
      other.has_arrived = false;
    }
    if (!m.refused.empty()) m.has_arrived = false;
  }
  std::string missing() const {
    if (applying_ >= 0) return "worker " + std::to_string(applying_) + ", which applies it, has not ended it";
    std::string text;
    int named = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const member& m = all_[k];
      if (m.has_left || m.has_arrived) continue;
      if (++named > 8) continue;
      text += (named == 1 ? "worker " : ", worker ") + std::to_string(k);
      if (m.last == decltype(m.last){}) {
        text += m.times_joined == 0 ? " (not begun)" : " (no gradients yet)";
      } else {
        const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - m.last).count();
        text += " (its last gradients came " + std::to_string(since) + " ms ago)";
      }
    }
    if (named > 8) text += " and " + std::to_string(named - 8) + " more";
    return "no gradients of " + text + "; a worker without more data leaves";
  }

  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<member> all_;
  std::int64_t round_ = 0;
  std::int64_t applying_ = -1;
};

/// The gradients of one variable: for each replica, a dense gradient, or rows and their indices.
class replica_gradients final : public resource {
 public:
  replica_gradients(std::string variable, dtype type, const shape& extent) : variable_(std::move(variable)), type_(type), extent_(extent) {}

  /// Stores a replica's gradient, in place of its previous one. A dense gradient has no indices. Errors: invalid_argument for a dtype or
  /// shape other than the variable's.
  void give(std::int64_t replica, const tensor_value& values, const tensor_value& indices) {
    if (replica < 0 || replica >= most_replicas) throw invalid_argument("a gradient of worker " + std::to_string(replica));
    const shape& its = values.extent();
    bool fits = values.type() == type_;
    if (!static_cast<bool>(indices)) {
      fits = fits && may_equal(its, extent_);
    } else {
      const bool counts = indices.type() == dtype::int32 || indices.type() == dtype::int64;
      fits = fits && counts && extent_.has_rank() && its.rank == extent_.rank && its.rank > 0 && indices.extent().rank == 1 &&
             its[0] == indices.elements();
      for (int a = 1; fits && a < its.rank; ++a) fits = its[a] == extent_[a];
    }
    if (!fits)
      throw invalid_argument("a gradient " + dtype_name(values.type()) + " " + brackets(its) + " of the variable '" + variable_ + "', " +
                             dtype_name(type_) + " " + brackets(extent_));
    const std::lock_guard lock(guard_);
    slots_[replica] = {values.kept(), static_cast<bool>(indices) ? indices.kept() : indices};
  }
  void drop(std::int64_t replica) {
    const std::lock_guard lock(guard_);
    slots_.erase(replica);
  }
  /// The mean over the replicas, summed in their order. For rows, the result has each row that any replica gave; replicas that lack the row
  /// count as zeros.
  /// Errors: failed_precondition without a gradient; invalid_argument if some gradients are rows and others dense.
  std::pair<tensor_value, tensor_value> mean(bool of_rows) const {
    const std::lock_guard lock(guard_);
    if (slots_.empty()) throw failed_precondition("no gradients of the variable '" + variable_ + "' were given");
    for (const auto& [replica, given] : slots_)
      if (static_cast<bool>(given.indices) != of_rows)
        throw invalid_argument("worker " + std::to_string(replica) + " gives the gradient of '" + variable_ + "' " +
                               (of_rows ? "whole, others as rows" : "as rows, others whole"));
    auto sum = of_rows ? sum_of_rows() : sum_of_all();
    const auto divide = [&]<class T>(T) {
      for (T& x : sum.first.template values<T>()) x = x / static_cast<T>(slots_.size());
    };
    if (slots_.size() > 1) {
      if (type_ == dtype::float32) divide(float());
      else divide(double());
    }
    return sum;
  }

 private:
  struct given_gradient {
    tensor_value values, indices;
  };
  std::pair<tensor_value, tensor_value> sum_of_all() const {
    if (slots_.size() == 1) return {slots_.begin()->second.values, {}};
    tensor_value sum;
    for (const auto& [replica, given] : slots_) {
      if (!static_cast<bool>(sum)) {
        sum = given.values.copy();
        continue;
      }
      if (!(sum.extent() == given.values.extent()))
        throw invalid_argument("gradients " + brackets(sum.extent()) + " and " + brackets(given.values.extent()) + " of the variable '" +
                               variable_ + "'");
      const auto add = [&]<class T>(T) {
        combine(sum.values<T>().data(), given.values.values<T>().data(), sum.elements(), [](T a, T b) { return a + b; });
      };
      if (type_ == dtype::float32) add(float());
      else add(double());
    }
    return {sum, {}};
  }
  std::pair<tensor_value, tensor_value> sum_of_rows() const {
    if (slots_.size() == 1) return {slots_.begin()->second.values, slots_.begin()->second.indices};
    const dtype index = slots_.begin()->second.indices.type();
    std::int64_t count = 0;
    for (const auto& [replica, given] : slots_) {
      if (given.indices.type() != index) throw invalid_argument("indices of the variable '" + variable_ + "' of two dtypes");
      count += given.indices.elements();
    }
    shape extent = extent_, flat;
    extent.dim[0] = count;
    flat.push(count);
    tensor_value rows(type_, extent), indices(index, flat);
    std::byte *to = rows.data(), *at = indices.data();
    for (const auto& [replica, given] : slots_) {
      to = std::copy_n(given.values.data(), given.values.bytes(), to);
      at = std::copy_n(given.indices.data(), given.indices.bytes(), at);
    }
    add_equal_rows(rows, indices, extent_[0], variable_);
    return {rows, indices};
  }

  const std::string variable_;
  const dtype type_;
  const shape extent_;
  mutable std::mutex guard_;
  std::map<std::int64_t, given_gradient> slots_;
};

LEAT_FILL(fill_replica_kernels) {
  register_kernel("ReplicaRounds", [](kernel_context& c) {
    const std::int64_t replicas = c.node.integer("replicas", 1);
    const std::string shared = c.node.text("shared_name");
    const std::string& name = shared.empty() ? c.node.name() : shared;
    auto made = c.step.session.resources.find_or_make<replica_rounds>(c.node.text("container"), "replica rounds " + name,
                                                                      [&] { return std::make_shared<replica_rounds>(replicas); });
    if (made->replicas() != replicas)
      throw invalid_argument("synchronous training of " + std::to_string(made->replicas()) + " workers, which this one shares as one of " +
                             std::to_string(replicas));
    c.set(0, tensor_value::handle(std::move(made)));
  });
  register_kernel("ReplicaRoundsJoin", [](kernel_context& c) { held_as<replica_rounds>(c.input(0)).join(c.number(1)); });
  register_kernel("ReplicaRoundsLeave", [](kernel_context& c) { held_as<replica_rounds>(c.input(0)).leave(c.number(1)); });
  register_kernel("ReplicaRoundsArrive", [](kernel_context& c) {
    c.set(0,
          tensor_value(held_as<replica_rounds>(c.input(0)).arrive(c.number(1), c.node.integer("timeout_ms"), c.step, c.node.text("step"))));
  });
  register_kernel("ReplicaRoundsEnd", [](kernel_context& c) { held_as<replica_rounds>(c.input(0)).end(c.number(1)); });

  register_kernel("ReplicaGradients", [](kernel_context& c) {
    const auto* a = c.node.record->attributes.find("shape");
    const auto* given = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
    const shape extent = given != nullptr ? to_shape(*given) : shape::unknown();
    const std::string shared = c.node.text("shared_name");
    const std::string& name = shared.empty() ? c.node.name() : shared;
    const dtype type = c.node.type_of("dtype");
    if (type != dtype::float32 && type != dtype::float64)
      throw invalid_argument("gradients of replicas are float32 or float64, not " + dtype_name(type));
    c.set(0, tensor_value::handle(c.step.session.resources.find_or_make<replica_gradients>(
                 c.node.text("container"), "replica gradients " + name + " " + dtype_name(type) + " " + brackets(extent),
                 [&] { return std::make_shared<replica_gradients>(name, type, extent); })));
  });
  register_kernel("ReplicaGradientsGive",
                  [](kernel_context& c) { held_as<replica_gradients>(c.input(0)).give(c.number(1), c.input(2), {}); });
  register_kernel("ReplicaGradientsGiveRows",
                  [](kernel_context& c) { held_as<replica_gradients>(c.input(0)).give(c.number(1), c.input(2), c.input(3)); });
  register_kernel("ReplicaGradientsDrop", [](kernel_context& c) { held_as<replica_gradients>(c.input(0)).drop(c.number(1)); });
  register_kernel("ReplicaGradientsMean", [](kernel_context& c) { c.set(0, held_as<replica_gradients>(c.input(0)).mean(false).first); });
  register_kernel("ReplicaGradientsMeanRows", [](kernel_context& c) {
    auto [rows, indices] = held_as<replica_gradients>(c.input(0)).mean(true);
    c.set(0, std::move(rows));
    c.set(1, std::move(indices));
  });
}

}  // namespace leat::runtime
