// Programs that are valid, with some of their numbers, dtypes, ranks, attributes, inputs or operators changed, under libFuzzer: what
// bytes at random hardly come to.

#include <leat/graph/known_operators.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include "run_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace leat;

class changer {
 public:
  explicit changer(unsigned seed) : random_(seed) {}

  int below(std::size_t n) { return static_cast<int>(random_() % n); }
  template <class List>
  auto& one_of(List& list) {
    return list[static_cast<std::size_t>(below(std::size(list)))];
  }

  void change(graph_def& g) {
    if (g.nodes.empty()) return;
    const int times = 1 + below(3);
    for (int i = 0; i < times; ++i) change_node(g, one_of(g.nodes));
  }

 private:
  std::int64_t number() {
    static constexpr std::int64_t numbers[]{
        0,         1,         -1,        2,         3,         5,         7,         8,         9,         17,
        64,        127,       255,       1000,      65535,     INT32_MAX, INT32_MIN, 1LL << 31, 1LL << 32, (1LL << 32) + 1,
        1LL << 40, 1LL << 44, 1LL << 62, INT64_MAX, INT64_MIN, -2,        -9};
    return one_of(numbers);
  }
  data_type type() {
    static constexpr data_type types[]{data_type::float32, data_type::float64, data_type::int32,  data_type::int64,    data_type::uint8,
                                       data_type::boolean, data_type::string,  data_type::half, data_type::resource, data_type::invalid};
    return one_of(types);
  }
  void change_shape(tensor_shape_proto& s) {
    switch (below(5)) {
      case 0: s.dims.push_back({std::int64_t{1}, {}}); break;
      case 1:
        if (!s.dims.empty()) s.dims.pop_back();
        break;
      case 2: s.unknown_rank = !s.unknown_rank; break;
      default:
        if (!s.dims.empty()) one_of(s.dims).size = number();
        else s.dims.push_back({number(), {}});
    }
    if (s.unknown_rank) s.dims.clear();
  }
  void change_tensor(tensor_proto& t) {
    const auto size =
        static_cast<std::size_t>(t.field == tensor_field::tensor_content ? size_of(to_dtype(t.dtype)) : field_size_of(t.field));
    switch (below(5)) {
      case 0: change_shape(t.shape); break;
      case 1: t.dtype = type(); break;
      default: {
        if (size == 0 || t.bytes.size() < size) break;
        const std::size_t at = static_cast<std::size_t>(below(t.bytes.size() / size)) * size;
        if (is_floating(to_dtype(t.dtype)) && below(2) == 0) {
          static constexpr double values[]{0, -0.0, 1, -1, 1e30, -1e300, 1e-310, HUGE_VAL, -HUGE_VAL, NAN};
          const double d = one_of(values);
          const auto f = static_cast<float>(d);
          if (size == 8) std::memcpy(t.bytes.data() + at, &d, 8);
          else if (size == 4) std::memcpy(t.bytes.data() + at, &f, 4);
        } else {
          const std::int64_t n = number();
          std::memcpy(t.bytes.data() + at, &n, std::min<std::size_t>(size, 8));
        }
      }
    }
  }
  void change_list(attribute_list& list) {
    std::visit(
        [&](auto& values) {
          using V = std::decay_t<decltype(values)>;
          if constexpr (!std::is_same_v<V, std::monostate>) {
            if (values.empty()) return;
            const int what = below(3);
            if (what == 0) values.pop_back();
            else if (what == 1) values.push_back(values.front());
            else if constexpr (std::is_same_v<V, std::vector<std::int64_t>>) one_of(values) = number();
            else if constexpr (std::is_same_v<V, std::vector<data_type>>) one_of(values) = type();
            else if constexpr (std::is_same_v<V, std::vector<tensor_shape_proto>>) change_shape(one_of(values));
            if (values.empty()) list.values = std::monostate{};
          }
        },
        list.values);
  }
  void change_attribute(attribute_value& a) {
    if (a.get_if<std::int64_t>() != nullptr) a = attribute_value(number());
    else if (const bool* flag = a.get_if<bool>()) a = attribute_value(!*flag);
    else if (a.get_if<data_type>() != nullptr) a = attribute_value(type());
    else if (const auto* s = a.get_if<tensor_shape_proto>()) {
      tensor_shape_proto changed = *s;
      change_shape(changed);
      a = attribute_value(std::move(changed));
    } else if (const auto* t = a.get_if<tensor_proto>()) {
      tensor_proto changed = *t;
      change_tensor(changed);
      a = attribute_value(std::move(changed));
    } else if (const auto* l = a.get_if<attribute_list>()) {
      attribute_list changed = *l;
      change_list(changed);
      a.value = std::move(changed);
    }
  }
  void change_node(graph_def& g, node_def& n) {
    static const std::vector<std::string> types = [] {
      std::vector<std::string> all = kernel_types();
      for (const auto known : known_operator_types()) all.emplace_back(known);
      std::sort(all.begin(), all.end());
      return all;
    }();
    switch (below(12)) {
      case 0: n.op = one_of(types); break;
      case 1:
        if (!n.inputs.empty()) one_of(n.inputs) = one_of(g.nodes).name;
        break;
      case 2:
        if (!n.inputs.empty()) one_of(n.inputs) += ":" + std::to_string(below(4));
        break;
      case 3:
        if (!n.inputs.empty()) n.inputs.erase(n.inputs.begin() + below(n.inputs.size()));
        break;
      case 4: n.inputs.insert(n.inputs.begin(), one_of(g.nodes).name); break;
      case 5: n.inputs.push_back("^" + one_of(g.nodes).name); break;
      default: {
        if (n.attributes.empty()) break;
        const std::string name = (n.attributes.begin() + below(n.attributes.size()))->name;
        if (below(16) == 0) n.attributes.erase(name);
        else change_attribute(n.attributes[name]);
      }
    }
  }

  std::mt19937 random_;
};

bool read(const std::uint8_t* data, std::size_t size, graph_def& def) {
  try {
    def = io::read_binary(std::string_view(reinterpret_cast<const char*>(data), size), {.validate = false});
    return true;
  } catch (const error&) {
    return false;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  graph_def def;
  if (!read(data, size, def)) return LLVMFuzzerMutate(data, size, max_size);
  changer(seed).change(def);
  std::string bytes;
  try {
    bytes = io::write_binary(def);
  } catch (const error&) {
    return size;
  }
  if (bytes.size() > max_size) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  graph_def def;
  if (read(data, size, def)) leat_fuzz::run_graph(def);
  return 0;
}
