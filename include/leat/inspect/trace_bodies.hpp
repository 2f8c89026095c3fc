#pragma once
// Implementation of trace.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>

namespace leat {

LEAT_FUNCTION void run_trace::add(int run, std::string name, std::string type, std::int64_t begin, std::int64_t end, std::string made_at) {
  const std::lock_guard lock(guard_);
  const int thread = threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size())).first->second;
  events_.push_back({std::move(name), std::move(type), std::move(made_at), begin, end, thread, run});
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
  text += R"({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/job:localhost/replica:0/task:0/device:CPU:0"}})";
  for (const auto& [id, number] : threads_)
    text += ",\n{\"ph\": \"M\", \"pid\": 1, \"tid\": " + std::to_string(number) + R"(, "name": "thread_name", "args": {"name": "thread )" +
            std::to_string(number) + "\"}}";
  for (const trace_event& e : events_) {
    text += ",\n{\"ph\": \"X\", \"pid\": 1, \"tid\": " + std::to_string(e.thread) + ", \"name\": " + quoted(e.name) +
            ", \"cat\": " + quoted(e.type) + ", \"ts\": " + microseconds(e.begin) + ", \"dur\": " + microseconds(e.duration()) +
            R"(, "args": {"op": )" + quoted(e.type) + ", \"run\": " + std::to_string(e.run);
    if (!e.made_at.empty()) text += ", \"made_at\": " + quoted(e.made_at);
    text += "}}";
  }
  return text + "\n]}\n";
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
