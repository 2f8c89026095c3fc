#pragma once
// Generalizes a plan's table from two sizes to all. Two tables of the same plan for different sizes are compared: a dimension that differs
// between them and occurs in the shapes of the feeds gets a name; a constant that differs as the number of elements along such dimensions,
// or as its reciprocal, becomes computed from it. Whether a third table is an instance of the general one is decided by comparing all
// attributes and constants, so the general program runs only for sizes whose own table agrees with it.

#include <leat/ops/arithmetic.hpp>
#include <leat/ops/array.hpp>
#include <leat/runtime/programs/plain_table.hpp>

#include <array>
#include <optional>
#include <set>

namespace leat::runtime {

inline constexpr std::size_t most_sizes = 4;
/// Values of the sizes; -1 for unset.
using plan_sizes = std::array<std::int64_t, most_sizes>;

inline constexpr std::array<std::string_view, most_sizes> size_texts{"size 0", "size 1", "size 2", "size 3"};
inline constexpr std::array<std::int64_t, most_sizes> size_dimensions{named_dimension(size_texts[0]), named_dimension(size_texts[1]),
                                                                      named_dimension(size_texts[2]), named_dimension(size_texts[3])};
/// The index of the size that a named dimension of a general table stands for, or -1.
constexpr int size_of_name(std::int64_t dimension) {
  for (std::size_t k = 0; k < most_sizes; ++k)
    if (size_dimensions[k] == dimension) return static_cast<int>(k);
  return -1;
}
/// A dimension of a general table, with the values of sizes substituted.
constexpr std::int64_t with_sizes(std::int64_t number, const plan_sizes& sizes) {
  const int k = is_named(number) ? size_of_name(number) : -1;
  return k < 0 ? number : sizes[static_cast<std::size_t>(k)];
}
constexpr shape with_sizes(shape s, const plan_sizes& sizes) {
  for (int i = 0; i < s.rank; ++i) s.dim[i] = with_sizes(s.dim[i], sizes);
  return s;
}
/// Whether a shape is an instance of a shape with named dimensions; sets the sizes of those names.
constexpr bool match(const shape& named, const shape& now, plan_sizes& sizes) {
  if (named.rank != now.rank) return false;
  for (int i = 0; i < named.rank; ++i) {
    if (named[i] == now[i]) continue;
    const int k = is_named(named[i]) ? size_of_name(named[i]) : -1;
    if (k < 0) return false;
    std::int64_t& known = sizes[static_cast<std::size_t>(k)];
    if (known >= 0 && known != now[i]) return false;
    known = now[i];
  }
  return true;
}

/// The sizes for which a general table was found right. Cleared when it has 4,096 entries.
class checked_sizes {
 public:
  bool has(const plan_sizes& sizes) const { return all_.contains(sizes); }
  void add(const plan_sizes& sizes) {
    if (all_.size() >= 4096) all_.clear();
    all_.insert(sizes);
  }

 private:
  std::set<plan_sizes> all_;
};

/// A constant that is computed from sizes: factor x Π sizes, or factor / (divisor x Π sizes).
struct sized_number {
  std::int64_t factor = 1;
  std::int64_t divisor = 0;               // 0: no division
  std::array<std::int64_t, 2> sizes{};    // one or two named dimensions
  int count = 0;

