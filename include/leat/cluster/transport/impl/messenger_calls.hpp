#pragma once
// Implementation of messenger.hpp: requests, answers and notes, on both sides.

#include <leat/cluster/transport/impl/messenger_state.hpp>
#include <leat/core/error.hpp>

#include <algorithm>
#include <utility>

namespace leat::transport {

LEAT_FUNCTION message messenger::call(peer_id p, std::uint16_t method, std::vector<frame> parts, call_options options) {
  message m;
  m.method = method;
  m.parts = std::move(parts);
  return call(p, std::move(m), options);
}

LEAT_FUNCTION message messenger::call(peer_id p, message m, call_options options) {
  const std::uint16_t method = m.method;
  const auto started = std::chrono::steady_clock::now();
  const std::shared_ptr<pending> call = start_call(p, std::move(m), options, nullptr);
  bool is_done = false;
  try {
    is_done = endpoint_->wait(call->done, options.deadline);
  } catch (...) {
    cancel(call->number);
    throw;
  }
  if (!is_done) {
    std::string place;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = peers_.find(p); found != peers_.end()) place = place_of(*found->second);
    }
    const auto now = std::chrono::steady_clock::now();
    const steady_time heard = endpoint_->heard(p);
    cancel(call->number);
    if (place.empty()) place = "the task";
    throw deadline_exceeded(place + ": no answer to request " + std::to_string(method) + " within " + detail::seconds(now - started) +
                            "; its last sign of life came " + detail::seconds(now - heard) + " ago");
  }
  if (call->code != status::ok) std::rethrow_exception(exception_of(call->code, call->problem));
  call->answer.credit.reset();
  return std::move(call->answer);
}

LEAT_FUNCTION std::uint64_t messenger::begin(peer_id p, message m, call_options options, std::function<void(outcome)> then) {
  const std::shared_ptr<pending> call = start_call(p, std::move(m), options, std::move(then));
  const std::uint64_t number = call->number;
  if (options.deadline == no_deadline) return number;
  const endpoint::timer expiry = endpoint_->at(options.deadline, [this, number] { expire(number); });
  {
    const std::lock_guard lock(mutex_);
    if (calls_.contains(number)) {
      call->expiry = expiry;
      return number;
    }
  }
  endpoint_->forget(expiry);  // the call has ended already
  return number;
}

LEAT_FUNCTION std::shared_ptr<messenger::pending> messenger::start_call(peer_id p, message m, call_options options,
                                                                        std::function<void(outcome)> then) {
  endpoint_->check_process();
  auto call = std::make_shared<pending>();
  call->number = options.number != 0 ? options.number : new_number();
  call->to = p;
  call->is_repeatable = options.is_repeatable;
  call->then = std::move(then);
  m.what = kind::request;
  m.number = call->number;
  m.flags = options.is_repeatable ? detail::flag_repeatable : 0;
  if (options.deadline != no_deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(options.deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) throw deadline_exceeded("a request whose deadline had passed before it was sent");
    // The caller may wait longer than the other side is allowed to take.
    m.deadline = m.deadline > 0 ? std::min<std::int64_t>(m.deadline, left) : left;
  }
  {
    const std::lock_guard lock(mutex_);
    if (is_closing_) throw cancelled("this process is leaving the cluster");
    const auto found = peers_.find(p);
    if (found == peers_.end()) {
      const auto gone = gone_.find(p);
      throw unavailable(gone == gone_.end() ? "a request to nobody: the connection was never made, or ended long ago" : gone->second.text);
    }
    peer_state& to = *found->second;
    if (!to.info.is_ready) throw failed_precondition(place_of(to) + ": has not introduced itself yet: await it first");
    m.incarnation = to.info.who.incarnation;
    if (call->is_repeatable) {
      // All requests with lower numbers have been answered, so the other side need not keep their answers.
      m.mark = call->number;
      for (const auto& [number, c] : calls_)
        if (c->is_repeatable && c->to == p) m.mark = std::min(m.mark, number);
    }
    ++to.calls;
    calls_[call->number] = call;
    arm();
  }
  try {
    endpoint_->send(p, m);
  } catch (const error&) {
    const std::lock_guard lock(mutex_);
    const bool was_there = calls_.erase(call->number) > 0;
    if (const auto found = peers_.find(p); found != peers_.end() && was_there) --found->second->calls;
    if (const auto gone = gone_.find(p); gone != gone_.end()) throw unavailable(gone->second.text);
    throw;
  }
  return call;
}

