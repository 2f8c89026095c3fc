#pragma once
// Implementation of endpoint.hpp: connections, messages and their credit.

#include <leat/cluster/transport/endpoint.hpp>
#include <leat/cluster/transport/impl/endpoint_state.hpp>
#include <leat/cluster/transport/local_carrier.hpp>
#include <leat/cluster/transport/shared_carrier.hpp>
#include <leat/cluster/transport/zeromq_carrier.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <thread>
#include <utility>

namespace leat::transport {

LEAT_FUNCTION std::string_view name_of(way w) {
  return w == way::same_process ? "same process" : w == way::same_host ? "same host" : "network";
}

LEAT_FUNCTION way choose_way(const transport::address& where, const endpoint_options& options) {
  const bool trusts_this_host = !options.keys;
  if (options.same_process.value_or(trusts_this_host) && local_carrier::is_listening(where)) return way::same_process;
  if (options.same_host.value_or(trusts_this_host) && is_this_host(where.host)) return way::same_host;
  return way::network;
}

LEAT_FUNCTION endpoint::endpoint(endpoint_options options, endpoint_handler& handler)
    : options_(std::move(options)), handler_(handler), generation_(fork_generation()), reactor_(*this), due_(std::make_shared<due_list>()) {
  if (options_.keys) {
    const key_options& keys = *options_.keys;
    for (const std::string* key : {&keys.own.public_key, &keys.own.secret_key})
      if (!is_key(*key)) throw invalid_argument("a key of an endpoint is not 40 characters of Z85: `leat keys` makes pairs");
    for (const std::string& key : keys.allowed)
      if (!is_key(key)) throw invalid_argument("in the list of allowed clients: \"" + key + "\" is no key");
    if (!keys.server_key.empty() && !is_key(keys.server_key)) throw invalid_argument("the server's key is not 40 characters of Z85");
  }
  due_->loop = &reactor_;
  const bool trusts_this_host = !options_.keys;
  carrier_events& events = *this;
  auto network = std::make_unique<zeromq_carrier>(options_, events, reactor_, std::uint64_t{2} << detail::carrier_shift);
  auto local = std::make_unique<local_carrier>(events, reactor_);
  auto shared = std::make_unique<shared_carrier>(options_, events, reactor_, std::uint64_t{1} << detail::carrier_shift);
  if (!options_.listen.empty()) {
    transport::address where = parse_address(options_.listen);
    where.host = resolve(where.host == "*" ? "0.0.0.0" : where.host, std::chrono::steady_clock::now() + std::chrono::seconds(5));
    if (!is_loopback(where.host) && !options_.keys && !options_.insecure_network)
      throw invalid_argument(
          "to listen at " + where.text() +
          ", which other hosts can reach, an endpoint needs keys (`leat keys` makes them); insecure_network = true does without, "
          "and lets whoever reaches the port do everything");
    // With a chosen port, shared memory is offered first, because a peer that finds the port open expects shared memory to be available
    // too.
    const bool shares = options_.same_host.value_or(trusts_this_host);
    if (shares && where.port != 0) shared->listen(where);
    const bool was_chosen = where.port != 0;
    where = network->listen(where);
    listening_ = where.text();
    if (options_.same_process.value_or(trusts_this_host)) local->listen(where);
    if (shares && !was_chosen) shared->listen(where);
  }
  carriers_[0] = std::move(local);
  carriers_[1] = std::move(shared);
  carriers_[2] = std::move(network);
}

LEAT_FUNCTION endpoint::~endpoint() {
  if (generation_ != fork_generation()) {
    reactor_.forget();
    for (auto& c : carriers_) c->forget(), static_cast<void>(c.release());
    return;
  }
  close(std::chrono::steady_clock::now());
}

LEAT_FUNCTION void endpoint::check_process() const { check_generation(generation_); }

LEAT_FUNCTION void endpoint::start() {
  check_process();
  const std::lock_guard lock(mutex_);
  if (started_ || closed_) return;
  started_ = true;
  reactor_.start();
}

LEAT_FUNCTION endpoint::link_state* endpoint::find(link_id link) {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second.get();
}
LEAT_FUNCTION const endpoint::link_state* endpoint::find(link_id link) const {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second.get();
}

LEAT_FUNCTION endpoint::link_state& endpoint::add_link(std::shared_ptr<channel> c, bool is_accepted) {
  auto made = std::make_unique<link_state>();
  const link_id link = ++last_link_;
  c->link = link;
  made->c = std::move(c);
  made->is_accepted = is_accepted;
  made->heard = made->since = std::chrono::steady_clock::now();
  made->received = std::make_shared<account>();
  made->received->link = link;
  made->received->threshold = credit_step();
  made->received->due = due_;
  made->in.set_limits({.message_bytes = detail::stranger_bytes});
  return *(links_[link] = std::move(made));
}

LEAT_FUNCTION link_id endpoint::dial(const std::string& where, steady_time deadline) {
  check_process();
  transport::address to = parse_address(where);
  to.host = resolve(to.host, deadline);
  if (to.port == 0) throw invalid_argument("the address \"" + where + "\" has port 0, where nobody listens: the port that its "
                                          "server chose is in the server's target");
  if (!is_loopback(to.host) && !options_.keys && !options_.insecure_network)
    throw invalid_argument("to reach " + where +
                           " over the network, keys are needed (`leat keys` makes them); insecure_network = true does without, "
                           "and lets whoever is between read and write all that is sent");
  const way w = choose_way(to, options_);
  const std::lock_guard lock(mutex_);
  if (closed_) throw cancelled("the endpoint is closed");
  auto c = carriers_[static_cast<std::size_t>(w)]->dial(to);
  if (c == nullptr) c = carriers_[static_cast<std::size_t>(way::network)]->dial(to);
  const link_id link = add_link(std::move(c), false).c->link;
  reactor_.kick();
  return link;
}

LEAT_FUNCTION void endpoint::send(link_id link, const message& m) {
  if (try_send(link, m)) return;
  std::string peer = "a peer";
  std::size_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    if (const link_state* const l = find(link)) peer = l->c->peer(), waiting = l->queued;
  }
  throw resource_exhausted("the queue for " + peer + " is full: " + std::to_string(waiting) + " bytes wait, which the peer does not take");
}

