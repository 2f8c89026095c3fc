#pragma once
// Implementation of trace.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>

#include <functional>
#include <map>
#include <set>

namespace leat {

LEAT_FUNCTION void run_trace::add(int run, std::string name, std::string type, std::int64_t begin, std::int64_t end, std::string made_at) {
  const std::lock_guard lock(guard_);
  const int thread = threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size())).first->second;
  events_.push_back({std::move(name), std::move(type), std::move(made_at), begin, end, thread, run, 0});
}

LEAT_FUNCTION void run_trace::add_tasks(int run, trace_of_tasks told, std::int64_t clock_offset, std::int64_t clock_error) {
  // Clocks of other processes may have any value: a sum that overflows is wrong, but defined.
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  const auto here = [&](std::int64_t time) { return sum(time, -sum(started(), clock_offset)); };
  const std::lock_guard lock(guard_);
  std::vector<int> number;
  for (const trace_task& t : told.tasks) {
    const auto known = number.empty() ? tasks_.begin()  // the requesting process is this one
                                      : std::find_if(tasks_.begin() + 1, tasks_.end(), [&](const auto& k) { return k.device == t.device; });
    number.push_back(static_cast<int>(known - tasks_.begin()));
    if (known == tasks_.end()) tasks_.push_back({t.device, 0});
    trace_task& its = tasks_[static_cast<std::size_t>(number.back())];
    if (number.back() != 0) its.clock_error = std::max(its.clock_error, sum(t.clock_error, clock_error));
  }
  for (trace_event& e : told.events) {
    e.begin = here(e.begin);
    e.end = std::max(e.begin, here(e.end));
    e.run = run;
    e.task = number.at(static_cast<std::size_t>(e.task));
    events_.push_back(std::move(e));
  }
  for (trace_transfer& t : told.transfers) {
    t.begin = here(t.begin);
    t.end = std::max(t.begin, here(t.end));  // clocks agree up to their errors
    t.run = run;
    t.from = number.at(static_cast<std::size_t>(t.from));
    t.to = number.at(static_cast<std::size_t>(t.to));
    transfers_.push_back(std::move(t));
  }
  for (trace_gap& g : told.gaps) gaps_.push_back({std::move(g.device), std::move(g.why), run});
}

LEAT_FUNCTION void run_trace::add_gap(int run, std::string device, std::string why) {
  const std::lock_guard lock(guard_);
  gaps_.push_back({std::move(device), std::move(why), run});
}

LEAT_FUNCTION void run_trace::add_memory(const planned_program& p, std::shared_ptr<const void> holder) {
  const program_view view(p.data);
  std::vector<std::int64_t> sizes(p.sizes, p.sizes + view.names());
  const std::lock_guard lock(guard_);
  for (const auto& known : planned_)
    if (known.data == p.data && known.sizes == sizes) return;
  planned_.push_back({p.data, std::move(sizes), std::move(holder)});
  plans_.push_back(memory_plan_of(p));
}

