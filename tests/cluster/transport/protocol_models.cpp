// The protocols between two ends of a connection, and between the threads of one end, as small models whose interleavings are all walked:
// none may end in a deadlock. Each step of a model is one statement of the code, which its name or a comment says. Loads and stores of
// different variables take effect in the order of each thread, which is why the code's are sequentially consistent. The models know no
// timers: in a running process, signs of life every half second would hide a lost wake-up.
//
// Each model also has forms that were wrong once, or would be: the walk must find their faults, or it would prove nothing.

#include "cluster/support/interleavings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace leat_test;

namespace {

// Bells: a writer and a reader with a ring of two slots, and another thread of the reader's process that releases frames. Both ends sleep
// in their reactors; a bell is a byte on a socket that has little room.
// impl/shared_segment.hpp: segment_writer::write, place, must_ring; segment_reader::read, sleep, returns::give.
// impl/shared_carrier.hpp: shared_carrier::advance, shared_channel::send.
struct bells {
  enum class form { right, writer_looks_once, reader_looks_once, bells_by_events };
  // Between two times that the socket is emptied it gets at most as many bells as are asked for, and one of each thread that had been asked
  // before and was late: three here.
  static constexpr int slots = 2, room = 4, bells_at_once = 2;
  form f = form::right;
  int to_send = 3;
  int head = 0, tail = 0, returned = 0, writer_waits = 0, reader_sleeps = 0;  // segment_control
  int held = 0;                                                             // frames that the other thread is to let go of
  int collected = 0, used = 0;                                              // what the writer has seen
  bool is_blocked = false;
  struct end {
    int at = 0;
    bool event = false;  // of its socket
    int bells = 0;       // bytes in it
    int count = 0;       // asked - taken, or events, since it was emptied
    auto operator<=>(const end&) const = default;
  } w{2}, r{2};
  int other = 0;  // where the other thread stands
  bool has_other = true;
  auto operator<=>(const bells&) const = default;

  static void ring(end& e) {  // detail::ring: a full socket loses the byte
    if (e.bells == room) return;
    ++e.bells;
    e.event = true;
  }
  void ask(end& e) const { e.count += f != form::bells_by_events; }  // ++asked_
  // The beginning of advance: whether the bells are taken from the socket.
  void empty(end& e) const {
    e.count += f == form::bells_by_events;
    if (e.count >= bells_at_once) e.count = e.bells = 0;
  }
  bool has_room() const { return used < slots && head - collected < slots; }