LEAT_FUNCTION bool endpoint::try_send(link_id link, const message& m) {
  check_process();
  const std::lock_guard lock(mutex_);
  link_state* const l = find(link);
  if (l == nullptr || !l->is_open || l->closes_when_empty) throw unavailable("the connection has ended");
  std::vector<packet>& packets = encoded_;
  packets.clear();
  const bool counts = is_data(m.what);
  // A message that explains why nothing else follows must not be refused because the queue is full.
  const bool is_short = m.what == kind::failure || m.parts.empty();
  if (counts && l->queued >= options_.queue + (is_short ? options_.credit : 0)) return false;
  if (l->c->by == way::same_host) encode(m, l->c->chunk_bytes(), packets, [&](std::size_t bytes) { return l->c->allocate(bytes); });
  else encode(m, l->c->chunk_bytes(), packets);
  if (counts) ++counted_.messages_sent;
  for (packet& p : packets) {
    const std::size_t bytes = p.bytes();
    l->queued += bytes;
    if (counts) counted_.bytes_sent += bytes;
    // Messages that keep a connection alive precede data.
    if (counts || m.what == kind::goodbye) l->queue.push_back(std::move(p));
    else l->queue.push_front(std::move(p));
  }
  l->said_goodbye = l->said_goodbye || m.what == kind::goodbye;
  flush(*l);
  return true;
}

