#pragma once
// Implementation of identity.hpp.

#include <leat/cluster/transport/fields.hpp>
#include <leat/cluster/transport/identity.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <sys/random.h>

namespace leat::transport {

LEAT_FUNCTION std::string identity::name() const {
  if (job.empty()) return "a client (process " + std::to_string(process) + ")";
  return "/job:" + job + "/task:" + std::to_string(task);
}

LEAT_FUNCTION std::string expectation::name() const {
  if (job.empty()) return {};
  return "/job:" + job + (task < 0 ? "" : "/task:" + std::to_string(task));
}

LEAT_FUNCTION std::uint64_t random_incarnation() {
  std::uint64_t drawn = 0;
  while (drawn == 0)
    if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = 0;
  return drawn;
}

LEAT_FUNCTION frame encode_greeting(const greeting& g) {
  field_writer out;
  out.text(g.who.cluster).text(g.who.run).text(g.who.job).number(static_cast<std::uint64_t>(g.who.task)).number(g.who.incarnation);
  out.text(g.who.address).number(static_cast<std::uint64_t>(g.who.process));
  out.text(g.wants.job)
      .number(static_cast<std::uint64_t>(g.wants.task))
      .number(g.wants.incarnation)
      .number(static_cast<std::uint64_t>(g.clock));
  return out.done();
}

LEAT_FUNCTION greeting decode_greeting(const frame& f) {
  field_reader in(f);
  const auto task = [&] {
    const auto n = static_cast<std::int64_t>(in.number());
    if (n < -1 || n > 1'000'000) throw data_loss("a greeting with an impossible number of a task");
    return static_cast<int>(n);
  };
  constexpr std::size_t longest = 1024;
  greeting g;
  g.who.cluster = in.text(longest), g.who.run = in.text(longest), g.who.job = in.text(longest);
  g.who.task = task(), g.who.incarnation = in.number();
  g.who.address = in.text(longest), g.who.process = static_cast<std::int64_t>(in.number());
  g.wants.job = in.text(longest), g.wants.task = task(), g.wants.incarnation = in.number();
  g.clock = static_cast<std::int64_t>(in.number());
  in.end();
  if (g.who.incarnation == 0) throw data_loss("a greeting without an incarnation");
  return g;
}

LEAT_FUNCTION std::optional<std::pair<status, std::string>> refusal_of(const identity& own, const greeting& g) {
  const std::string here = own.name() + (own.address.empty() ? "" : " at " + own.address);
  const bool is_any_client = g.who.job.empty() && g.who.cluster.empty();
  if (g.who.cluster != own.cluster && !is_any_client)
    return {{status::failed_precondition, here + " belongs to another cluster: its specification is " + own.cluster + ", the peer's " +
                                              g.who.cluster + "; both must be started with the same"}};
  if (!own.run.empty() && !g.who.run.empty() && g.who.run != own.run)
    return {{status::aborted, here + " belongs to the run " + own.run + ", the peer to the run " + g.who.run +
                                  ": one of them is a forgotten process of an older run"}};
  if (!g.wants.job.empty() && (g.wants.job != own.job || (g.wants.task >= 0 && g.wants.task != own.task)))
    return {{status::failed_precondition, here + " is not " + g.wants.name() + ": the specification names its address for another task"}};
  if (g.wants.incarnation != 0 && g.wants.incarnation != own.incarnation)
    return {{status::aborted, here + " was started again: what was known to the one before is lost"}};
  return std::nullopt;
}

}  // namespace leat::transport
