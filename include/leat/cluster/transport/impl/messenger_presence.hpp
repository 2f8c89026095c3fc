#pragma once
// Implementation of messenger.hpp: heartbeats, and when silence ends a connection.

#include <leat/cluster/transport/impl/messenger_state.hpp>
#include <leat/core/error.hpp>

#include <algorithm>
#include <utility>

namespace leat::transport {

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

// Schedules heartbeats: they are sent while this side watches a peer, or a peer requests them.
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
    // If this process itself was stalled, its peers' heartbeats could not be handled, so silence is not counted.
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

}  // namespace leat::transport