  void steps(std::vector<step_of<bells>>& all) const {
    const auto step = [&](const char* name, auto change) {
      bells b = *this;
      change(b);
      all.push_back({name, std::move(b)});
    };
    switch (w.at) {
      case 0:  // reactor::wait_for_events
        if (w.event) step("writer: event", [](bells& b) { b.w.event = false, b.w.at = 1; });
        break;
      case 1:  // advance: recv of bells; then writable, if it was blocked
        step("writer: advance", [](bells& b) {
          b.empty(b.w);
          b.w.at = b.is_blocked ? 2 : 0;
          b.is_blocked = false;
        });
        break;
      case 2:  // write: place: collect: returned.load
        if (to_send == 0) step("writer: sleeps", [](bells& b) { b.w.at = 0; });
        else step("writer: loads returned", [](bells& b) { b.collected = b.returned, b.w.at = 3; });
        break;
      case 3:  // place: tail.load
        step("writer: loads tail", [](bells& b) {
          b.used = b.head - b.tail;
          b.w.at = b.has_room() ? 8 : 4;
        });
        break;
      case 4:  // write: ++asked_, writer_waits.store(1)
        step("writer: announces that it waits", [](bells& b) {
          b.ask(b.w);
          b.writer_waits = 1;
          b.w.at = 5;
          if (b.f == form::writer_looks_once) b.is_blocked = true, b.w.at = 0;
        });
        break;
      case 5:  // the second place
        step("writer: loads returned again", [](bells& b) { b.collected = b.returned, b.w.at = 6; });
        break;
      case 6:
        step("writer: loads tail again", [](bells& b) {
          b.used = b.head - b.tail;
          b.w.at = b.has_room() ? 7 : 0;
          if (b.w.at == 0) b.is_blocked = true;
        });
        break;
      case 7: step("writer: waits no more", [](bells& b) { b.writer_waits = 0, b.w.at = 8; }); break;
      case 8: step("writer: stores head", [](bells& b) { ++b.head, --b.to_send, b.w.at = 9; }); break;
      case 9:  // must_ring
        step("writer: loads reader_sleeps", [](bells& b) { b.w.at = b.reader_sleeps != 0 ? 10 : 2; });
        break;
      case 10: step("writer: exchanges reader_sleeps", [](bells& b) { b.w.at = std::exchange(b.reader_sleeps, 0) != 0 ? 11 : 2; }); break;
      default: step("writer: rings", [](bells& b) { ring(b.r), b.w.at = 2; }); break;
    }
    switch (r.at) {
      case 0:
        if (r.event) step("reader: event", [](bells& b) { b.r.event = false, b.r.at = 1; });
        break;
      case 1: step("reader: advance", [](bells& b) { b.empty(b.r), b.r.at = 2; }); break;
      case 2:  // read: head.load
        step("reader: loads head", [](bells& b) { b.r.at = b.head == b.tail ? 3 : 6; });
        break;
      case 3:  // sleep: ++asked_, reader_sleeps.store(1)
        step("reader: announces that it sleeps", [](bells& b) {
          b.ask(b.r);
          b.reader_sleeps = 1;
          b.r.at = b.f == form::reader_looks_once ? 0 : 4;
        });
        break;
      case 4: step("reader: loads head again", [](bells& b) { b.r.at = b.head == b.tail ? 0 : 5; }); break;
      case 5: step("reader: sleeps no more", [](bells& b) { b.reader_sleeps = 0, b.r.at = 2; }); break;
      case 6:  // read: a frame in place, or a copy
        if (has_other) step("reader: keeps a frame in place", [](bells& b) { ++b.held, b.r.at = 10; });
        step("reader: copies a frame, stores returned", [](bells& b) { ++b.returned, b.r.at = 7; });
        break;
      case 7:  // give
        step("reader: loads writer_waits", [](bells& b) { b.r.at = b.writer_waits != 0 ? 8 : 10; });
        break;
      case 8: step("reader: exchanges writer_waits", [](bells& b) { b.r.at = std::exchange(b.writer_waits, 0) != 0 ? 9 : 10; }); break;
      case 9: step("reader: rings", [](bells& b) { ring(b.w), b.r.at = 10; }); break;
      case 10: step("reader: stores tail", [](bells& b) { ++b.tail, b.r.at = 11; }); break;
      case 11: step("reader: loads writer_waits", [](bells& b) { b.r.at = b.writer_waits != 0 ? 12 : 2; }); break;
      case 12: step("reader: exchanges writer_waits", [](bells& b) { b.r.at = std::exchange(b.writer_waits, 0) != 0 ? 13 : 2; }); break;
      default: step("reader: rings", [](bells& b) { ring(b.w), b.r.at = 2; }); break;
    }
    switch (other) {  // give, by whoever drops a frame last
      case 0:
        if (held > 0) step("other: stores returned", [](bells& b) { --b.held, ++b.returned, b.other = 1; });
        break;
      case 1: step("other: loads writer_waits", [](bells& b) { b.other = b.writer_waits != 0 ? 2 : 0; }); break;
      case 2: step("other: exchanges writer_waits", [](bells& b) { b.other = std::exchange(b.writer_waits, 0) != 0 ? 3 : 0; }); break;
      default: step("other: rings", [](bells& b) { ring(b.w), b.other = 0; }); break;
    }
  }
  bool is_done() const { return to_send == 0 && head == tail && head == returned; }
};

// Credit: a sender, the receiver's endpoint, and two threads there that take messages.
// impl/endpoint_state.hpp: account::give; impl/endpoint.hpp: flush, received, send_credit.
struct credits {
  enum class form { right, announces_once };
  static constexpr int credit = 4, threshold = 2;  // messages
  form f = form::right;
  int to_send = 7;
  int sent = 0, known = 0;        // link_state::sent, returned
  int under_way = 0, waiting = 0;  // messages: in the transport; delivered, and not taken
  int told = -1;                   // the credit message that is under way; a later one says all that an earlier does
  int released = 0, announced = 0, number = 0;
  bool due = false, event = false;  // due_list; the receiver's reactor has been kicked, or has an event
  int endpoint = 0;
  struct taker {
    int at = 0, now = 0;
    auto operator<=>(const taker&) const = default;
  };
  std::array<taker, 2> takers;
  auto operator<=>(const credits&) const = default;