LEAT_FUNCTION std::string run_trace::chrome_trace() const {
  const std::lock_guard lock(guard_);
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  const auto process = [](int task) { return R"("pid": )" + std::to_string(task + 1); };
  for (std::size_t k = 0; k < tasks_.size(); ++k) {
    const trace_task& t = tasks_[k];
    const bool is_client = k == 0 && tasks_.size() > 1;
    if (k > 0) text += ",\n";
    text += R"({"ph": "M", )" + process(static_cast<int>(k)) + R"(, "name": "process_name", "args": {"name": )" +
            quoted(is_client ? "client" : t.device);
    if (k > 0) text += R"(, "clock_error_us": )" + microseconds(t.clock_error);
    text += "}}";
  }
  std::set<std::pair<int, int>> threads;
  for (const auto& [id, number] : threads_) threads.emplace(0, number);
  for (const trace_event& e : events_) threads.emplace(e.task, e.thread);
  for (const auto& [task, number] : threads)
    text += ",\n{\"ph\": \"M\", " + process(task) + ", \"tid\": " + std::to_string(number) +
            R"(, "name": "thread_name", "args": {"name": "thread )" + std::to_string(number) + "\"}}";
  for (const trace_event& e : events_) {
    text += ",\n{\"ph\": \"X\", " + process(e.task) + ", \"tid\": " + std::to_string(e.thread) + ", \"name\": " + quoted(e.name) +
            ", \"cat\": " + quoted(e.type) + ", \"ts\": " + microseconds(e.begin) + ", \"dur\": " + microseconds(e.duration()) +
            R"(, "args": {"op": )" + quoted(e.type) + ", \"run\": " + std::to_string(e.run);
    if (!e.made_at.empty()) text += ", \"made_at\": " + quoted(e.made_at);
    text += "}}";
  }
  for (std::size_t k = 0; k < transfers_.size(); ++k) {
    const trace_transfer& t = transfers_[k];
    const std::string which = process(t.to) + R"(, "tid": 0, "id": )" + std::to_string(k + 1) + ", \"name\": " + quoted(t.tensor) +
                              R"(, "cat": "transfer", "ts": )";
    text += ",\n{\"ph\": \"b\", " + which + microseconds(t.begin) + R"(, "args": {"from": )" +
            quoted(t.from == 0 ? "client" : tasks_[static_cast<std::size_t>(t.from)].device) + ", \"bytes\": " + std::to_string(t.bytes) +
            ", \"message\": " + std::to_string(t.message) + ", \"run\": " + std::to_string(t.run) + "}}";
    text += ",\n{\"ph\": \"e\", " + which + microseconds(t.end) + "}";
  }
  for (const trace_gap& g : gaps_) {
    const auto its = std::find_if(tasks_.begin(), tasks_.end(), [&](const trace_task& t) { return t.device == g.device; });
    std::int64_t at = 0;
    for (const trace_event& e : events_)
      if (e.run == g.run && e.task == 0) at = e.begin;
    text += ",\n{\"ph\": \"i\", \"s\": \"p\", " + process(its == tasks_.end() ? 0 : static_cast<int>(its - tasks_.begin())) +
            R"(, "tid": 0, "name": )" + quoted("no statistics of " + g.device + ": " + g.why) + R"(, "cat": "gap", "ts": )" +
            microseconds(at) + R"(, "args": {"run": )" + std::to_string(g.run) + "}}";
  }
  return text + "\n]}\n";
}

LEAT_FUNCTION std::vector<trace_task_totals> run_trace::by_task() const {
  const std::lock_guard lock(guard_);
  std::vector<trace_task_totals> list(tasks_.size());
  for (std::size_t k = 0; k < tasks_.size(); ++k) list[k].device = tasks_[k].device;
  for (const trace_event& e : events_) {
    if (e.is_phase()) continue;
    trace_task_totals& row = list[static_cast<std::size_t>(e.task)];
    ++row.events;
    row.busy += e.duration();
  }
  std::set<std::tuple<int, int, std::int64_t>> messages;
  for (const trace_transfer& t : transfers_) {
    trace_task_totals& from = list[static_cast<std::size_t>(t.from)];
    trace_task_totals& to = list[static_cast<std::size_t>(t.to)];
    from.bytes_sent += t.bytes;
    to.bytes_received += t.bytes;
    if (!messages.emplace(t.run, t.from, t.message).second) continue;
    ++from.messages_sent;
    ++to.messages_received;
  }
  return list;
}

LEAT_FUNCTION std::vector<trace_edge_totals> run_trace::by_edge() const {
  std::map<std::tuple<int, int, std::string>, trace_edge_totals> edges;
  std::vector<trace_edge_totals> list;
  {
    const std::lock_guard lock(guard_);
    for (const trace_transfer& t : transfers_) {
      trace_edge_totals& row = edges[{t.from, t.to, t.tensor}];
      if (row.messages++ == 0) {
        row.tensor = t.tensor;
        row.from = tasks_[static_cast<std::size_t>(t.from)].device;
        row.to = tasks_[static_cast<std::size_t>(t.to)].device;
      }
      row.bytes += t.bytes;
    }
  }
  std::multimap<std::int64_t, trace_edge_totals*, std::greater<>> by_bytes;
  for (auto& [key, row] : edges) by_bytes.emplace(row.bytes, &row);
  for (const auto& [bytes, row] : by_bytes) list.push_back(std::move(*row));
  return list;
}

