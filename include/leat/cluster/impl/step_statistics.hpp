#pragma once
// Implementation of step_statistics.hpp: statistics as CBOR, with all numbers in one list and each string once.

#include <leat/cluster/step_statistics.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace leat::cluster {

// Numbers and strings that are written sequentially, and read in the same order.
class statistics_writer {
 public:
  void number(std::int64_t n) { numbers_.push_back(n); }
  void text(const std::string& s) {
    const auto [at, is_new] = known_.try_emplace(s, static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(s);
    number(at->second);
  }
  transport::frame end() {
    const nlohmann::json all{{"numbers", std::move(numbers_)}, {"texts", std::move(texts_)}};
    return transport::frame::of(nlohmann::json::to_cbor(all));
  }

 private:
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> texts_;
  std::map<std::string, std::int64_t> known_;
};

class statistics_reader {
 public:
  explicit statistics_reader(const transport::frame& f) {
    const auto* const first = reinterpret_cast<const std::uint8_t*>(f.data());
    const nlohmann::json all = nlohmann::json::from_cbor(first, first + f.size(), true, false);
    try {
      all.at("numbers").get_to(numbers_);
      all.at("texts").get_to(texts_);
    } catch (const nlohmann::json::exception& e) {
      throw data_loss(std::string("statistics of a step: ") + e.what());
    }
  }
  /// Errors: data_loss for a number that is missing or out of range.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    if (at_ == numbers_.size() || numbers_[at_] < least || numbers_[at_] > most)
      throw data_loss("statistics of a step contradict themselves");
    return numbers_[at_++];
  }
  std::int64_t count() { return number(0, last_clock); }
  std::int64_t clock() { return number(-last_clock, last_clock); }
  const std::string& text() { return texts_[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(texts_.size()) - 1))]; }
  // How many elements follow, each of at least this many numbers.
  std::size_t length(std::size_t numbers) {
    return static_cast<std::size_t>(number(0, static_cast<std::int64_t>((numbers_.size() - at_) / numbers)));
  }
  void end() const {
    if (at_ != numbers_.size()) throw data_loss("statistics of a step have more than they tell");
  }

 private:
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> texts_;
  std::size_t at_ = 0;
};

inline void put_events(statistics_writer& w, const std::vector<trace_event>& events) {
  w.number(static_cast<std::int64_t>(events.size()));
  for (const trace_event& e : events) {
    w.text(e.name), w.text(e.type), w.text(e.made_at);
    w.number(e.begin), w.number(e.end), w.number(e.thread), w.number(e.task);
  }
}
inline std::vector<trace_event> events_in(statistics_reader& r, std::int64_t tasks) {
  std::vector<trace_event> events(r.length(7));
  for (trace_event& e : events) {
    e.name = r.text(), e.type = r.text(), e.made_at = r.text();
    e.begin = r.clock(), e.end = r.number(e.begin, last_clock);
    e.thread = static_cast<int>(r.number(0, 1 << 20)), e.task = static_cast<int>(r.number(0, tasks - 1));
  }
  return events;
}

LEAT_FUNCTION transport::frame frame_of(const part_statistics& s) {
  statistics_writer w;
  w.number(s.began), w.number(s.ended), w.number(s.left_out);
  put_events(w, s.events);
  for (const auto* list : {&s.sent, &s.received}) {
    w.number(static_cast<std::int64_t>(list->size()));
    for (const passed_tensor& p : *list) w.number(p.edge), w.number(p.bytes), w.number(p.message), w.number(p.at);
  }
  return w.end();
}

LEAT_FUNCTION part_statistics part_statistics_of(const transport::frame& f) {
  statistics_reader r(f);
  part_statistics s;
  s.began = r.clock(), s.ended = r.clock(), s.left_out = r.count();
  s.events = events_in(r, 1);
  for (auto* list : {&s.sent, &s.received}) {
    list->resize(r.length(4));
    for (passed_tensor& p : *list) p.edge = r.count(), p.bytes = r.count(), p.message = r.count(), p.at = r.clock();
  }
  r.end();
  return s;
}

LEAT_FUNCTION transport::frame frame_of(const step_statistics& s) {
  statistics_writer w;
  const auto length = [&](const auto& list) { w.number(static_cast<std::int64_t>(list.size())); };
  w.number(s.began), w.number(s.ended);
  length(s.told.tasks);
  for (const trace_task& t : s.told.tasks) w.text(t.device), w.number(t.clock_error);
  put_events(w, s.told.events);
  length(s.told.transfers);
  for (const trace_transfer& t : s.told.transfers) {
    w.text(t.tensor), w.number(t.from), w.number(t.to), w.number(t.bytes), w.number(t.message);
    w.number(t.begin), w.number(t.end);
  }
  length(s.told.gaps);
  for (const trace_gap& g : s.told.gaps) w.text(g.device), w.text(g.why);
  return w.end();
}

LEAT_FUNCTION step_statistics step_statistics_of(const transport::frame& f) {
  statistics_reader r(f);
  step_statistics s;
  s.began = r.clock(), s.ended = r.clock();
  s.told.tasks.resize(r.length(2));
  if (s.told.tasks.size() < 2) throw data_loss("statistics of a step without the master's");
  for (trace_task& t : s.told.tasks) t.device = r.text(), t.clock_error = r.count();
  const auto tasks = static_cast<std::int64_t>(s.told.tasks.size());
  s.told.events = events_in(r, tasks);
  s.told.transfers.resize(r.length(7));
  for (trace_transfer& t : s.told.transfers) {
    t.tensor = r.text();
    t.from = static_cast<int>(r.number(0, tasks - 1)), t.to = static_cast<int>(r.number(0, tasks - 1));
    t.bytes = r.count(), t.message = r.clock(), t.begin = r.clock(), t.end = r.clock();
  }
  s.told.gaps.resize(r.length(2));
  for (trace_gap& g : s.told.gaps) g.device = r.text(), g.why = r.text();
  r.end();
  return s;
}

LEAT_FUNCTION std::int64_t element_bytes(const tensor_value& value) {
  if (!value) return 0;
  if (value.type() != text_dtype) return static_cast<std::int64_t>(value.bytes());
  std::int64_t sum = 0;
  for (const std::string& text : value.texts()) sum += static_cast<std::int64_t>(text.size());
  return sum;
}

LEAT_FUNCTION std::int64_t element_bytes(std::span<const tensor_value> values) {
  std::int64_t sum = 0;
  for (const tensor_value& v : values) sum += element_bytes(v);
  return sum;
}

}  // namespace leat::cluster
