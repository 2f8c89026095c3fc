#pragma once
// One operator of a graph whose inputs are fed, in a session of its own that is kept: what fuzzing programs run many times.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "properties.hpp"

#include <cstring>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace leat_fuzz {

class fed_node {
 public:
  /// `types`: the dtypes of the inputs, whose shapes are unknown.
  fed_node(const char* type, const std::vector<leat::dtype>& types, const leat::attribute_map& settings = {},
           const std::string& file_root = {}) {
    using namespace leat;
    static std::ostream nowhere(nullptr);
    const auto scope = g_.as_default();
    std::vector<number_argument> inputs;
    for (const dtype t : types) inputs.emplace_back(places_.emplace_back(placeholder(t, shape::unknown())));
    node_ = call_operator(g_, type, inputs, settings);
    session_options options;
    options.log = &nowhere;
    options.inter_op_parallelism_threads = 1;
    options.memory_limit_in_bytes = 4 << 20;
    options.operation_timeout_in_ms = 2000;
    options.file_root = file_root;
    session_.emplace(g_, options);
  }
  /// The results, or nothing for an error of the library, which must say something.
  std::optional<std::vector<leat::tensor_value>> run(const std::vector<leat::tensor_value>& values) {
    using namespace leat;
    std::vector<feed_item> feeds;
    for (std::size_t k = 0; k < places_.size(); ++k) feeds.emplace_back(feed_key(places_[k]), values[k]);
    try {
      if (node_.outputs().empty()) return session_->run(std::vector<fetch_item>{fetch_item(node_)}, feed_list(feeds));
      std::vector<fetch_item> fetches;
      for (const output& o : node_.outputs()) fetches.emplace_back(o);
      auto got = session_->run(fetches, feed_list(feeds));
      for (const tensor_value& v : got)
        must(v.elements() >= 0 && v.elements() * std::max(size_of(v.type()), 1) <= 4 << 20, "a result is not larger than the limit");
      return got;
    } catch (const error& e) {
      must(e.what()[0] != '\0', "an error says something");
      return std::nullopt;
    }
  }

 private:
  leat::graph g_;
  std::vector<leat::output> places_;
  leat::graph_operation node_;
  std::optional<leat::graph_session> session_;
};

/// Whether two arrays are the same to the bit, also if they hold NaN.
inline bool are_same(const leat::tensor_value& a, const leat::tensor_value& b) {
  if (a.type() != b.type() || !(a.extent() == b.extent())) return false;
  if (a.type() == leat::text_dtype) return a.texts() == b.texts();
  return a.elements() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace leat_fuzz