LEAT_FUNCTION void endpoint::flush(link_state& l) {
  while (!l.queue.empty()) {
    packet& p = l.queue.front();
    const std::size_t bytes = p.bytes();
    const bool counts = is_data(peek_kind(p).value_or(kind::beat));
    const std::uint64_t held = l.sent - l.returned;
    // The peer reports what it has taken in steps of a quarter of the credit, so a packet of almost the whole credit must not wait for a
    // report while less than one step is in flight.
    if (counts && held >= credit_step() && held + bytes > options_.credit) break;
    const channel::sending outcome = l.c->send(p);
    if (outcome == channel::sending::later) break;
    if (outcome == channel::sending::gone) {
      broken_.push_back(l.c->link);
      reactor_.kick();
      break;
    }
    if (counts) l.sent += bytes;
    l.queued -= bytes;
    l.queue.pop_front();
  }
  if (!l.waiters.empty() && l.queued < options_.queue) {
    for (auto& waiter : l.waiters) *waiter = true;
    l.waiters.clear();
    reactor_.wake();
  }
  if (l.queue.empty() && l.closes_when_empty) {
    broken_.push_back(l.c->link);
    reactor_.kick();
  }
}

LEAT_FUNCTION bool endpoint::wait_for_room(link_id link, steady_time deadline) {
  check_process();
  auto done = std::make_shared<std::atomic<bool>>(false);
  {
    const std::lock_guard lock(mutex_);
    link_state* const l = find(link);
    if (l == nullptr) return false;
    if (l->queued < options_.queue) return true;
    l->waiters.push_back(done);
  }
  const bool is_done = wait(*done, deadline);
  const std::lock_guard lock(mutex_);
  link_state* const l = find(link);
  if (!is_done && l != nullptr) std::erase(l->waiters, done);
  return is_done && l != nullptr;
}

LEAT_FUNCTION writable_frame endpoint::allocate(link_id link, std::size_t bytes) {
  check_process();
  const std::lock_guard lock(mutex_);
  link_state* const l = find(link);
  return l == nullptr ? writable_frame::make(bytes) : l->c->allocate(bytes);
}

LEAT_FUNCTION writable_frame endpoint::lend(link_id link, std::size_t bytes) {
  check_process();
  const std::lock_guard lock(mutex_);
  link_state* const l = find(link);
  return l == nullptr ? writable_frame() : l->c->lend(bytes);
}

LEAT_FUNCTION void endpoint::close_link(link_id link, bool orderly) {
  check_process();
  const std::lock_guard lock(mutex_);
  link_state* const l = find(link);
  if (l == nullptr) return;
  if (orderly && l->is_open && !l->queue.empty()) {
    l->closes_when_empty = true;
    return;
  }
  l->c->close(orderly);
  for (auto& waiter : l->waiters) *waiter = true;
  if (!l->waiters.empty()) reactor_.wake();
  if (l->is_accepted && !l->is_trusted) --strangers_;
  links_.erase(link);
}

LEAT_FUNCTION void endpoint::trust(link_id link) {
  const std::lock_guard lock(mutex_);
  link_state* const l = find(link);
  if (l == nullptr || l->is_trusted) return;
  l->is_trusted = true;
  if (l->is_accepted) --strangers_;
  l->in.set_limits({.message_bytes = options_.message_bytes});
}

LEAT_FUNCTION std::size_t endpoint::queued(link_id link) const {
  const std::lock_guard lock(mutex_);
  const link_state* const l = find(link);
  return l == nullptr ? 0 : l->queued;
}
LEAT_FUNCTION std::size_t endpoint::under_way(link_id link) const {
  const std::lock_guard lock(mutex_);
  const link_state* const l = find(link);
  return l == nullptr ? 0 : static_cast<std::size_t>(l->sent - l->returned);
}
LEAT_FUNCTION std::optional<way> endpoint::way_of(link_id link) const {
  const std::lock_guard lock(mutex_);
  const link_state* const l = find(link);
  if (l == nullptr) return std::nullopt;
  return l->c->by;
}
LEAT_FUNCTION steady_time endpoint::heard(link_id link) const {
  const std::lock_guard lock(mutex_);
  const link_state* const l = find(link);
  return l == nullptr ? steady_time() : l->heard;
}
LEAT_FUNCTION traffic endpoint::its_traffic() const {
  const std::lock_guard lock(mutex_);
  return counted_;
}
LEAT_FUNCTION std::string endpoint::key_of(link_id link) const {
  const std::lock_guard lock(mutex_);
  const link_state* const l = find(link);
  return l == nullptr ? std::string() : l->c->key();
}

