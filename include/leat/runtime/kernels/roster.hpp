#pragma once
// The members of synchronous training through accumulators and tokens (train/named/sync_replicas.hpp). Replicas join, report when they have
// given gradients and when they have received a token, and leave when they have no more data. When one leaves, fewer replicas are awaited
// and fewer gradients make an update. So the roster knows which replicas an update waits for, and whether it can still be made.
// Accumulators, which may be on other tasks, get the newest state; versions order the states.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>

namespace leat::runtime {

class replica_roster final : public resource {
 public:
  /// `gradients`: the number that makes an update while all replicas take part. Errors: invalid_argument if either is less than 1.
  replica_roster(std::int64_t replicas, std::int64_t gradients) : replicas_(replicas), gradients_(gradients) {
    if (replicas < 1 || gradients < 1)
      throw invalid_argument(std::to_string(gradients) + " gradients of " + std::to_string(replicas) + " replicas; at least 1 of each");
  }

  /// The state that nodes and accumulators receive: the version, which orders states; the number of awaited replicas; the gradients that
  /// make an update; and how often all replicas have ended.
  struct state {
    std::int64_t version = 0, awaited = 0, required = 0, endings = 0;
    tensor_value value() const {
      shape four;
      four.push(4);
      tensor_value v(dtype::int64, four);
      const auto to = v.values<std::int64_t>();
      to[0] = version, to[1] = awaited, to[2] = required, to[3] = endings;
      return v;
    }
  };