  void steps(std::vector<step_of<credits>>& all) const {
    const auto step = [&](std::string name, auto change) {
      credits c = *this;
      change(c);
      all.push_back({std::move(name), std::move(c)});
    };
    if (told >= 0) step("sender: receives credit", [](credits& c) { c.known = std::exchange(c.told, -1); });
    // flush; the carrier's bell is a step of its own in `bells`
    if (const int held = sent - known; to_send > 0 && !(held >= threshold && held + 1 > credit))
      step("sender: sends", [](credits& c) { ++c.sent, --c.to_send, ++c.under_way, c.event = true; });
    switch (endpoint) {
      case 0:
        if (event) step("endpoint: event", [](credits& c) { c.event = false, c.endpoint = 1; });
        break;
      case 1: step("endpoint: receives", [](credits& c) { c.waiting += std::exchange(c.under_way, 0), c.endpoint = 2; }); break;
      case 2:  // send_credit: due_->any, links.swap
        step("endpoint: looks who is due", [](credits& c) { c.endpoint = std::exchange(c.due, false) ? 3 : 0; });
        break;
      case 3: step("endpoint: loads released", [](credits& c) { c.number = c.released, c.endpoint = 4; }); break;
      case 4: step("endpoint: stores announced", [](credits& c) { c.announced = c.number, c.endpoint = 5; }); break;
      case 5:
        step("endpoint: sends credit", [](credits& c) {
          c.told = c.number;
          c.endpoint = c.f == form::announces_once ? 0 : 6;
        });
        break;
      default:  // "What was taken between the two numbers may have crossed the new threshold unnoticed."
        step("endpoint: loads released again", [](credits& c) {
          if (c.released - c.number >= threshold) c.due = c.event = true;
          c.endpoint = 0;
        });
        break;
    }
    for (std::size_t k = 0; k < takers.size(); ++k) {
      const std::string name = "taker " + std::to_string(k);
      switch (takers[k].at) {
        case 0:
          if (waiting > 0) step(name + ": takes a message", [k](credits& c) { --c.waiting, c.takers[k].at = 1; });
          break;
        case 1:  // give: released.fetch_add
          step(name + ": adds to released", [k](credits& c) { c.takers[k] = {2, ++c.released}; });
          break;
        case 2:  // announced.load; who crosses the threshold goes on
          step(name + ": loads announced", [k](credits& c) {
            const int limit = c.announced + threshold, now = c.takers[k].now;
            c.takers[k].at = now < limit || now - 1 >= limit ? 0 : 3;
            c.takers[k].now = 0;
          });
          break;
        default:  // due_list::add
          step(name + ": kicks", [k](credits& c) { c.due = c.event = true, c.takers[k].at = 0; });
          break;
      }
    }
  }
  bool is_done() const { return to_send == 0 && under_way == 0 && waiting == 0; }
};

// An arena of eight blocks, of which five may be held: heads of one block, which messages have while they are queued, and bodies of two,
// which get theirs when they are published. A message that was read is kept forever, or for some time; progress must not depend on its
// release. impl/shared_segment.hpp: arena_space::take, give; segment_reader::returns::may_hold.
struct arena {
  enum class form { right, heads_anywhere };
  static constexpr int blocks = 8, held_end = 5, credit = 2, most_queued = 3;
  static constexpr char none = -1;  // of a head: memory elsewhere, which is copied when it is published
  form f = form::right;
  int to_send = 6;
  struct message {
    char head = none, body = none;
    char state = 0;  // queued, published, kept, kept for some time
    auto operator<=>(const message&) const = default;
  };
  std::vector<message> messages;  // in the order they were sent, without those that are let go of
  int sent = 0, granted = 0, read = 0;
  unsigned cached = 0;  // arena_space::small_
  auto operator<=>(const arena&) const = default;

