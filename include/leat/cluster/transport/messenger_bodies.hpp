#pragma once
// Implementation of messenger.hpp.

#include <leat/cluster/transport/messenger.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace leat::transport {

namespace detail {
inline constexpr std::uint16_t flag_repeatable = 1;   // of a request
inline constexpr std::uint16_t flag_wants_beats = 1;  // of a beat
inline constexpr std::size_t remembered_departures = 4096;
inline constexpr std::size_t remembered_callers = 1024;

LEAT_FUNCTION std::int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

LEAT_FUNCTION std::string seconds(steady_time::duration d) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(d).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}
}  // namespace detail

struct messenger::peer_state {
  peer_info info;
  expectation wants;
  std::vector<std::shared_ptr<std::atomic<bool>>> waiters;
  bool is_open = false;
  int watches = 0;
  int calls = 0;  // under way
  bool wants_beats = false;
  bool asked_for_beats = false;
  std::int64_t greeted_at = 0;
  // Since the last look: what its step said, and when that last changed.
  bool is_busy = false;
  steady_time progressed{};
  steady_time grace{};  // silence before this is our own
};

struct messenger::pending {
  std::uint64_t number = 0;
  peer_id to = 0;
  std::atomic<bool> done{false};
  bool is_repeatable = false;
  // The exception is made by the thread that throws it.
  message answer;
  status code = status::ok;
  std::string problem;
  std::function<void(outcome)> then;
};

struct messenger::kept_answer {
  link_id to = 0;
  bool is_there = false;
  message m;
};
struct messenger::caller {
  std::map<std::uint64_t, kept_answer> answers;
  std::size_t bytes = 0;
  std::uint64_t dropped_below = 0;
};

LEAT_FUNCTION messenger::messenger(messenger_options options) : options_(std::move(options)), self_(options_.self) {
  self_.incarnation = random_incarnation();
  self_.process = ::getpid();
  endpoint_ = std::make_unique<endpoint>(options_.endpoint, static_cast<endpoint_handler&>(*this));
  if (self_.address.empty()) self_.address = endpoint_->address();
}

LEAT_FUNCTION messenger::~messenger() {
  try {
    close(std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
  } catch (const failed_precondition&) {
    // the child of a fork
  }
}

LEAT_FUNCTION void messenger::start() { endpoint_->start(); }

LEAT_FUNCTION std::string messenger::place_of(const peer_state& p) const {
  std::string name = p.info.who.incarnation != 0 ? p.info.who.name() : p.wants.name();
  if (name.empty()) name = "the task";
  return p.info.address.empty() ? name : name + " at " + p.info.address;
}

LEAT_FUNCTION peer_id messenger::dial(const std::string& address, expectation wants, steady_time name_deadline) {
  endpoint_->check_process();
  transport::address where = parse_address(address);
  where.host = resolve(where.host, name_deadline);
  const std::lock_guard lock(mutex_);
  if (is_closing_) throw cancelled("the connection to " + address + ": this process is leaving the cluster");
  const link_id link = endpoint_->dial(where.text(), name_deadline);
  auto made = std::make_unique<peer_state>();
  made->info.address = address;
  made->wants = std::move(wants);
  peers_[link] = std::move(made);
  return link;
}

LEAT_FUNCTION void messenger::await(peer_id p, steady_time deadline) {
  endpoint_->check_process();
  auto done = std::make_shared<std::atomic<bool>>(false);
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(p);
    if (found != peers_.end() && found->second->info.is_ready) return;
    if (found != peers_.end()) found->second->waiters.push_back(done);
    else *done = true;
  }
  endpoint_->wait(*done, deadline);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = peers_.find(p); found != peers_.end()) {
      if (found->second->info.is_ready) return;
    } else {
      const auto gone = gone_.find(p);
      if (gone == gone_.end()) throw unavailable("a connection that was never made, or ended long ago");
      std::rethrow_exception(exception_of(gone->second.code, gone->second.text));
    }
  }
  throw unavailable(describe(p));
}