  double value(const plan_sizes& now) const {
    double all = 1;
    for (int k = 0; k < count; ++k) all *= static_cast<double>(with_sizes(sizes[static_cast<std::size_t>(k)], now));
    return divisor == 0 ? static_cast<double>(factor) * all : static_cast<double>(factor) / (static_cast<double>(divisor) * all);
  }
};

/// A table that is valid for many sizes.
struct general_table {
  plain_table table;
  std::vector<int> places;                            // maps an instance's rows to rows of `table`
  std::vector<std::pair<int, sized_number>> numbers;  // by row: the instance's constants that are computed from sizes
};

namespace detail {

// Whether attributes are a shape, or sizes that may equal a named dimension taken whole.
inline bool has_shape_attributes(const op_info& op) {
  return op.code == operator_record<reshape_op>::code || op.code == operator_record<broadcast_to_op>::code ||
         op.code == operator_record<slice_op>::code;
}
inline bool same_elements(const tensor_value& a, const tensor_value& b) {
  if (!a || !b) return !a && !b;
  return a.type() == b.type() && a.extent() == b.extent() && (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}
// Whether two tables of one plan agree in everything that does not depend on sizes.
inline bool same_but_rows(const plain_table& a, const plain_table& b) {
  const auto same_variable = [](const plain_table::variable& x, const plain_table::variable& y) {
    return x.slot == y.slot && x.info == y.info && x.written == y.written;
  };
  const auto same_feed = [](const auto& x, const auto& y) { return x.first == y.first && same_elements(x.second, y.second); };
  return a.targets.size() == b.targets.size() && a.targets_of == b.targets_of && a.sources == b.sources && a.together == b.together &&
         a.feeds.size() == b.feeds.size() && std::ranges::equal(a.known, b.known, same_elements) &&
         std::ranges::equal(a.arrays, b.arrays, same_elements) && std::ranges::equal(a.variables, b.variables, same_variable) &&
         std::ranges::equal(a.known_feeds, b.known_feeds, same_feed);
}
// Whether two rows that are not constants agree, apart from attributes; `place` maps a row of the second table to one of the first.
template <class Place>
bool same_row(const graph& a, const node& x, const graph& b, const node& y, Place place) {
  if (x.op->code != y.op->code || x.result.type != y.result.type || x.input_count != y.input_count || x.control_count != y.control_count ||
      x.attribute_count != y.attribute_count)
    return false;
  if ((x.op->kind == op_kind::placeholder || x.op->kind == op_kind::variable) && x.id != y.id) return false;
  for (int k = 0; k < x.input_count; ++k)
    if (a.input(x, k) != place(b.input(y, k))) return false;
  for (int k = 0; k < x.control_count; ++k)
    if (a.control(x, k) != place(b.control(y, k))) return false;
  return true;
}

// Builds a general table row by row from the tables for two sizes.
class size_finder {
 public:
  size_finder(const plain_table& a, const plain_table& b) : a_(a), b_(b) {}

  std::optional<general_table> find() {
    if (a_.rows.size() != b_.rows.size() || !same_but_rows(a_, b_) || !find_sizes()) return std::nullopt;
    for (int i = 0; i < b_.rows.size(); ++i)
      if (!enter(i)) return std::nullopt;
    plain_table& t = made_.table;
    for (const int row : b_.targets) t.targets.push_back(place(row));
    t.targets_of = b_.targets_of;
    t.known = b_.known;
    t.known_feeds = b_.known_feeds;
    t.sources = b_.sources;
    t.variables = b_.variables;
    t.arrays = b_.arrays;
    t.together = b_.together;
    for (std::size_t k = 0; k < b_.results.size(); ++k) {
      const auto extent = named(a_.results[k].extent, b_.results[k].extent);
      if (!extent) return std::nullopt;
      t.results.push_back({b_.results[k].type, *extent});
    }
    return std::move(made_);
  }

 private:
  graph& rows() { return made_.table.rows; }
  int place(int row) const { return made_.places[static_cast<std::size_t>(row)]; }

  // Finds the sizes of the feeds that differ. Dimensions that are equal to each other in both tables share one size.
  bool find_sizes() {
    for (std::size_t k = 0; k < b_.feeds.size(); ++k) {
      const shape &a = a_.feeds[k].extent, &b = b_.feeds[k].extent;
      if (a_.feeds[k].type != b_.feeds[k].type || a.rank != b.rank) return false;
      for (int i = 0; i < b.rank; ++i) {
        if (a[i] == b[i] || size_like(a[i], b[i]) >= 0) continue;
        if (count_ == most_sizes) return false;
        rows().name_dimension(size_dimensions[count_], size_texts[count_]);
        sizes_a_[count_] = a[i];
        sizes_b_[count_++] = b[i];
      }
      made_.table.feeds.push_back({b_.feeds[k].type, *named(a, b)});
    }
    return count_ > 0;
  }
  int size_like(std::int64_t a, std::int64_t b) const {
    for (std::size_t k = 0; k < count_; ++k)
      if (sizes_a_[k] == a && sizes_b_[k] == b) return static_cast<int>(k);
    return -1;
  }
  std::optional<std::int64_t> named(std::int64_t a, std::int64_t b) const {
    if (a == b) return a;
    const int k = size_like(a, b);
    return k < 0 ? std::nullopt : std::optional(size_dimensions[static_cast<std::size_t>(k)]);
  }
  std::optional<shape> named(const shape& a, const shape& b) const {
    shape s = b;
    if (a.rank != b.rank) return std::nullopt;
    for (int i = 0; i < s.rank; ++i) {
      const auto d = named(a[i], b[i]);
      if (!d) return std::nullopt;
      s.dim[i] = *d;
    }
    return s;
  }

  bool enter(int i) {
    const node &a = a_.rows.at(i), &b = b_.rows.at(i);
    const auto extent = named(a.result.extent, b.result.extent);
    if (!extent || a.result.type != b.result.type) return false;
    const tensor_info result{b.result.type, *extent};
    int made = -1;
    if (a.op->kind == op_kind::constant && b.op->kind == op_kind::constant) made = constant_row(i, result);
    else if (same_row(a_.rows, a, b_.rows, b, [](int row) { return row; })) made = other_row(a, b, result);
    made_.places.push_back(made);
    return made >= 0 && rows().at(made).result == result;
  }
  int other_row(const node& a, const node& b, const tensor_info& result) {
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < b.attribute_count; ++k) {
      const std::int64_t x = a_.rows.attribute(a, k), y = b_.rows.attribute(b, k);
      const auto n = x == y || has_shape_attributes(*b.op) ? named(x, y) : std::nullopt;
      if (!n) return -1;
      numbers.push_back(*n);
    }
    if (b.op->kind <= op_kind::index) return rows().add_leaf(*b.op, result, rows().keep(b.name, ""), b.id, numbers);
    std::vector<int> inputs, controls;
    for (int k = 0; k < b.input_count; ++k) inputs.push_back(place(b_.rows.input(b, k)));
    for (int k = 0; k < b.control_count; ++k) controls.push_back(place(b_.rows.control(b, k)));
    try {
      return rows().add(*b.op, inputs, numbers, controls);
    } catch (const error&) {
      return -1;  // the operator's shape rule does not accept named dimensions
    }
  }

  int constant_row(int i, const tensor_info& result) {
    const auto value = [&](const plain_table& t) { return leat::detail::value_of_bits(result.type, t.rows.attribute(t.rows.at(i), 0)); };
    if (a_.rows.attribute(a_.rows.at(i), 0) == b_.rows.attribute(b_.rows.at(i), 0))
      return constant(rows(), result.type, result.extent, value(b_)).index();
    const auto n = sized(result.type, value(a_), value(b_));
    if (!n) return -1;
    made_.numbers.emplace_back(i, *n);
    shape dimensions{1 + n->count, {n->divisor == 0 ? n->factor : n->divisor}};
    for (int k = 0; k < n->count; ++k) dimensions.dim[1 + k] = n->sizes[static_cast<std::size_t>(k)];
    output row = extent_of(rows(), result.type, dimensions);
    if (n->divisor != 0) row = make_node<real_div_op>({}, constant_like(row, static_cast<double>(n->factor)), row);
    return broadcast_to(row, result.extent).index();
  }
  // A formula that yields x for the sizes of the first table and y for those of the second.
  std::optional<sized_number> sized(dtype type, double x, double y) const {
    for (std::size_t i = 0; i < count_; ++i) {
      sized_number n{.sizes{size_dimensions[i]}, .count = 1};
      if (fits(type, x, y, n)) return n;
      n.count = 2;
      for (std::size_t j = 0; j <= i; ++j) {
        n.sizes[1] = size_dimensions[j];
        if (fits(type, x, y, n)) return n;
      }
    }
    return std::nullopt;
  }
  bool fits(dtype type, double x, double y, sized_number& n) const {
    const auto holds = [&](std::int64_t factor, std::int64_t divisor) {
      n.factor = factor;
      n.divisor = divisor;
      using leat::detail::bits_of;
      return bits_of(type, n.value(sizes_a_)) == bits_of(type, x) && bits_of(type, n.value(sizes_b_)) == bits_of(type, y);
    };
    constexpr double most = 1 << 30;
    const auto whole = [](double v) { return v >= 0.5 && v < most ? std::llround(v) : 0; };
    n.factor = 1, n.divisor = 0;
    const double all = n.value(sizes_a_);
    if (!(all > 0) || !(x > 0)) return false;
    if (const auto c = whole(x / all); c > 0 && holds(c, 0)) return true;
    if (!is_floating(type)) return false;
    if (const auto c = whole(x * all); c > 0 && holds(c, 1)) return true;
    if (const auto c = whole(1 / (x * all)); c > 0 && holds(1, c)) return true;
    return false;
  }

  const plain_table& a_;
  const plain_table& b_;
  general_table made_;
  plan_sizes sizes_a_{}, sizes_b_{};
  std::size_t count_ = 0;
};

}  // namespace detail

/// The general table of which both tables are instances, if there is one.
inline std::optional<general_table> generalize(const plain_table& a, const plain_table& b) { return detail::size_finder(a, b).find(); }

/// Whether a table equals the general one with these sizes.
inline bool is_instance(const general_table& general, const plain_table& table, const plan_sizes& sizes) {
  const plain_table& of = general.table;
  const auto place = [&](int row) { return general.places[static_cast<std::size_t>(row)]; };
  if (general.places.size() != table.rows.nodes.size() || !detail::same_but_rows(of, table)) return false;
  auto sized = general.numbers.begin();
  for (int i = 0; i < table.rows.size(); ++i) {
    const node &g = of.rows.at(place(i)), &t = table.rows.at(i);
    const bool follows = sized != general.numbers.end() && sized->first == i;
    const auto& number = follows ? (sized++)->second : sized_number{};
    if (g.result.type != t.result.type || !(with_sizes(g.result.extent, sizes) == t.result.extent)) return false;
    if (follows || t.op->kind == op_kind::constant) {
      if (t.op->kind != op_kind::constant || (!follows && g.op->kind != op_kind::constant)) return false;
      if (t.result.extent.elements() == 0) continue;  // it has no values to compare
      const std::int64_t bits = follows ? leat::detail::bits_of(t.result.type, number.value(sizes)) : of.rows.attribute(g, 0);
      if (bits != table.rows.attribute(t, 0)) return false;
      continue;
    }
    if (!detail::same_row(of.rows, g, table.rows, t, place)) return false;
    for (int k = 0; k < t.attribute_count; ++k)
      if (with_sizes(of.rows.attribute(g, k), sizes) != table.rows.attribute(t, k)) return false;
  }
  for (std::size_t k = 0; k < table.targets.size(); ++k)
    if (of.targets[k] != place(table.targets[k])) return false;
  for (std::size_t k = 0; k < table.results.size(); ++k)
    if (!(with_sizes(of.results[k].extent, sizes) == table.results[k].extent)) return false;
  return true;
}

}  // namespace leat::runtime