  unsigned taken() const {
    unsigned all = cached;
    for (const message& m : messages) {
      if (m.head != none) all |= 1u << m.head;
      if (m.body != none) all |= 3u << m.body;
    }
    return all;
  }
  // arena_space::take: the lowest that fits
  char take(int count, int end, unsigned& more) {
    const unsigned all = taken() | more;
    const unsigned wanted = (1u << count) - 1;
    if (count == 1 && cached != 0) {
      for (char at = 0; at < blocks; ++at)
        if ((cached >> at & 1u) != 0) return cached &= ~(1u << at), more |= 1u << at, at;
    }
    for (char at = 0; at + count <= end; ++at)
      if ((all & wanted << at) == 0) return more |= wanted << at, at;
    return none;
  }
  void give_head(char at) {  // arena_space::give
    if (at != none && (f == form::heads_anywhere || at < held_end)) cached |= 1u << at;
  }
  bool flush() {  // endpoint::flush, segment_writer::write
    bool any = false;
    for (message& m : messages) {
      if (m.state != 0) continue;
      if (sent - granted >= credit) break;
      const unsigned before = cached;
      unsigned more = 0;
      const char head = m.head != none ? m.head : take(1, blocks, more);
      const char body = take(2, blocks, more);
      if (head == none || body == none) {
        cached = before;
        break;
      }
      m = {head, body, 1};
      ++sent;
      any = true;
    }
    return any;
  }

  void steps(std::vector<step_of<arena>>& all) const {
    const auto step = [&](const char* name, auto change) {
      arena a = *this;
      if (change(a)) all.push_back({name, std::move(a)});
    };
    const auto queued = std::count_if(messages.begin(), messages.end(), [](const message& m) { return m.state == 0; });
    if (to_send > 0 && queued < most_queued)
      step("try_send", [](arena& a) {  // encode takes the head's memory
        unsigned more = 0;
        const char head = a.take(1, a.f == form::heads_anywhere ? blocks : held_end, more);
        a.messages.push_back({head, none, 0});
        --a.to_send;
        a.flush();
        return true;
      });
    step("flush", [](arena& a) { return a.flush(); });  // after a bell
    if (granted < read) step("grant", [](arena& a) { return a.granted = a.read, true; });
    for (std::size_t k = 0; k < messages.size(); ++k) {
      if (messages[k].state == 3)
        step("let go", [k](arena& a) {
          const char head = a.messages[k].head;
          a.messages.erase(a.messages.begin() + static_cast<std::ptrdiff_t>(k));
          a.give_head(head);
          return true;
        });
      if (messages[k].state != 1 || (k > 0 && messages[k - 1].state == 1)) continue;
      for (const char kept : {char{2}, char{3}})
        step(kept == 2 ? "read, and keep" : "read", [k, kept](arena& a) {
          // The head is decoded and let go of; the body stays in place if it may.
          message& m = a.messages[k];
          const char head = std::exchange(m.head, none);
          m.state = kept;
          if (m.body + 2 > held_end) a.messages.erase(a.messages.begin() + static_cast<std::ptrdiff_t>(k));
          a.give_head(head);
          ++a.read;
          return true;
        });
    }
  }
  bool is_done() const {
    return to_send == 0 && std::none_of(messages.begin(), messages.end(), [](const message& m) { return m.state == 0; });
  }
};

// The threads of one end: the endpoint's own, and two that wait for an answer each, of which one takes part in the loop. An event of a
// descriptor goes to one of the threads that wait for it. impl/reactor.hpp: handle, loop, wait, wake, kick_others.
struct loop_of_threads {
  enum class form { right, kick_is_not_passed_on, turn_is_not_handed_over };
  static constexpr int most_pending = 3;  // else the loop's thread may kick itself without end while the other runs
  form f = form::right;
  std::array<bool, 2> to_come{true, true}, arrived{}, done{};
  bool bell = false, kick = false;  // events
  bool ready = false, kicked = false, has_driver = false, driver_wake = false;
  int pending = 0;
  struct thread {
    int at = 0, seen = 0;
    bool took_kick = false, handled = false;
    auto operator<=>(const thread&) const = default;
  };
  std::array<thread, 3> threads{{{3}, {0}, {0}}};  // the endpoint's; those that wait
  auto operator<=>(const loop_of_threads&) const = default;