LEAT_FUNCTION std::string messenger::describe(peer_id p) {
  endpoint_->check_process();
  std::string place;
  transport::address where;
  bool is_open = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(p);
    if (found == peers_.end()) {
      const auto gone = gone_.find(p);
      return gone == gone_.end() ? "a connection that was never made, or ended long ago" : gone->second.text;
    }
    const peer_state& state = *found->second;
    place = place_of(state);
    if (state.info.is_ready) return place + ": ready";
    is_open = state.is_open;
    if (!state.info.address.empty()) where = parse_address(state.info.address);
  }
  if (is_open)
    return place + ": took the connection, but has not answered the greeting: it is stopped or busy, or no server of this library";
  const std::string met = probe(where, std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
  return place + ": not reached; the last attempt met: " + (met == "accepted" ? "a connection that says nothing" : met);
}

LEAT_FUNCTION std::optional<peer_id> messenger::find(const std::string& job, int task) const {
  const std::lock_guard lock(mutex_);
  std::optional<peer_id> latest;
  for (const auto& [link, p] : peers_)
    if (p->info.is_ready && p->info.who.job == job && p->info.who.task == task && (!latest || link > *latest)) latest = link;
  return latest;
}

LEAT_FUNCTION std::optional<peer_info> messenger::info(peer_id p) const {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(p);
  if (found == peers_.end()) return std::nullopt;
  peer_info copy = found->second->info;
  copy.heard = endpoint_->heard(p);
  return copy;
}

LEAT_FUNCTION std::vector<peer_id> messenger::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<peer_id> all;
  for (const auto& [link, p] : peers_) all.push_back(link);
  return all;
}

LEAT_FUNCTION void messenger::hang_up(peer_id p, bool orderly) {
  if (orderly) try {
      message m;
      m.what = kind::goodbye;
      endpoint_->send(p, m);
    } catch (const error&) {
    }
  endpoint_->close_link(p, orderly);
  lose(p, {orderly, status::cancelled, "the connection was closed here"});
}

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
  return std::move(call->answer);
}

LEAT_FUNCTION std::uint64_t messenger::begin(peer_id p, message m, call_options options, std::function<void(outcome)> then) {
  const std::uint64_t number = start_call(p, std::move(m), options, std::move(then))->number;
  if (options.deadline != no_deadline) endpoint_->at(options.deadline, [this, number] { expire(number); });
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
    m.deadline = left;
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
      // All below are answered: the other side need not keep them.
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
  if (call->then) {
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
  try {
    message m;
    m.what = kind::cancel;
    m.number = number;
    endpoint_->send(call->to, m);
  } catch (const error&) {
    // Gone, or not taking anything: then it has nothing to cancel.
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
        c->second.bytes += static_cast<std::size_t>(m.bytes());
        // The oldest go first; who asks for one of them again is told so.
        auto& answers = c->second.answers;
        for (auto i = answers.begin(); c->second.bytes > options_.kept_bytes && i != answers.end();) {
          if (!i->second.is_there || i == kept) {
            ++i;
            continue;
          }
          c->second.bytes -= static_cast<std::size_t>(i->second.m.bytes());
          c->second.dropped_below = std::max(c->second.dropped_below, i->first + 1);
          i = answers.erase(i);
        }
      }
  }
  try {
    endpoint_->send(to, m);
  } catch (const unavailable&) {
    // Nobody waits for it any more, or asks for it again.
  } catch (const resource_exhausted&) {
    endpoint_->close_link(to, false);
    lose(to, {false, status::resource_exhausted, "the peer takes no answers"});
  }
}

LEAT_FUNCTION void messenger::note(peer_id p, message m) {
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
  endpoint_->send(p, m);
}

LEAT_FUNCTION void messenger::watch(peer_id p) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(p);
  if (found == peers_.end()) return;
  ++found->second->watches;
  found->second->grace = std::chrono::steady_clock::now();
  arm();
}

LEAT_FUNCTION void messenger::unwatch(peer_id p) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(p);
  if (found != peers_.end() && found->second->watches > 0) --found->second->watches;
}

