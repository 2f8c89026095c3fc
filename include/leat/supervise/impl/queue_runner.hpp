#pragma once
// Implementation of queue_runner.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/scopes/scopes.hpp>
#include <leat/supervise/queue_runner.hpp>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <atomic>
#include <memory>

namespace leat {

namespace detail {

// TensorFlow's status codes that mean the end of an input (error_codes.proto).
inline constexpr std::int64_t code_cancelled = 1, code_out_of_range = 11;

LEAT_FUNCTION graph_operation close_on_its_device(const graph_queue& queue, bool cancel_pending_enqueues) {
  const device its(queue.reference().operation().device());
  return queue.close(cancel_pending_enqueues);
}

// A thread's loop ends when its input ends, or when the queue was closed from elsewhere.
inline bool ends_input(const std::vector<std::int64_t>& codes, const std::exception_ptr& reason) {
  const auto has = [&](std::int64_t code) { return std::find(codes.begin(), codes.end(), code) != codes.end(); };
  try {
    std::rethrow_exception(reason);
  } catch (const out_of_range&) {
    return has(code_out_of_range);
  } catch (const cancelled&) {
    return has(code_cancelled);
  } catch (...) {
    return false;
  }
}

}  // namespace detail

LEAT_FUNCTION queue_runner::queue_runner(const graph_queue& queue, std::vector<graph_operation> enqueue_ops)
    : name_(queue.reference().operation().name()),
      enqueue_ops_(std::move(enqueue_ops)),
      closed_codes_{detail::code_out_of_range, detail::code_cancelled} {
  if (enqueue_ops_.empty()) throw invalid_argument("a queue runner of the queue '" + name_ + "' has no operation to run");
  const graph& g = queue.reference().owner();
  for (const graph_operation& op : enqueue_ops_)
    if (!op || &op.owner() != &g)
      throw invalid_argument("an operation of the runner of the queue '" + name_ + "' is not of the queue's graph");
  close_op_ = detail::close_on_its_device(queue, false);
  cancel_op_ = detail::close_on_its_device(queue, true);
}

LEAT_FUNCTION queue_runner::queue_runner(graph& g, std::string_view message) {
  std::vector<std::string> names;
  std::string close, cancel;
  try {
    protozero::pbf_reader in(protozero::data_view(message.data(), message.size()));
    while (in.next()) switch (in.tag_and_type()) {
        case protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited): name_ = in.get_string(); break;
        case protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited): names.push_back(in.get_string()); break;
        case protozero::tag_and_type(3, protozero::pbf_wire_type::length_delimited): close = in.get_string(); break;
        case protozero::tag_and_type(4, protozero::pbf_wire_type::length_delimited): cancel = in.get_string(); break;
        case protozero::tag_and_type(5, protozero::pbf_wire_type::varint): closed_codes_.push_back(in.get_int32()); break;
        case protozero::tag_and_type(5, protozero::pbf_wire_type::length_delimited):
          for (const auto code : in.get_packed_int32()) closed_codes_.push_back(code);
          break;
        default: in.skip();
      }
  } catch (const protozero::exception& e) {
    throw data_loss(std::string("a QueueRunnerDef is malformed: ") + e.what());
  }
  if (names.empty() || close.empty() || cancel.empty())
    throw data_loss("a QueueRunnerDef of the queue '" + name_ + "' does not name its operations");
  for (const auto& n : names) enqueue_ops_.push_back(get_operation_by_name(g, n));
  close_op_ = get_operation_by_name(g, close);
  cancel_op_ = get_operation_by_name(g, cancel);
  if (closed_codes_.empty()) closed_codes_ = {detail::code_out_of_range};
  // A queue that was closed from elsewhere takes no more elements; this counts as the end of the input, too.
  closed_codes_.push_back(detail::code_cancelled);
}

LEAT_FUNCTION std::string queue_runner::message() const {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  out.add_string(1, name_);
  for (const auto& op : enqueue_ops_) out.add_string(2, op.name());
  out.add_string(3, close_op_.name());
  out.add_string(4, cancel_op_.name());
  std::vector<std::int32_t> codes;
  for (const auto code : closed_codes_)
    if (code != detail::code_cancelled) codes.push_back(static_cast<std::int32_t>(code));
  out.add_packed_int32(5, codes.begin(), codes.end());
  return bytes;
}

LEAT_FUNCTION void queue_runner::start(graph_session& s, coordinator& c, std::function<bool()> keeps_queue) const {
  if (&s.owner() != &enqueue_ops_.front().owner())
    throw invalid_argument("the runner of the queue '" + name_ + "' belongs to another graph than the session");
  // Counts the threads whose input has not ended. The last of them closes the queue.
  const auto left = std::make_shared<std::atomic<std::size_t>>(enqueue_ops_.size());
  const auto stopped = std::make_shared<cancellation>();
  c.on_stop([&s, stopped, left, op = cancel_op_, keeps_queue = std::move(keeps_queue)] {
    stopped->cancel();
    if (left->load() == 0) return;  // all have ended, and the session may be destroyed
    if (keeps_queue && keeps_queue()) return;
    try {
      s.run(op);
    } catch (const std::exception&) {  // the session is closed: no run waits in it
    }
  });
  for (const graph_operation& op : enqueue_ops_)
    c.start(
        [&s, &c, op, left, stopped, close = close_op_, codes = closed_codes_] {
          // An enqueue waits for as long as the queue is full; only a stop of the coordinator ends the wait.
          constexpr std::int64_t ten_years_in_ms = std::int64_t{10} * 365 * 86'400'000;
          graph_callable enqueue = s.prepare({op}, {}, {.timeout_in_ms = ten_years_in_ms, .cancel = stopped.get()});
          bool ended = false;
          while (!ended && !c.should_stop()) {
            try {
              enqueue();
            } catch (...) {
              if (!c.should_stop() && !detail::ends_input(codes, std::current_exception())) {
                detail::stop_because(c, std::current_exception());
                return;
              }
              ended = true;
            }
          }
          if (left->fetch_sub(1) != 1 || c.should_stop()) return;
          try {
            s.run(close);
          } catch (const std::exception&) {  // the session is closed: no run takes from the queue
          }
        },
        "QueueRunnerThread-" + name_ + "-" + op.name());
}

LEAT_FUNCTION void add_queue_runner(const queue_runner& runner, std::string_view collection) {
  add_to_collection(runner.close_op().owner(), collection, runner.message());
}

LEAT_FUNCTION std::size_t start_queue_runners(graph_session& s, coordinator& c, std::string_view collection,
                                              const std::function<bool()>& keeps_queues) {
  std::vector<queue_runner> runners;
  for (const collection_item& item : get_collection(s.owner(), collection)) {
    const auto* message = std::get_if<std::string>(&item);
    if (message == nullptr) throw data_loss("the collection '" + std::string(collection) + "' holds something else than queue runners");
    runners.emplace_back(s.owner(), *message);
  }
  std::size_t threads = 0;
  for (const queue_runner& r : runners) {
    r.start(s, c, keeps_queues);
    threads += r.enqueue_ops().size();
  }
  return threads;
}

}  // namespace leat
