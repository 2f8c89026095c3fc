#pragma once
// What must hold of every graph that a reader accepts, however its file came about: it is written, read again equal, looked
// at and drawn without harm. A property that fails ends the program, which is how libFuzzer learns of it.

#include <leat/io/binary.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/json.hpp>
#include <leat/io/text.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace leat_fuzz {

inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

template <class T>
void read_contents(const leat::tensor_proto& t) {
  try {
    const auto values = leat::contents<T>(t, 10000);
    must(leat::problem_of(t).empty(), "contents are those of right tensors");
    must(static_cast<std::int64_t>(values.size()) == leat::element_count(t.shape),
         "there are as many elements as the shape says");
  } catch (const leat::error&) {
  }
}

inline void look_at(const leat::graph_def& graph) {
  for (const auto& f : leat::proto::findings(graph)) must(!to_text(f).empty(), "a finding says something");
  leat::io::write_dot(graph);
  for (const auto& node : graph.nodes)
    for (const auto& [name, value] : node.attributes)
      if (const auto* t = value.get_if<leat::tensor_proto>()) {
        read_contents<float>(*t);
        read_contents<double>(*t);
        read_contents<std::int32_t>(*t);
        read_contents<std::int64_t>(*t);
        read_contents<std::uint8_t>(*t);
        read_contents<bool>(*t);
        read_contents<std::string>(*t);
      }
}
inline void look_at(const leat::meta_graph_def& meta) { look_at(meta.graph); }

/// Whether it has messages that are carried in binary form, which need not be right.
inline bool carries_binary(const leat::graph_def& graph) { return !graph.library.empty(); }
inline bool carries_binary(const leat::meta_graph_def& meta) {
  for (const auto& [name, collection] : meta.collections)
    if (std::holds_alternative<leat::collection_def::any_list>(collection.kind)) return true;
  return carries_binary(meta.graph);
}

template <class M>
void text_comes_back(const M& m) {
  using namespace leat;
  std::string text;
  try {
    text = io::write_text(m);
  } catch (const error&) {
    return must(carries_binary(m), "what was read can be written as text");
  }
  must(io::looks_like_text(text) || text.empty(), "a text looks like one");
  must(io::write_text(io::read_text<M>(std::string_view(text), {.validate = false})) == text, "text comes back equal");
}

/// All forms of what was read. JSON and text have one NaN only, so their texts are compared, not what they are read as.
template <class M>
void written_and_read(const M& m) {
  using namespace leat;
  const io::read_options as_it_is{.validate = false};
  must(io::read_binary<M>(std::string_view(io::write_binary(m)), as_it_is) == m, "binary comes back equal");
  text_comes_back(m);
  std::string text;
  try {
    text = io::write_json(m);
  } catch (const unimplemented&) {
    return;  // functions, collections of any type
  }
  const M again = io::read_json<M>(std::string_view(text), as_it_is);
  must(io::write_json(again) == text, "JSON comes back equal");
  must(nlohmann::json::accept(text), "JSON is JSON");
  look_at(m);
}

template <class M, class Read>
void try_reader(Read read) {
  M m;
  try {
    m = read();
  } catch (const leat::error& e) {
    must(e.what()[0] != '\0' && leat::io::is_utf8(e.what()), "an error says something");
    return;
  }
  written_and_read(m);
}

}  // namespace leat_fuzz