  void kick_others() {
    if (!std::exchange(kicked, true)) kick = true;
  }
  void steps(std::vector<step_of<loop_of_threads>>& all) const {
    const auto add = [&](std::string name, auto change) {
      loop_of_threads l = *this;
      change(l);
      all.push_back({std::move(name), std::move(l)});
    };
    for (std::size_t k = 0; k < to_come.size(); ++k)
      if (to_come[k])
        add("answer " + std::to_string(k + 1) + " arrives",
            [k](loop_of_threads& l) { l.to_come[k] = false, l.arrived[k] = l.bell = true; });
    for (std::size_t k = 0; k < threads.size(); ++k) {
      const bool waits = k > 0;
      const auto is_done = [k](const loop_of_threads& l) { return l.done[k - 1]; };
      const auto step = [&](const char* name, auto change) {
        add((waits ? "waiter " + std::to_string(k) : std::string("loop")) + ": " + name,
            [&, k](loop_of_threads& l) { change(l, l.threads[k]); });
      };
      const int after_handle = waits ? 2 : 30;
      using L = loop_of_threads;
      using T = thread;
      switch (threads[k].at) {
        case 0: step("done?", [&](L& l, T& t) { t.at = is_done(l) ? 99 : 1; }); break;
        case 1: step("exchanges has_driver", [&](L& l, T& t) { t.at = std::exchange(l.has_driver, true) ? 20 : 2; }); break;
        case 2: step("done?", [&](L& l, T& t) { t.at = is_done(l) ? 10 : 3; }); break;
        case 3:  // wait_for_events
          if (bell) step("takes a bell", [&](L& l, T& t) { l.bell = t.took_kick = false, t.at = waits ? 4 : 5; });
          if (kick) step("takes a kick", [&](L& l, T& t) { l.kick = false, t.took_kick = true, t.at = waits ? 4 : 5; });
          break;
        case 4: step("stores no driver_wake", [&](L& l, T& t) { l.driver_wake = false, t.at = 5; }); break;
        case 5:  // handle, under ready_mutex_
          step("leaves its event", [&](L& l, T& t) {
            if (std::exchange(t.took_kick, false)) l.kicked = false;
            else l.ready = true;
            t.at = 6;
          });
          break;
        case 6:
          if (pending < most_pending) step("adds to pending", [&](L& l, T& t) { t.at = l.pending++ != 0 ? after_handle : 7; });
          break;
        case 7: step("loads pending", [&](L& l, T& t) { t.seen = l.pending, t.at = 8; }); break;
        case 8: step("swaps ready", [&](L& l, T& t) { t.handled = std::exchange(l.ready, false), t.at = 9; }); break;
        case 9:  // run: a handler sets done
          step("runs", [&](L& l, T& t) {
            t.at = 13;
            for (std::size_t a = 0; t.handled && a < 2; ++a)
              if (std::exchange(l.arrived[a], false)) {
                l.done[a] = true, t.at = 11;
                break;
              }
          });
          break;
        case 11:  // wake: notify_all
          step("notifies", [&](L& l, T& t) {
            for (thread& other : l.threads)
              if (other.at == 21) other.at = 20;
            t.at = !waits && l.has_driver ? 12 : 9;
          });
          break;
        case 12: step("stores driver_wake, kicks", [&](L& l, T& t) { l.driver_wake = true, l.kick_others(), t.at = 9; }); break;
        case 13:
          step("takes from pending", [&](L& l, T& t) {
            const bool was_all = l.pending == t.seen;
            l.pending -= std::exchange(t.seen, 0);
            t.at = was_all ? after_handle : waits ? 14 : 7;
          });
          break;
        case 14: step("done?", [&](L& l, T& t) { t.at = is_done(l) ? 15 : 7; }); break;
        case 15:
          step("stores pending", [&](L& l, T& t) {
            if (l.f != form::turn_is_not_handed_over) l.pending = 0;
            t.at = 16;
          });
          break;
        case 16: step("kicks", [&](L& l, T& t) { l.kick_others(), t.at = after_handle; }); break;
        case 10: step("stores no has_driver", [&](L& l, T& t) { l.has_driver = false, t.at = 99; }); break;
        case 20: step("done, under the mutex?", [&](L& l, T& t) { t.at = is_done(l) ? 99 : 21; }); break;
        case 30:  // "Where the system woke this thread instead of the one that is meant."
          step("driver_wake and has_driver?", [&](L& l, T& t) {
            t.at = l.f != form::kick_is_not_passed_on && l.driver_wake && l.has_driver ? 31 : 3;
          });
          break;
        case 31: step("kicks again", [&](L& l, T& t) { l.kick_others(), t.at = 3; }); break;
        default: break;  // 21: sleeps; 99: has its answer
      }
    }
  }
  bool is_done() const { return threads[1].at == 99 && threads[2].at == 99; }
};

// A thread that takes part in the loop sets a timer and leaves, while the endpoint's thread goes to sleep. impl/reactor.hpp: loop, wait.
struct timers {
  enum class form { right, told_after_it_looked };
  static constexpr int past = 0, soon = 1, never = 2;
  form f = form::right;
  int timer = never, sleeping_until = past, until = never;
  bool kick = false;
  int loop = 0, driver = 0;
  auto operator<=>(const timers&) const = default;