LEAT_FUNCTION void messenger::complete(const std::shared_ptr<pending>& call, message answer, status code, std::string problem) {
  if (call->expiry.number != 0) endpoint_->forget(call->expiry);
  if (call->then) {
    answer.credit.reset();
    call->then({std::move(answer), code == status::ok ? nullptr : exception_of(code, problem)});
    return;
  }
  call->answer = std::move(answer);
  call->code = code;
  call->problem = std::move(problem);
  call->done = true;
  endpoint_->wake();
}

LEAT_FUNCTION void messenger::expire(std::uint64_t number) {
  give_up(number, std::make_exception_ptr(deadline_exceeded("no answer to a request within its deadline")));
}

LEAT_FUNCTION void messenger::cancel(std::uint64_t number) {
  give_up(number, std::make_exception_ptr(cancelled("the request was cancelled")));
}

LEAT_FUNCTION void messenger::give_up(std::uint64_t number, std::exception_ptr why) {
  std::shared_ptr<pending> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    call = found->second;
    calls_.erase(found);
    if (const auto to = peers_.find(call->to); to != peers_.end()) --to->second->calls;
  }
  if (call->expiry.number != 0) endpoint_->forget(call->expiry);
  try {
    message m;
    m.what = kind::cancel;
    m.number = number;
    endpoint_->send(call->to, m);
  } catch (const error&) {
    // The peer is gone or accepts no messages; then there is nothing to cancel.
  }
  if (call->then) call->then({{}, std::move(why)});
}

LEAT_FUNCTION void messenger::answer(const request& r, std::vector<frame> parts) {
  message m;
  m.parts = std::move(parts);
  answer(r, std::move(m));
}

LEAT_FUNCTION void messenger::answer(const request& r, message m) {
  m.what = kind::answer;
  respond(r, std::move(m));
}

LEAT_FUNCTION void messenger::fail(const request& r, const std::exception& e) { fail(r, status_of(e), e.what()); }

LEAT_FUNCTION void messenger::fail(const request& r, status code, const std::string& text) {
  message m;
  m.what = kind::failure;
  m.flags = static_cast<std::uint16_t>(code);
  m.parts.push_back(frame::copy_of(std::string_view(text).substr(0, 65536)));
  respond(r, std::move(m));
}

LEAT_FUNCTION void messenger::respond(const request& r, message m) {
  m.number = r.number;
  m.incarnation = r.who.incarnation;
  peer_id to = r.from;
  if (r.is_repeatable) {
    const std::lock_guard lock(mutex_);
    const auto c = callers_.find(r.who.incarnation);
    if (c != callers_.end())
      if (const auto kept = c->second.answers.find(r.number); kept != c->second.answers.end() && !kept->second.is_there) {
        to = kept->second.to;
        kept->second.is_there = true;
        kept->second.m = m;
        c->second.bytes += detail::kept_size(m);
        // The oldest answers are dropped first; a repeated request for one of them gets an error that says so.
        auto& answers = c->second.answers;
        for (auto i = answers.begin(); c->second.bytes > options_.kept_bytes && i != answers.end();) {
          if (!i->second.is_there || i == kept) {
            ++i;
            continue;
          }
          c->second.bytes -= detail::kept_size(i->second.m);
          c->second.dropped_below = std::max(c->second.dropped_below, i->first + 1);
          i = answers.erase(i);
        }
      }
  }
  try {
    if (send_answer(r, to, m)) return;
    if (m.what != kind::failure)
      return fail(r, status::resource_exhausted,
                  "an answer of " + std::to_string(m.bytes()) + " bytes could not be sent: its queue is full of what is not taken");
    endpoint_->close_link(to, false);
    lose(to, {false, status::resource_exhausted, "the peer takes no answers"});
  } catch (const unavailable&) {
    // The requesting side no longer waits for the answer, and will not repeat the request.
  } catch (const invalid_argument& e) {
    // The answer exceeds the limits of a message.
    if (m.what != kind::failure) fail(r, e);
  }
}

