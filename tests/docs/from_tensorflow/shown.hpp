#pragma once
// What docs/from_tensorflow.md shows: pieces of code, each compiled and run here, by the key under which the page's text names it.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <cmath>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The value of an expression, whose text is shown under the key.
#define LEAT_SHOWN(key, ...) (from_tensorflow::show(#key, #__VA_ARGS__), __VA_ARGS__)
// A type, of which a value is made.
#define LEAT_SHOWN_TYPE(key, ...) (from_tensorflow::show(#key, #__VA_ARGS__), __VA_ARGS__())
// A type of errors, one of which a function throws.
#define LEAT_SHOWN_ERROR(type, ...) from_tensorflow::throws<type>(#type, __VA_ARGS__)
// Statements, likewise, among those of the function.
#define LEAT_SHOWN_STATEMENTS(key, ...)        \
  from_tensorflow::show(#key, #__VA_ARGS__); \
  __VA_ARGS__

namespace from_tensorflow {

/// The texts by their keys. Errors: invalid_argument for two texts of one key.
std::map<std::string, std::string>& shown();
void show(const std::string& key, const std::string& text);

/// What does not hold, with its line.
std::vector<std::string>& problems();

inline void problem(const std::source_location& where, const std::string& what) {
  problems().push_back(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " + what);
}
inline void require(bool holds, const std::source_location& where = std::source_location::current()) {
  if (!holds) problem(where, "not so");
}

template <class Error, class F>
void throws(const char* its_name, F f, const std::source_location& where = std::source_location::current()) {
  show(its_name, its_name);
  try {
    f();
  } catch (const Error&) {
    return;
  }
  problem(where, std::string("no ") + its_name);
}

using numbers = std::vector<double>;

inline numbers numbers_of(const leat::tensor_value& v) {
  return leat::with_dtype(v.type(), [&]<class T>(T) {
    const auto s = v.values<T>();
    return numbers(s.begin(), s.end());
  });
}
inline void require_close(const numbers& is, const numbers& wanted, const std::source_location& where) {
  bool same = is.size() == wanted.size();
  for (std::size_t i = 0; same && i < is.size(); ++i)
    same = (std::isnan(is[i]) && std::isnan(wanted[i])) || is[i] == wanted[i] || std::abs(is[i] - wanted[i]) <= 1e-4 * (1 + std::abs(wanted[i]));
  std::string text;
  for (const double v : is) text += " " + std::to_string(v);
  if (!same) problem(where, "it is" + text);
}

/// Tensors of the default graph and what they are to be, all asked for in one run.
class expected_values {
 public:
  void operator()(const leat::output& tensor, numbers wanted, const std::source_location& where = std::source_location::current()) {
    tensors_.push_back(tensor);
    wanted_.push_back({std::move(wanted), where});
  }
  void check(leat::graph_session& s, const leat::feed_list& feeds = {}) const {
    const auto results = s.run(tensors_, feeds);
    for (std::size_t k = 0; k < results.size(); ++k) require_close(numbers_of(results[k]), wanted_[k].first, wanted_[k].second);
  }

 private:
  std::vector<leat::output> tensors_;
  std::vector<std::pair<numbers, std::source_location>> wanted_;
};

// The parts of the page; each runs what it shows.
void graphs_and_names();
void variables_and_scopes();
void mathematics();
void arrays();
void networks();
void losses_and_training();
void control_and_queues();
void sessions();
void data_and_files();
void supervised_runs();
void clusters();
void typed();

}  // namespace from_tensorflow
