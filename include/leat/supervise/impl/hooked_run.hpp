#pragma once
// Implementation of hooked_run.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/hooked_run.hpp>

#include <chrono>
#include <set>
#include <utility>

namespace leat::detail {

LEAT_FUNCTION hooked_results run_with_hooks(graph_session& s, watched_session& watched, const hook_list& hooks,
                                            std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how,
                                            const cancellation* failed, std::mutex& calling) {
  session_run_context context(watched, fetches, feeds);
  std::vector<fetch_item> all(fetches.begin(), fetches.end());
  std::vector<std::size_t> ends;
  std::vector<feed_item> fed = feeds.items();
  run_options options_of_run = how;
  {
    std::set<std::pair<int, int>> keys;
    const auto key_of = [&](const feed_item& f) {
      const output o = f.tensor.resolve(s.owner());
      return std::pair(o.index(), o.port());
    };
    for (const feed_item& f : fed) keys.insert(key_of(f));
    const std::lock_guard lock(calling);
    for (const hook& h : hooks) {
      session_run_args asked = h->before_run(context);
      all.insert(all.end(), asked.fetches.begin(), asked.fetches.end());
      ends.push_back(all.size());
      for (const feed_item& f : asked.feeds.items()) {
        if (!keys.insert(key_of(f)).second)
          throw failed_precondition("Same tensor is fed by a hook and by the program, or by two hooks: " +
                                    f.tensor.resolve(s.owner()).name());
        fed.push_back(f);
      }
      if (asked.trace != nullptr) {
        if (options_of_run.trace != nullptr) throw failed_precondition("two traces are asked for in one run");
        options_of_run.trace = asked.trace;
      }
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const feed_list all_feeds(std::move(fed));
  const cancellation either(how.cancel, failed);
  options_of_run.cancel = &either;
  std::vector<tensor_value> results = s.run(all, all_feeds, options_of_run);
  const seconds took = std::chrono::steady_clock::now() - start;
  const std::lock_guard lock(calling);
  std::size_t begin = fetches.size();
  for (std::size_t k = 0; k < hooks.size(); ++k) {
    hooks[k]->after_run(context, {std::span<const tensor_value>(results).subspan(begin, ends[k] - begin), &all_feeds, took});
    begin = ends[k];
  }
  results.resize(fetches.size());
  return {std::move(results), context.stop_requested()};
}

}  // namespace leat::detail