// Waits for room in the queue, except on a handler's thread, which must not block.
LEAT_FUNCTION bool messenger::send_answer(const request& r, peer_id to, const message& m) {
  if (endpoint_->try_send(to, m)) return true;
  if (m.what == kind::failure || endpoint_->is_in_handler()) return false;
  const steady_time until = std::min(r.deadline, std::chrono::steady_clock::now() + std::chrono::seconds(10));
  while (endpoint_->wait_for_room(to, until))
    if (endpoint_->try_send(to, m)) return true;
  return endpoint_->try_send(to, m);
}

LEAT_FUNCTION void messenger::note(peer_id p, message m) {
  if (note(p, m, {})) return;
  throw resource_exhausted("a message of " + std::to_string(m.bytes()) + " bytes could not be sent: the queue for the peer is full");
}

LEAT_FUNCTION bool messenger::note(peer_id p, message& m, steady_time until) {
  m.what = kind::note;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(p);
    if (found == peers_.end() || !found->second->info.is_ready) {
      const auto gone = gone_.find(p);
      throw unavailable(gone == gone_.end() ? "a message to nobody: the connection was never made, or ended long ago" : gone->second.text);
    }
    m.incarnation = found->second->info.who.incarnation;
  }
  while (!endpoint_->try_send(p, m)) {
    const bool has_time = std::chrono::steady_clock::now() < until;
    if (!has_time) return false;
    static_cast<void>(endpoint_->wait_for_room(p, until));
  }
  return true;
}

LEAT_FUNCTION void messenger::requested(link_id link, message m) {
  request r;
  r.from = link;
  r.number = m.number;
  r.is_repeatable = m.flags & detail::flag_repeatable;
  if (m.deadline > 0)
    r.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(std::min<std::int64_t>(m.deadline, std::int64_t{1} << 50));
  std::optional<message> again;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(link);
    if (found == peers_.end()) return;
    r.who = found->second->info.who;
    if (r.is_repeatable) {
      if (callers_.size() >= detail::remembered_callers && !callers_.contains(r.who.incarnation)) {
        // Forgets callers that left without a goodbye and did not come back.
        std::erase_if(callers_, [&](const auto& c) {
          return std::none_of(peers_.begin(), peers_.end(), [&](const auto& p) { return p.second->info.who.incarnation == c.first; });
        });
      }
      caller& c = callers_[r.who.incarnation];
      while (!c.answers.empty() && c.answers.begin()->first < std::min(m.mark, r.number)) {
        if (c.answers.begin()->second.is_there) c.bytes -= detail::kept_size(c.answers.begin()->second.m);
        c.answers.erase(c.answers.begin());
      }
      if (const auto kept = c.answers.find(r.number); kept != c.answers.end()) {
        kept->second.to = link;
        if (!kept->second.is_there) return;  // the request is running; its answer goes to the new connection
        again = kept->second.m;
      } else if (r.number < c.dropped_below) {
        is_dropped = true;
      } else {
        c.answers[r.number] = {link, false, {}};
      }
    }
  }
  if (again) {
    try {
      endpoint_->send(link, *again);
    } catch (const error&) {
    }
    return;
  }
  if (m.incarnation != 0 && m.incarnation != self_.incarnation)
    return fail(r, status::aborted, self_.name() + " was started again: the request is for the one before");
  if (is_dropped) return fail(r, status::aborted, "the answer to request " + std::to_string(r.number) + " is no longer kept");
  if (!on_request) return fail(r, status::unimplemented, self_.name() + " takes no requests");
  r.m = std::move(m);
  try {
    on_request(r);
  } catch (const std::exception& e) {
    fail(r, e);
  }
}

LEAT_FUNCTION void messenger::finished(link_id link, message m) {
  std::shared_ptr<pending> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(m.number);
    if (found == calls_.end() || found->second->to != link) return;  // late, or of an unknown request
    call = found->second;
    calls_.erase(found);
    if (const auto p = peers_.find(link); p != peers_.end()) --p->second->calls;
  }
  if (m.what != kind::failure) return complete(call, std::move(m), status::ok, {});
  const auto code = m.flags == 0 ? status::unknown : static_cast<status>(m.flags);
  complete(call, {}, code, m.parts.empty() ? "an error without words" : std::string(m.parts[0].text()));
}

}  // namespace leat::transport