LEAT_FUNCTION void endpoint::set_allowed(std::vector<std::string> keys) {
  check_process();
  for (const std::string& key : keys)
    if (!is_key(key)) throw invalid_argument("in the list of allowed clients: \"" + key + "\" is no key");
  const std::lock_guard lock(mutex_);
  if (!options_.keys) throw failed_precondition("the endpoint has no keys: everyone who reaches it is allowed");
  static_cast<zeromq_carrier&>(*carriers_[static_cast<std::size_t>(way::network)]).set_allowed(keys);
  for (auto& [link, l] : links_)
    if (l->is_accepted && l->c->by == way::network && std::find(keys.begin(), keys.end(), l->c->key()) == keys.end())
      end(link, {closing::cause::refused_keys, "the peer's key was revoked"});
  reactor_.kick();
}

LEAT_FUNCTION endpoint::timer endpoint::at(steady_time when, std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  const bool is_first = timers_.empty() || when < timers_.begin()->first.when;
  const timer t{when, ++last_timer_};
  timers_.emplace(t, std::move(f));
  if (is_first) timer_ = std::min(timer_.load(), when.time_since_epoch().count()), reactor_.kick();
  return t;
}

LEAT_FUNCTION void endpoint::forget(const timer& t) {
  std::function<void()> forgotten;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = timers_.find(t);
  if (found == timers_.end()) return;
  forgotten = std::move(found->second);
  timers_.erase(found);
}

LEAT_FUNCTION std::size_t endpoint::timers() const {
  const std::lock_guard lock(mutex_);
  return timers_.size();
}

LEAT_FUNCTION bool endpoint::wait(const std::atomic<bool>& done, steady_time deadline) {
  check_process();
  if (done) return true;
  if (reactor_.is_inside()) throw failed_precondition("a handler of messages waits for an answer, which only it could receive");
  return reactor_.wait(done, deadline);
}

// Ends a connection and reports it to the handler, once.
LEAT_FUNCTION void endpoint::end(link_id link, closing why, bool orderly) {
  link_state* const l = find(link);
  if (l == nullptr || l->is_ending) return;
  l->is_ending = true;
  l->c->close(orderly);
  deliveries_.push_back({delivery::type::closed, link, false, {}, std::move(why)});
  broken_.push_back(~link);  // erased in `run`, so that loops over links_ stay valid
}

LEAT_FUNCTION void endpoint::accepted(std::shared_ptr<channel> c) {
  // A new connection is more likely to be a genuine peer than the one that has not introduced itself for the longest time.
  if (strangers_ >= options_.strangers) drop_oldest_stranger();
  ++strangers_;
  link_state& l = add_link(std::move(c), true);
  l.is_open = true;
  deliveries_.push_back({delivery::type::opened, l.c->link, true, {}, {}});
}

LEAT_FUNCTION void endpoint::opened(channel& c) {
  link_state* const l = find(c.link);
  if (l == nullptr || l->is_open) return;
  l->is_open = true;
  deliveries_.push_back({delivery::type::opened, c.link, false, {}, {}});
}

