#pragma once
// Implementation of run_metadata.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/summary/run_metadata.hpp>

#include <protozero/pbf_writer.hpp>

#include <chrono>
#include <cstdint>

namespace leat::summary {

LEAT_FUNCTION std::string run_metadata_of(const run_trace& trace, int run) {
  // A trace counts from its construction; files from 1970.
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t start = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count() - trace.now();
  std::string device;
  protozero::pbf_writer of_device{device};
  of_device.add_string(1, "/job:localhost/replica:0/task:0/device:CPU:0");
  for (const trace_event& e : trace.events()) {
    if (e.is_phase() || (run != 0 && e.run != run)) continue;
    protozero::pbf_writer node{of_device, 2};
    const std::int64_t begin = start + e.begin, length = e.duration();
    node.add_string(1, e.name);
    node.add_int64(2, begin / 1000);                     // all_start_micros
    node.add_int64(4, length / 1000);                    // op_end_rel_micros
    node.add_int64(5, length / 1000);                    // all_end_rel_micros
    node.add_string(8, e.name + " = " + e.type + "()");  // timeline_label, as TensorFlow writes it
    node.add_int64(9, begin / 1000);                     // scheduled_micros
    node.add_uint32(10, static_cast<std::uint32_t>(e.thread));
    node.add_int64(13, begin);  // the same in nanoseconds
    node.add_int64(15, length);
    node.add_int64(16, length);
  }
  std::string bytes;
  protozero::pbf_writer metadata{bytes};
  protozero::pbf_writer steps{metadata, 1};
  steps.add_bytes(1, device.data(), device.size());
  steps.commit();
  return bytes;
}

}  // namespace leat::summary
