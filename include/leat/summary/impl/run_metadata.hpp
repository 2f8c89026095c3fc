#pragma once
// Implementation of run_metadata.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/summary/run_metadata.hpp>

#include <protozero/pbf_writer.hpp>

#include <chrono>
#include <cstdint>

namespace leat::summary {

LEAT_FUNCTION std::string run_metadata_of(const run_trace& trace, int run) {
  // Times of a trace count from its construction; those of the file from 1970.
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t start = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count() - trace.now();
  // Tasks are read last, because their list only grows.
  const std::vector<trace_event> events = trace.events();
  const std::vector<trace_transfer> transfers = trace.transfers();
  const std::vector<trace_task> tasks = trace.tasks();
  std::vector<std::string> devices(tasks.size());
  std::vector<int> counts(tasks.size());
  for (std::size_t k = 0; k < tasks.size(); ++k) protozero::pbf_writer(devices[k]).add_string(1, tasks[k].device);
  const auto add = [&](int task, const std::string& name, const std::string& label, std::int64_t since, std::int64_t length, int thread) {
    ++counts[static_cast<std::size_t>(task)];
    protozero::pbf_writer of_device{devices[static_cast<std::size_t>(task)]};
    protozero::pbf_writer node{of_device, 2};
    const std::int64_t begin = start + since;
    node.add_string(1, name);
    node.add_int64(2, begin / 1000);   // all_start_micros
    node.add_int64(4, length / 1000);  // op_end_rel_micros
    node.add_int64(5, length / 1000);  // all_end_rel_micros
    node.add_string(8, label);
    node.add_int64(9, begin / 1000);  // scheduled_micros
    node.add_uint32(10, static_cast<std::uint32_t>(thread));
    node.add_int64(13, begin);  // the same in nanoseconds
    node.add_int64(15, length);
    node.add_int64(16, length);
  };
  for (const trace_event& e : events)
    if (!e.is_phase() && (run == 0 || e.run == run))
      add(e.task, e.name, e.name + " = " + e.type + "()", e.begin, e.duration(), e.thread);  // label in TensorFlow's form
  // Each tensor that a task received is written as an operator of that task.
  for (const trace_transfer& t : transfers)
    if (t.to != 0 && (run == 0 || t.run == run))
      add(t.to, "RecvTensor",
          "[" + std::to_string(t.bytes) + "B] " + t.tensor + " from " + tasks[static_cast<std::size_t>(t.from)].device + " to " +
              tasks[static_cast<std::size_t>(t.to)].device,
          t.begin, t.end - t.begin, 0);
  std::string bytes;
  protozero::pbf_writer metadata{bytes};
  protozero::pbf_writer steps{metadata, 1};
  for (std::size_t k = 0; k < tasks.size(); ++k)
    if (counts[k] > 0 || tasks.size() == 1) steps.add_bytes(1, devices[k].data(), devices[k].size());
  steps.commit();
  return bytes;
}

}  // namespace leat::summary