LEAT_FUNCTION void endpoint::received(channel& c, packet p) {
  link_state* const l = find(c.link);
  if (l == nullptr || l->closes_when_empty) return;
  const link_id link = c.link;
  l->heard = std::chrono::steady_clock::now();
  try {
    const std::optional<kind> what = peek_kind(p);
    const bool counts = what && is_data(*what);
    const std::size_t bytes = p.bytes();
    std::optional<message> m = l->in.add(std::move(p));
    if (m && m->what == kind::credit) {
      if (m->number > l->sent || m->number < l->returned) throw data_loss("the peer returns credit that it was never given");
      l->returned = m->number;
      flush(*l);
      return;
    }
    if (counts) {
      l->message_bytes += bytes;
      counted_.bytes_received += bytes;
      if (m) ++counted_.messages_received;
    }
    if (!m) {
      // Credit of a long message is returned per packet: a message longer than the credit could never arrive if it were returned only with
      // the whole.
      if (l->message_bytes > options_.credit / 2) l->received->give(std::exchange(l->message_bytes, 0));
      return;
    }
    if (const std::uint64_t bytes_of_all = std::exchange(l->message_bytes, 0); bytes_of_all <= detail::token_bytes)
      l->received->give(bytes_of_all);
    else m->credit = std::make_shared<const lent_credit>(l->received, bytes_of_all);
    deliveries_.push_back({delivery::type::received, link, false, std::move(*m), {}});
  } catch (const failed_precondition& e) {
    // The peer has another version: the refusal is sent in this version's format, and the peer will refuse it with the same error.
    message refusal;
    refusal.what = kind::refusal;
    refusal.parts.push_back(frame::copy_of(std::string_view(e.what())));
    std::vector<packet> packets;
    encode(refusal, 0, packets);
    static_cast<void>(l->c->send(packets[0]));
    end(link, {closing::cause::bad_bytes, e.what()}, true);
  } catch (const error& e) {
    end(link, {closing::cause::bad_bytes, e.what()});
  }
}

LEAT_FUNCTION void endpoint::writable(channel& c) {
  if (link_state* const l = find(c.link)) flush(*l);
}

LEAT_FUNCTION void endpoint::closed(channel& c, closing why) {
  if (c.link != 0) end(c.link, std::move(why));
}

LEAT_FUNCTION void endpoint::fall_back(channel& c, const transport::address& where) {
  link_state* const l = find(c.link);
  if (l == nullptr || l->is_open) return;
  const link_id link = c.link;
  const std::shared_ptr<channel> before = l->c;
  try {
    l->c = carriers_[static_cast<std::size_t>(way::network)]->dial(where);
    l->c->link = link;
    before->link = 0;
    before->close(false);
  } catch (const error& e) {
    end(link, {closing::cause::lost, e.what()});
  }
}

LEAT_FUNCTION void endpoint::send_credit() {
  if (!due_->any.load()) return;
  std::vector<link_id> due;
  {
    const std::lock_guard lock(due_->mutex);
    due_->any = false;
    due.swap(due_->links);
  }
  for (const link_id link : due) {
    link_state* const l = find(link);
    if (l == nullptr || !l->is_open) continue;
    message m;
    m.what = kind::credit;
    m.number = l->received->released;
    l->received->announced = m.number;
    std::vector<packet> packets;
    encode(m, 0, packets);
    l->queued += packets[0].bytes();
    l->queue.push_front(std::move(packets[0]));
    flush(*l);
    // Bytes that were released between reading the two counters may have crossed the new threshold unnoticed.
    if (l->received->released - m.number >= l->received->threshold) {
      const std::lock_guard lock(due_->mutex);
      due_->add(link);
    }
  }
}

LEAT_FUNCTION void endpoint::drop_strangers(steady_time now) {
  if (strangers_ == 0) return;
  for (auto& [link, l] : links_)
    if (l->is_accepted && !l->is_trusted && now - l->since >= options_.stranger_time)
      end(link, {closing::cause::lost, "the peer did not introduce itself"});
}