LEAT_FUNCTION std::string run_trace::statistics_table() const {
  std::string text = std::to_string(runs()) + " runs\n";
  text += table("operator", by_operator()) + "\n" + table("node", by_node());
  return text + table_of_tasks();
}

LEAT_FUNCTION std::string run_trace::table_of_tasks() const {
  std::string text;
  char line[160];
  const auto name = [this](const std::string& device) { return device == tasks_[0].device ? std::string("client") : device; };
  if (const auto tasks = by_task(); tasks.size() > 1) {
    std::snprintf(line, sizeof line, "\n%10s %12s %10s %14s %10s %14s  task\n", "events", "busy us", "sent", "bytes", "received", "bytes");
    text += line;
    for (const auto& t : tasks) {
      std::snprintf(line, sizeof line, "%10lld %12.3f %10lld %14lld %10lld %14lld  ", static_cast<long long>(t.events),
                    static_cast<double>(t.busy) / 1e3, static_cast<long long>(t.messages_sent), static_cast<long long>(t.bytes_sent),
                    static_cast<long long>(t.messages_received), static_cast<long long>(t.bytes_received));
      text += line + name(t.device) + "\n";
    }
    std::snprintf(line, sizeof line, "\n%10s %14s  edge\n", "messages", "bytes");
    text += line;
    for (const auto& e : by_edge()) {
      std::snprintf(line, sizeof line, "%10lld %14lld  ", static_cast<long long>(e.messages), static_cast<long long>(e.bytes));
      text += line + e.tensor + ": " + name(e.from) + " -> " + name(e.to) + "\n";
    }
  }
  for (const trace_gap& g : gaps()) text += "run " + std::to_string(g.run) + ": no statistics of " + g.device + ": " + g.why + "\n";
  return text;
}

LEAT_FUNCTION void run_trace::write_chrome_trace(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  if (!file) throw not_found("the trace cannot be written: no file can be made at '" + path + "'");
  file << chrome_trace();
  if (!file.flush()) throw data_loss("the trace was not written whole to '" + path + "'");
}

LEAT_FUNCTION std::string run_trace::table(std::string_view title, const std::vector<trace_statistics>& rows) {
  std::int64_t all = 0;
  for (const auto& r : rows) all += r.total;
  char line[256];
  std::snprintf(line, sizeof line, "%10s %12s %12s %12s %12s %7s  %.*s\n", "count", "total us", "mean us", "least us", "most us", "share",
                static_cast<int>(title.size()), title.data());
  std::string text = line;
  for (const auto& r : rows) {
    std::snprintf(line, sizeof line, "%10lld %12.3f %12.3f %12.3f %12.3f %6.1f%%  ", static_cast<long long>(r.count),
                  static_cast<double>(r.total) / 1e3, r.mean() / 1e3, static_cast<double>(r.least) / 1e3, static_cast<double>(r.most) / 1e3,
                  all == 0 ? 0.0 : 100.0 * static_cast<double>(r.total) / static_cast<double>(all));
    text += line + r.name + (r.type.empty() || r.type == r.name ? std::string{} : " (" + r.type + ")") + "\n";
  }
  return text;
}

LEAT_FUNCTION std::string run_trace::quoted(std::string_view s) {
  std::string text = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      text += code;
    } else {
      text += c;
    }
  }
  return text + "\"";
}

LEAT_FUNCTION void trace_scope::end() {
  if (run_trace* const t = std::exchange(trace_, nullptr))
    t->add(run_, std::move(name_), std::move(type_), begin_, t->now(), std::move(made_at_));
}

LEAT_FUNCTION step_observer::step_observer(run_trace& trace, int run, const std::int64_t* program) : trace_(trace), run_(run) {
  const program_view view(program);
  const operator_names names;
  for (int k = 0; k < view.steps(); ++k) steps_.emplace_back(step_name(names, view, program, k), view.step_at(k).is_cluster);
}

LEAT_FUNCTION void step_observer::after(int step) {
  const std::int64_t end = trace_.now();
  const auto& [name, fused] = steps_[static_cast<std::size_t>(step)];
  trace_.add(run_, name, fused && name.find('+') != name.npos ? "fused" : name, begin_, end);
}

}  // namespace leat