// Signs of life: sent while this side watches, or the other asks for them.
LEAT_FUNCTION void messenger::arm() {
  if (is_armed_ || is_closing_) return;
  is_armed_ = true;
  last_tick_ = std::chrono::steady_clock::now();
  for (auto& [link, p] : peers_) p->grace = last_tick_;
  endpoint_->at(last_tick_ + options_.endpoint.heartbeat, [this] { tick(); });
}

LEAT_FUNCTION void messenger::tick() {
  struct beat {
    link_id to;
    bool wants;
  };
  std::vector<beat> beats;
  std::vector<std::pair<link_id, departure>> lost;
  {
    const std::lock_guard lock(mutex_);
    is_armed_ = false;
    if (is_closing_) return;
    const auto now = std::chrono::steady_clock::now();
    // If this process itself stood still, the others had no chance.
    const bool stood_still = now - last_tick_ > options_.endpoint.heartbeat * 2;
    bool again = false;
    for (auto& [link, p] : peers_) {
      if (!p->info.is_ready) continue;
      const bool watches = p->watches > 0 || p->calls > 0;
      if (!watches && !p->wants_beats && !p->asked_for_beats) continue;
      beats.push_back({link, watches});
      p->asked_for_beats = watches;
      again = again || watches || p->wants_beats;
      if (!watches) continue;
      if (stood_still) p->grace = now, p->progressed = now;
      const auto silent = now - std::max(endpoint_->heard(link), p->grace);
      if (silent >= options_.endpoint.silence)
        lost.push_back(
            {link,
             {false, status::unavailable,
              place_of(*p) + ": no sign of life for " + detail::seconds(silent) + ": it was stopped or cut off, or its host is gone"}});
      else if (options_.stalled.count() > 0 && p->is_busy && now - p->progressed >= options_.stalled)
        lost.push_back({link,
                        {false, status::unavailable,
                         place_of(*p) + ": its step has made no progress for " + detail::seconds(now - p->progressed) + ": it hangs"}});
    }
    if (again) {
      is_armed_ = true;
      last_tick_ = now;
      endpoint_->at(now + options_.endpoint.heartbeat, [this] { tick(); });
    }
  }
  for (auto& [link, why] : lost) {
    endpoint_->close_link(link, false);
    lose(link, std::move(why));
  }
  for (const beat& b : beats) try {
      message m;
      m.what = kind::beat;
      m.flags = b.wants ? detail::flag_wants_beats : 0;
      m.mark = progress_;
      m.edge = static_cast<std::uint32_t>(std::max(0, steps_.load()));
      endpoint_->send(b.to, m);
    } catch (const error&) {
    }
}

LEAT_FUNCTION void messenger::beaten(link_id link, const message& m) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(link);
  if (found == peers_.end() || !found->second->info.is_ready) return;
  peer_state& p = *found->second;
  const bool is_busy = m.edge > 0;
  if (m.mark != p.info.progress || !p.is_busy || !is_busy) p.progressed = std::chrono::steady_clock::now();
  p.is_busy = is_busy;
  p.info.progress = m.mark;
  const bool wanted = m.flags & detail::flag_wants_beats;
  if (wanted && !p.wants_beats) {
    p.wants_beats = true;
    arm();
  }
  p.wants_beats = wanted;
}

LEAT_FUNCTION void messenger::close(steady_time deadline) {
  endpoint_->check_process();
  std::vector<link_id> all;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_closing_, true)) return;
    for (const auto& [link, p] : peers_)
      if (p->info.is_ready) all.push_back(link);
  }
  for (const link_id link : all) try {
      message m;
      m.what = kind::goodbye;
      endpoint_->send(link, m);
    } catch (const error&) {
    }
  endpoint_->close(deadline);
  std::vector<std::shared_ptr<pending>> calls;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, call] : calls_) calls.push_back(call);
    calls_.clear();
    for (auto& [link, p] : peers_)
      for (auto& waiter : p->waiters) *waiter = true;
    peers_.clear();
  }
  for (auto& call : calls) complete(call, {}, status::cancelled, "this process is leaving the cluster");
  endpoint_->wake();
}

// ---------------------------------------------------------------------------------------------------------------------
// What arrives