  std::int64_t replicas() const { return replicas_; }
  std::int64_t gradients() const { return gradients_; }
  state now() const {
    const std::lock_guard lock(guard_);
    return state_now();
  }
  /// `step`: the training step for which the replica computes its first gradients.
  state join(const std::string& who, std::int64_t step) {
    const std::lock_guard lock(guard_);
    const auto [at, is_new] = members_.try_emplace(who);
    const bool came_back = at->second.has_left;
    at->second = {.token = step};
    step_ = std::max(step_, step);
    if (came_back) changed(who + " has come back");
    else if (is_new) ++version_;
    return state_now();
  }
  /// A replica that leaves without having joined is counted, unless all replicas have joined.
  state leave(const std::string& who) {
    const std::lock_guard lock(guard_);
    const auto at = members_.find(who);
    if (at == members_.end() && static_cast<std::int64_t>(members_.size()) >= replicas_) return state_now();
    member& m = members_[who];
    if (m.has_left) return state_now();
    m.has_left = true;
    if (awaited() > 0) {
      changed(who + " has ended");
    } else {  // the next training waits for all replicas
      members_.clear();
      told_.clear();
      ++endings_;
      ++version_;
    }
    return state_now();
  }
  /// Marks as left the replicas that had left the roster of an earlier server, except those that have joined since. `left` is the list that
  /// a roster returned at `version`; if it is this roster's own, nothing changes. Otherwise the version becomes greater than `version`,
  /// because accumulators on other tasks may still hold that state. Errors: invalid_argument for an impossible version.
  state restore(std::int64_t version, const std::string& left) {
    const std::lock_guard lock(guard_);
    if (version < 0 || version > std::numeric_limits<std::int64_t>::max() / 2)
      throw invalid_argument("a roster of version " + std::to_string(version) + ", which none has");
    std::size_t at = std::min(left.find('\n'), left.size());
    if (left.substr(0, at) == number_) return state_now();
    version_ = std::max(version_, version) + 1;
    while (++at < left.size()) {
      const std::size_t begin = std::exchange(at, std::min(left.find('\n', at), left.size()));
      const std::string who = left.substr(begin, at - begin);
      if (who.empty() || awaited() <= 1) continue;  // at least one replica is awaited while training goes on
      const auto [its, is_new] = members_.try_emplace(who);
      if (!is_new) continue;
      its->second.has_left = true;
      changed(who + " had ended before the server was started anew");
    }
    return state_now();
  }
  /// A random number that identifies this roster, then the names of the replicas that have left, one per line.
  std::string left() const {
    const std::lock_guard lock(guard_);
    std::string lines = number_ + "\n";
    for (const auto& [who, m] : members_)
      if (m.has_left) lines += who + "\n";
    return lines;
  }
  void gave(const std::string& who) {
    const std::lock_guard lock(guard_);
    member& m = members_[who];
    m.given = m.token;
    m.last = std::chrono::steady_clock::now();
    m.waits = true;
  }
  /// Records that a replica received a token: the step for which it computes its next gradients.
  void took(const std::string& who, std::int64_t token) {
    const std::lock_guard lock(guard_);
    member& m = members_[who];
    m.token = token;
    m.waits = false;
    step_ = std::max(step_, token);
  }
  /// Records that an update has led to this step.
  state updated(std::int64_t step) {
    const std::lock_guard lock(guard_);
    step_ = step;
    ++updates_;
    last_update_ = std::chrono::steady_clock::now();
    return state_now();
  }
  /// The replicas that joined again or left since a version, one per line.
  std::string news(std::int64_t since) const {
    const std::lock_guard lock(guard_);
    std::string lines;
    for (const auto& [version, text] : told_)
      if (version > since) lines += text + "\n";
    return lines;
  }
  /// Describes the replicas that the next update waits for.
  std::string missing() const {
    const std::lock_guard lock(guard_);
    std::string text;
    int named = 0;
    std::int64_t present = 0;
    for (const auto& [who, m] : members_) {
      if (m.has_left) continue;
      ++present;
      if (has_given(m)) continue;
      if (++named > 8) continue;
      text += (named == 1 ? "" : ", ") + who +
              (m.last == decltype(m.last){} ? " (no gradients yet)" : " (its last gradients came " + since(m.last) + " ms ago)");
    }
    if (named > 8) text += " and " + std::to_string(named - 8) + " more";
    if (const std::int64_t others = awaited() - present; others > 0)
      text += (named == 0 ? "" : ", and ") + std::to_string(others) + (others == 1 ? " replica that has" : " replicas that have") +
              " not begun";
    if (!text.empty()) return "no gradients of " + text + " for the update after step " + std::to_string(step_);
    return "the gradients of all " + std::to_string(present) + " replicas for the update after step " + std::to_string(step_) +
           " are there, and the chief has not made it (" +
           (updates_ == 0 ? "it has made none" : "its last one came " + since(last_update_) + " ms ago") + ")";
  }
  /// Whether each awaited replica has given its gradients and waits for a token.
  bool all_wait() const {
    const std::lock_guard lock(guard_);
    std::int64_t waiting = 0;
    for (const auto& [who, m] : members_) {
      if (m.has_left) continue;
      if (!m.waits || !has_given(m)) return false;
      ++waiting;
    }
    return waiting >= awaited();
  }

 private:
  struct member {
    std::int64_t token = 0;                        // its last token, or the step at which it joined
    std::int64_t given = -1;                       // the step of its last gradients
    std::chrono::steady_clock::time_point last{};  // when it gave them
    bool waits = false;                            // whether it has waited for a token since then
    bool has_left = false;
  };
  static constexpr std::size_t most_told = 64;

  bool has_given(const member& m) const { return m.last != decltype(m.last){} && m.given >= step_; }
  std::int64_t awaited() const {
    const auto left = std::count_if(members_.begin(), members_.end(), [](const auto& one) { return one.second.has_left; });
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(members_.size()) - left, std::max<std::int64_t>(0, replicas_ - left),
                                    replicas_);
  }
  // When replicas leave, surplus replicas (more replicas than gradients) are given up first. If each replica gives several gradients, all
  // gradients of a replica that left are subtracted.
  std::int64_t required() const {
    const std::int64_t present = awaited();
    if (gradients_ <= replicas_) return std::min(gradients_, present);
    return (gradients_ * present + replicas_ - 1) / replicas_;
  }
  state state_now() const { return {version_, awaited(), required(), endings_}; }
  void changed(const std::string& what) {
    ++version_;
    tell(what + ": " + std::to_string(awaited()) + " of " + std::to_string(replicas_) + (replicas_ == 1 ? " replica" : " replicas") +
         " remain, and updates are made of " + std::to_string(required()) + (required() == 1 ? " gradient" : " gradients"));
  }
  void tell(const std::string& text) {
    told_.emplace_back(version_, text);
    if (told_.size() > most_told) told_.pop_front();
  }
  static std::string since(std::chrono::steady_clock::time_point when) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - when).count());
  }

  const std::int64_t replicas_, gradients_;
  const std::string number_ = [] {
    std::random_device random;
    return std::to_string((std::uint64_t{random()} << 32) | random());
  }();
  mutable std::mutex guard_;
  std::map<std::string, member> members_;
  std::deque<std::pair<std::int64_t, std::string>> told_;
  std::chrono::steady_clock::time_point last_update_{};
  std::int64_t version_ = 0, endings_ = 0, step_ = 0, updates_ = 0;
};

