#pragma once
// Implementation of iterator_states.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/data/iterator_states.hpp>
#include <leat/io/encoding.hpp>
#include <leat/proto/in_quotes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/session/graph_session_class.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <utility>

namespace leat::data::detail {

LEAT_FUNCTION std::string iterator_resource::begin_locked(const source_maker& maker) {
  std::string note;
  std::unique_ptr<value_source> fresh = maker();
  if (waiting_) {
    try {
      fresh->restore_state(waiting_->text);
    } catch (const invalid_argument& e) {
      if (waiting_->other == of_other_data::is_error)
        leat::detail::rethrow_saying(e, "the iterator '" + name + "' is to go on from a state that was saved: " + e.what());
      note = "The iterator '" + name + "' begins anew: " + e.what() + "\n";
    }
  }
  waiting_.reset();
  source_ = std::move(fresh);
  maker_ = maker;
  return note;
}

LEAT_FUNCTION std::string iterator_resource::begin(const source_maker& maker) {
  const std::lock_guard lock(guard_);
  return begin_locked(maker);
}

LEAT_FUNCTION std::string iterator_resource::begin_once(const source_maker& maker) {
  const std::lock_guard lock(guard_);
  return source_ == nullptr ? begin_locked(maker) : std::string();
}

LEAT_FUNCTION bool iterator_resource::has_begun() const {
  const std::lock_guard lock(guard_);
  return source_ != nullptr;
}

LEAT_FUNCTION void iterator_resource::next(step_state& step, std::vector<tensor_value>& to) {
  std::unique_lock lock(guard_, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(2))) step.check();
  if (source_ == nullptr)
    throw failed_precondition(
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this "
        "iterator before getting the next element.");
  if (!source_->next(step, to)) throw end_of_sequence();
}

LEAT_FUNCTION std::optional<std::string> iterator_resource::state() const {
  const std::lock_guard lock(guard_);
  if (waiting_) return waiting_->text;
  if (source_ != nullptr) return source_->save_state();
  return std::nullopt;
}

LEAT_FUNCTION std::unique_ptr<value_source> iterator_resource::at_state(const std::string& text, of_other_data other) const {
  const std::lock_guard lock(guard_);
  if (source_ == nullptr) return nullptr;
  std::unique_ptr<value_source> fresh = maker_();
  try {
    fresh->restore_state(text);
  } catch (const invalid_argument& e) {
    if (other == of_other_data::is_error) leat::detail::rethrow_saying(e, "the iterator '" + name + "': " + e.what());
  }
  return fresh;
}

LEAT_FUNCTION void iterator_resource::go_to(std::string text, of_other_data other, std::unique_ptr<value_source> from) {
  const std::lock_guard lock(guard_);
  if (from != nullptr) {
    waiting_.reset();
    source_ = std::move(from);
  } else {
    waiting_ = {std::move(text), other};
  }
}

}  // namespace leat::data::detail

namespace leat {

LEAT_FUNCTION std::string iterator_states(graph_session& s) {
  auto states = nlohmann::json::array();
  s.resources().for_each([&](const std::string& container, const std::string&, const resource& held) {
    const auto* its = dynamic_cast<const data::detail::iterator_resource*>(&held);
    if (its == nullptr) return;
    const std::optional<std::string> state = its->state();
    if (!state) return;
    for (const std::string& text : {container, its->name})
      if (!io::is_utf8(text))
        throw invalid_argument("the iterator " + proto::detail::in_quotes(its->name) + " has a name that is not UTF-8");
    states.push_back({{"container", container}, {"name", its->name}, {"state", *state}});
  });
  return states.empty() ? std::string() : states.dump();
}

LEAT_FUNCTION void restore_iterator_states(graph_session& s, std::string_view text, of_other_data other) {
  if (text.empty()) return;
  const auto states = nlohmann::json::parse(text, nullptr, false);
  const auto wrong = [] { throw data_loss("no states of iterators: a list of {\"container\", \"name\", \"state\"} is expected"); };
  if (!states.is_array()) wrong();
  struct way {
    std::shared_ptr<data::detail::iterator_resource> its;
    std::string state;
    std::unique_ptr<data::value_source> from;
  };
  std::vector<way> ways;
  for (const auto& entry : states) {
    for (const char* key : {"container", "name", "state"})
      if (!entry.is_object() || !entry.contains(key) || !entry[key].is_string()) wrong();
    const std::string name = entry["name"].get<std::string>();
    way one{s.resources().find_or_make<data::detail::iterator_resource>(
                entry["container"].get<std::string>(), std::string(data::detail::iterator_prefix) + name,
                [&] { return std::make_shared<data::detail::iterator_resource>(name); }),
            entry["state"].get<std::string>(),
            {}};
    one.from = one.its->at_state(one.state, other);
    ways.push_back(std::move(one));
  }
  for (way& one : ways) one.its->go_to(std::move(one.state), other, std::move(one.from));
}

}  // namespace leat