LEAT_FUNCTION void messenger::send_greeting(link_id link, kind what, const expectation& wants) {
  message m;
  m.what = what;
  m.parts.push_back(encode_greeting({self_, wants, detail::clock_now()}));
  endpoint_->send(link, m);
}

LEAT_FUNCTION void messenger::opened(link_id link, bool accepted) {
  expectation wants;
  {
    const std::lock_guard lock(mutex_);
    auto& p = peers_[link];
    if (p == nullptr) p = std::make_unique<peer_state>();
    p->is_open = true;
    p->info.is_accepted = accepted;
    p->info.by = endpoint_->way_of(link).value_or(way::network);
    p->greeted_at = detail::clock_now();
    wants = p->wants;
  }
  if (accepted) return;
  try {
    send_greeting(link, kind::hello, wants);
  } catch (const error&) {
    // `closed` follows
  }
}

LEAT_FUNCTION void messenger::refuse(link_id link, status code, const std::string& text) {
  try {
    message m;
    m.what = kind::refusal;
    m.flags = static_cast<std::uint16_t>(code);
    m.parts.push_back(frame::copy_of(std::string_view(text)));
    endpoint_->send(link, m);
  } catch (const error&) {
  }
  endpoint_->close_link(link, true);
  lose(link, {false, code, text});
}

LEAT_FUNCTION void messenger::greeted(link_id link, const message& m) {
  greeting g;
  std::optional<std::pair<status, std::string>> refusal;
  try {
    if (m.parts.size() != 1) throw data_loss("a greeting has one part");
    g = decode_greeting(m.parts[0]);
    refusal = refusal_of(self_, g);
    if (!refusal && admit) refusal = admit(g.who);
  } catch (const error& e) {
    refusal = {status_of(e), e.what()};
  }
  if (refusal) return refuse(link, refusal->first, refusal->second);
  peer_info info;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(link);
    if (found == peers_.end() || found->second->info.is_ready || !found->second->info.is_accepted) return;
    peer_state& p = *found->second;
    p.info.who = g.who;
    p.info.address = g.who.address;
    p.info.key = endpoint_->key_of(link);
    p.info.is_ready = true;
    p.grace = p.progressed = std::chrono::steady_clock::now();
    info = p.info;
  }
  endpoint_->trust(link);
  try {
    send_greeting(link, kind::welcome, {});
  } catch (const error&) {
    return;
  }
  if (on_ready) on_ready(link, info);
}

LEAT_FUNCTION void messenger::welcomed(link_id link, const message& m) {
  peer_info info;
  std::vector<std::shared_ptr<std::atomic<bool>>> waiters;
  try {
    if (m.parts.size() != 1) throw data_loss("a greeting has one part");
    const greeting g = decode_greeting(m.parts[0]);
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(link);
    if (found == peers_.end() || found->second->info.is_ready || found->second->info.is_accepted) return;
    peer_state& p = *found->second;
    const bool is_any_client = self_.job.empty() && self_.cluster.empty();
    if (g.who.cluster != self_.cluster && !is_any_client) throw failed_precondition(place_of(p) + " belongs to another cluster");
    const std::int64_t now = detail::clock_now();
    p.info.clock_error = (now - p.greeted_at) / 2;
    p.info.clock_offset = g.clock - p.greeted_at - p.info.clock_error;
    p.info.who = g.who;
    p.info.is_ready = true;
    p.grace = p.progressed = std::chrono::steady_clock::now();
    info = p.info;
    waiters.swap(p.waiters);
  } catch (const error& e) {
    endpoint_->close_link(link, false);
    return lose(link, {false, status_of(e), e.what()});
  }
  endpoint_->trust(link);
  if (on_ready) on_ready(link, info);
  for (auto& waiter : waiters) *waiter = true;
  endpoint_->wake();
}

