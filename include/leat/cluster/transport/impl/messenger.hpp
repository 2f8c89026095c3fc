#pragma once
// Implementation of messenger.hpp: connections, greetings and their ends.

#include <leat/cluster/transport/impl/messenger_calls.hpp>
#include <leat/cluster/transport/impl/messenger_presence.hpp>
#include <leat/cluster/transport/impl/messenger_state.hpp>
#include <leat/core/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace leat::transport {

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
    // In the child of a fork, the destructor would wait for threads that do not exist there.
    static_cast<void>(endpoint_.release());
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

LEAT_FUNCTION bool messenger::is_key_of_servers(const std::string& key) const {
  const key_options& keys = *options_.endpoint.keys;
  return key == keys.own.public_key || key == keys.server_key ||
         std::any_of(keys.server_keys.begin(), keys.server_keys.end(), [&](const auto& named) { return named.second == key; });
}

LEAT_FUNCTION void messenger::greeted(link_id link, const message& m) {
  greeting g;
  std::optional<std::pair<status, std::string>> refusal;
  try {
    if (m.parts.size() != 1) throw data_loss("a greeting has one part");
    g = decode_greeting(m.parts[0]);
    refusal = refusal_of(self_, g);
    if (!refusal && !g.who.job.empty() && options_.endpoint.keys && !is_key_of_servers(endpoint_->key_of(link)))
      refusal = {status::unauthenticated, self_.name() + ": who says to be " + g.who.name() + " has not the key of the cluster's servers"};
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
  if (p->info.is_ready && on_gone) on_gone(link, p->info, why);
  if (!p->info.is_ready && !p->info.is_accepted && on_refused) on_refused(link, why);
}

}  // namespace leat::transport