LEAT_FUNCTION void endpoint::drop_oldest_stranger() {
  link_id oldest = 0;
  for (const auto& [link, l] : links_)
    if (l->is_accepted && !l->is_trusted && !l->is_ending && (oldest == 0 || link < oldest)) oldest = link;
  if (oldest != 0) end(oldest, {closing::cause::lost, "the peer did not introduce itself, and others came"});
}

LEAT_FUNCTION bool endpoint::run(const std::vector<std::uint64_t>& tokens) {
  std::vector<std::function<void()>> calls;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    for (const std::uint64_t token : tokens)
      if (const std::size_t index = (token & ~has_ended_flag) >> detail::carrier_shift; index < carriers_.size())
        carriers_[index]->handle(token & ((std::uint64_t{1} << detail::carrier_shift) - 1), (token & has_ended_flag) != 0);
    for (auto& c : carriers_) more = c->pump() || more;
    send_credit();
    steady_time next = no_deadline;
    const steady_time now = std::chrono::steady_clock::now();
    for (auto& c : carriers_) {
      if (c->next_timer() <= now) c->on_timer(now);
      next = std::min(next, c->next_timer());
    }
    drop_strangers(now);
    if (strangers_ > 0) next = std::min(next, now + options_.stranger_time / 4);
    while (!timers_.empty() && timers_.begin()->first.when <= now) {
      calls.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
    for (std::size_t i = 0; i < broken_.size(); ++i) {
      const link_id link = broken_[i] >> 63 ? ~broken_[i] : broken_[i];
      link_state* const l = find(link);
      if (l == nullptr) continue;
      if (!(broken_[i] >> 63)) {
        if (l->closes_when_empty) {
          l->c->close(true);
        } else {
          end(link, {closing::cause::lost, "the connection was lost"});
          continue;
        }
      }
      for (auto& waiter : l->waiters) *waiter = true;
      if (!l->waiters.empty()) reactor_.wake();
      if (l->is_accepted && !l->is_trusted) --strangers_;
      links_.erase(link);
    }
    broken_.clear();
    delivering_.swap(deliveries_);
    if (!timers_.empty()) next = std::min(next, timers_.begin()->first.when);
    timer_ = next.time_since_epoch().count();
  }
  for (delivery& d : delivering_) try {
      switch (d.what) {
        case delivery::type::opened: handler_.opened(d.link, d.is_accepted); break;
        case delivery::type::received: handler_.received(d.link, std::move(d.m)); break;
        case delivery::type::closed: handler_.closed(d.link, d.why); break;
      }
    } catch (const std::exception& e) {
      // Mostly out of memory: only the connection is lost, not the process.
      const std::lock_guard lock(mutex_);
      end(d.link, {closing::cause::lost, std::string("a message could not be handled: ") + e.what()});
      more = true;
    }
  delivering_.clear();
  for (const auto& call : calls) call();
  return more;
}

LEAT_FUNCTION steady_time endpoint::next_timer() { return steady_time(steady_time::duration(timer_.load())); }

LEAT_FUNCTION void endpoint::close(steady_time deadline) {
  check_process();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
  }
  // Packets that wait for credit or for the transport have until the deadline. A peer that reads a goodbye ends the connection; if this
  // side ended it earlier, with unread data of the peer, the system would discard data that the peer has not read yet.
  const steady_time patience = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(1000));
  while (started_ && !reactor_.is_inside()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) break;
    {
      const std::lock_guard lock(mutex_);
      if (std::all_of(links_.begin(), links_.end(), [&](const auto& l) {
            return !l.second->is_open || (l.second->queue.empty() && (!l.second->said_goodbye || now >= patience));
          }))
        break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (auto& [link, l] : links_) {
      for (auto& waiter : l->waiters) *waiter = true;
      l->c->close(true);
    }
    links_.clear();
  }
  reactor_.wake();
  reactor_.stop();
  {
    const std::lock_guard lock(due_->mutex);
    due_->loop = nullptr;
  }
  for (auto& c : carriers_) c->close(deadline);
}

}  // namespace leat::transport