  void steps(std::vector<step_of<timers>>& all) const {
    const auto step = [&](const char* name, auto change) {
      timers t = *this;
      change(t);
      all.push_back({name, std::move(t)});
    };
    switch (loop) {
      case 0:
        step("loop: announces that it sleeps", [](timers& t) {
          if (t.f == form::right) t.sleeping_until = never;
          t.loop = 1;
        });
        break;
      case 1: step("loop: looks for a timer", [](timers& t) { t.until = t.timer, t.loop = 2; }); break;
      case 2: step("loop: tells until when it sleeps", [](timers& t) { t.sleeping_until = t.until, t.loop = 3; }); break;
      default:
        if (kick) step("loop: is kicked", [](timers& t) { t.kick = false, t.loop = 0; });
        break;
    }
    switch (driver) {
      case 0: step("driver: sets a timer", [](timers& t) { t.timer = soon, t.driver = 1; }); break;
      case 1: step("driver: leaves", [](timers& t) { t.driver = 2; }); break;
      case 2:
        step("driver: kicks who sleeps longer", [](timers& t) {
          if (t.timer < t.sleeping_until) t.kick = true;
          t.driver = 3;
        });
        break;
      default: break;
    }
  }
  bool is_done() const { return until == soon; }
};

}  // namespace

TEST_CASE("no bell is lost between a writer that waits for room, a reader that sleeps, and who lets go of frames") {
  CHECK(walk_all(bells{}).text() == "");
  for (const bells::form f : {bells::form::writer_looks_once, bells::form::reader_looks_once}) {
    CAPTURE(static_cast<int>(f));
    bells b;
    b.f = f;
    CHECK(walk_all(b).text() != "");
  }
}

TEST_CASE("bells are taken from their socket before it is full, however few events tell of them") {
  bells b;
  b.to_send = 5;
  b.has_other = false;
  CHECK(walk_all(b).text() == "");
  b.f = bells::form::bells_by_events;
  b.to_send = 7;
  CHECK(walk_all(b).text() != "");
}

TEST_CASE("credit comes back for all that is taken, whoever takes it while it is announced") {
  CHECK(walk_all(credits{}).text() == "");
  credits c;
  c.f = credits::form::announces_once;
  CHECK(walk_all(c).text() != "");
}

TEST_CASE("the next packet has room, whatever is kept and whatever waits behind it") {
  CHECK(walk_all(arena{}).text() == "");
  arena a;
  a.f = arena::form::heads_anywhere;
  CHECK(walk_all(a).text() != "");
}

TEST_CASE("who waits for an answer gets it, whichever thread takes the event, and whichever handles it") {
  CHECK(walk_all(loop_of_threads{}).text() == "");
  for (const loop_of_threads::form f : {loop_of_threads::form::kick_is_not_passed_on, loop_of_threads::form::turn_is_not_handed_over}) {
    CAPTURE(static_cast<int>(f));
    loop_of_threads l;
    l.f = f;
    CHECK(walk_all(l).text() != "");
  }
}

TEST_CASE("no timer is missed that is set while the loop's thread goes to sleep") {
  CHECK(walk_all(timers{}).text() == "");
  timers t;
  t.f = timers::form::told_after_it_looked;
  CHECK(walk_all(t).text() != "");
}