LEAT_FUNCTION void messenger::received(link_id link, message m) {
  switch (m.what) {
    case kind::hello: return greeted(link, m);
    case kind::welcome: return welcomed(link, m);
    case kind::refusal: {
      std::string text = m.parts.empty() ? std::string() : std::string(m.parts[0].text().substr(0, 4096));
      const auto code = m.flags == 0 ? status::failed_precondition : static_cast<status>(m.flags);
      {
        const std::lock_guard lock(mutex_);
        if (const auto found = peers_.find(link); found != peers_.end()) text = place_of(*found->second) + " refused this process: " + text;
      }
      endpoint_->close_link(link, false);
      return lose(link, {false, code, text});
    }
    case kind::answer:
    case kind::failure: return finished(link, std::move(m));
    case kind::beat: return beaten(link, m);
    default: break;
  }
  bool is_ready = false;
  std::string place;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(link);
    if (found == peers_.end()) return;
    is_ready = found->second->info.is_ready;
    if (m.what == kind::goodbye) place = place_of(*found->second);
  }
  if (!is_ready) return refuse(link, status::failed_precondition, "a message before the greeting");
  switch (m.what) {
    case kind::request: return requested(link, std::move(m));
    case kind::note:
      if (m.incarnation != 0 && m.incarnation != self_.incarnation) return;
      if (on_note) on_note(link, std::move(m));
      return;
    case kind::cancel:
      if (on_cancel) on_cancel(link, m.number);
      return;
    case kind::goodbye: endpoint_->close_link(link, false); return lose(link, {true, status::unavailable, place + ": has ended in order"});
    default: return refuse(link, status::data_loss, "a message of a kind that is not expected here");
  }
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
        // Those that are gone without a goodbye, and did not come back.
        std::erase_if(callers_, [&](const auto& c) {
          return std::none_of(peers_.begin(), peers_.end(), [&](const auto& p) { return p.second->info.who.incarnation == c.first; });
        });
      }
      caller& c = callers_[r.who.incarnation];
      while (!c.answers.empty() && c.answers.begin()->first < std::min(m.mark, r.number)) {
        if (c.answers.begin()->second.is_there) c.bytes -= static_cast<std::size_t>(c.answers.begin()->second.m.bytes());
        c.answers.erase(c.answers.begin());
      }
      if (const auto kept = c.answers.find(r.number); kept != c.answers.end()) {
        kept->second.to = link;
        if (!kept->second.is_there) return;  // it runs; its answer goes to the new connection
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
    if (found == calls_.end() || found->second->to != link) return;  // late, or nobody's
    call = found->second;
    calls_.erase(found);
    if (const auto p = peers_.find(link); p != peers_.end()) --p->second->calls;
  }
  if (m.what != kind::failure) return complete(call, std::move(m), status::ok, {});
  const auto code = m.flags == 0 ? status::unknown : static_cast<status>(m.flags);
  complete(call, {}, code, m.parts.empty() ? "an error without words" : std::string(m.parts[0].text()));
}

LEAT_FUNCTION void messenger::closed(link_id link, const closing& why) {
  departure d;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(link);
    if (found == peers_.end()) return;
    d.code = why.why == closing::cause::refused_keys ? status::unauthenticated
             : why.why == closing::cause::bad_bytes  ? status::data_loss
                                                     : status::unavailable;
    d.text = place_of(*found->second) + ": " + why.text;
  }
  lose(link, std::move(d));
}

LEAT_FUNCTION void messenger::lose(link_id link, departure why) {
  std::unique_ptr<peer_state> p;
  std::vector<std::shared_ptr<pending>> calls;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(link);
    if (found == peers_.end()) return;
    p = std::move(found->second);
    peers_.erase(found);
    for (auto i = calls_.begin(); i != calls_.end();) {
      if (i->second->to != link) {
        ++i;
        continue;
      }
      calls.push_back(std::move(i->second));
      i = calls_.erase(i);
    }
    gone_[link] = why;
    if (gone_.size() > detail::remembered_departures) gone_.erase(gone_.begin());
    if (const auto c = callers_.find(p->info.who.incarnation); c != callers_.end() && why.is_orderly) callers_.erase(c);
  }
  for (auto& call : calls) complete(call, {}, why.is_orderly ? status::unavailable : why.code, why.text);
  for (auto& waiter : p->waiters) *waiter = true;
  endpoint_->wake();
  // Whoever dialed waits for it, even if it never introduced itself.
  if ((p->info.is_ready || !p->info.is_accepted) && on_gone) on_gone(link, p->info, why);
}

}  // namespace leat::transport