LEAT_FILL(fill_roster_kernels) {
  register_kernel("ReplicaRoster", [](kernel_context& c) {
    const std::int64_t replicas = c.node.integer("replicas", 1), gradients = c.node.integer("gradients", 1);
    const std::string shared = c.node.text("shared_name");
    const std::string& name = shared.empty() ? c.node.name() : shared;
    auto made = c.step.session.resources.find_or_make<replica_roster>(
        c.node.text("container"), "replica roster " + name, [&] { return std::make_shared<replica_roster>(replicas, gradients); });
    if (made->replicas() != replicas || made->gradients() != gradients)
      throw invalid_argument("synchronous training with updates of " + std::to_string(made->gradients()) + " gradients of " +
                             std::to_string(made->replicas()) + " replicas, which this one shares as one of " + std::to_string(gradients) +
                             " of " + std::to_string(replicas));
    c.set(0, tensor_value::handle(std::move(made)));
  });
  register_kernel("ReplicaRosterJoin",
                  [](kernel_context& c) { c.set(0, held_as<replica_roster>(c.input(0)).join(c.node.text("who"), c.number(1)).value()); });
  register_kernel("ReplicaRosterLeave",
                  [](kernel_context& c) { c.set(0, held_as<replica_roster>(c.input(0)).leave(c.node.text("who")).value()); });
  register_kernel("ReplicaRosterLeft", [](kernel_context& c) { c.set(0, tensor_value(held_as<replica_roster>(c.input(0)).left())); });
  register_kernel("ReplicaRosterRestore", [](kernel_context& c) {
    const auto& left = c.input(2);
    c.set(0, held_as<replica_roster>(c.input(0)).restore(c.number(1), left.as<std::string>()).value());
  });
  register_kernel("ReplicaRosterGave", [](kernel_context& c) { held_as<replica_roster>(c.input(0)).gave(c.node.text("who")); });
  register_kernel("ReplicaRosterTook",
                  [](kernel_context& c) { held_as<replica_roster>(c.input(0)).took(c.node.text("who"), c.number(1)); });
  register_kernel("ReplicaRosterUpdated",
                  [](kernel_context& c) { c.set(0, held_as<replica_roster>(c.input(0)).updated(c.number(1)).value()); });
  register_kernel("ReplicaRosterState", [](kernel_context& c) { c.set(0, held_as<replica_roster>(c.input(0)).now().value()); });
  register_kernel("ReplicaRosterTokens", [](kernel_context& c) {
    const auto now = held_as<replica_roster>(c.input(0)).now();
    shape single;
    single.push(1);
    tensor_value one(dtype::int32, single);
    one.values<std::int32_t>()[0] = static_cast<std::int32_t>(std::max(now.awaited, now.required));
    c.set(0, std::move(one));
  });
  register_kernel("ReplicaRosterNews",
                  [](kernel_context& c) { c.set(0, tensor_value(held_as<replica_roster>(c.input(0)).news(c.number(1)))); });
  register_kernel("ReplicaRosterMissing", [](kernel_context& c) {
    const auto& roster = held_as<replica_roster>(c.input(0));
    c.set(0, tensor_value(roster.missing()));
    c.set(1, tensor_value(roster.all_wait()));
  });
}

}  // namespace leat::runtime
