#pragma once
// Kernels that cross features: each combination of one feature of each column of a row becomes a string, or its hash, a number below
// `num_buckets`. Columns are sparse, ragged or dense; strings are hashed to fingerprints, which are combined one after the other. Source:
// TensorFlow `SparseCross`, `SparseCrossHashed`, `SparseCrossV2`, `RaggedCross`, `FingerprintCat64`.

#include <leat/core/fill.hpp>
#include <leat/core/fingerprint.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/text_values.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

/// One fingerprint for two, in their order.
inline std::uint64_t joined_fingerprints(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995;
  const auto mixed = [](std::uint64_t v) { return v ^ (v >> 47); };
  const std::uint64_t both = ((first ^ factor) ^ mixed(second * factor) * factor) * factor;
  return mixed(mixed(both) * factor);
}

/// A column of features: those of row `row` are consecutive values.
class cross_column {
 public:
  struct part {
    std::int64_t row = 0, begin = 0, count = 0;
  };

  /// A matrix [rows, features].
  static cross_column dense(tensor_value values) {
    cross_column made(std::move(values));
    made.is_dense_ = true;
    return made;
  }
  /// Values with the places where rows begin and end, which have been checked.
  static cross_column ragged(tensor_value values, const std::vector<std::int64_t>& splits) {
    cross_column made(std::move(values));
    for (std::size_t k = 0; k + 1 < splits.size(); ++k)
      if (splits[k + 1] > splits[k]) made.parts_.push_back({static_cast<std::int64_t>(k), splits[k], splits[k + 1] - splits[k]});
    return made;
  }
  /// Values with the rows of a sparse tensor, [n, 2]. As in TensorFlow, only what is sorted by rows counts, up to the first row that is
  /// not.
  static cross_column sparse(tensor_value values, const std::vector<std::int64_t>& indices, std::int64_t rows) {
    cross_column made(std::move(values));
    std::int64_t last = -1;
    for (std::size_t k = 0; k < indices.size() / 2;) {
      const std::int64_t row = indices[2 * k];
      if (row <= last || row >= rows) break;
      const std::size_t begin = k;
      while (k < indices.size() / 2 && indices[2 * k] == row) ++k;
      made.parts_.push_back({row, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(k - begin)});
      last = row;
    }
    return made;
  }

  bool is_dense() const { return is_dense_; }
  const std::vector<part>& parts() const { return parts_; }
  const tensor_value& values() const { return values_; }
  /// The features of a row. Rows are asked for in ascending order.
  part of_row(std::int64_t row) {
    if (is_dense_) return {row, row * values_.extent()[1], values_.extent()[1]};
    while (at_ < parts_.size() && parts_[at_].row < row) ++at_;
    return at_ < parts_.size() && parts_[at_].row == row ? parts_[at_] : part{row, 0, 0};
  }
  std::string text(std::int64_t k) const {
    const auto at = static_cast<std::size_t>(k);
    return values_.type() == text_dtype ? values_.texts()[at] : std::to_string(values_.values<std::int64_t>()[at]);
  }
  std::int64_t number(std::int64_t k) const { return values_.values<std::int64_t>()[static_cast<std::size_t>(k)]; }

 private:
  explicit cross_column(tensor_value values) : values_(std::move(values)) {}
  tensor_value values_;
  bool is_dense_ = false;
  std::vector<part> parts_;
  std::size_t at_ = 0;
};

/// Rows and how many crosses each has. A row has none if a column has no feature of it.
struct crossed_rows {
  std::vector<std::vector<cross_column::part>> parts;  // of each row that has crosses, one of each column
  std::vector<std::int64_t> rows, counts;
  std::int64_t all = 0, most = 0;
};
inline crossed_rows rows_to_cross(kernel_context& c, std::vector<cross_column>& columns, std::int64_t rows) {
  crossed_rows made;
  if (columns.empty()) return made;
  const auto take = [&](std::int64_t row) {
    if (row % 1024 == 0) c.step.check();
    std::vector<cross_column::part> parts;
    std::int64_t count = 1;
    for (cross_column& column : columns) {
      parts.push_back(column.of_row(row));
      if (parts.back().count == 0) return;
      if (!multiplies(count, parts.back().count, count)) throw resource_exhausted("row " + std::to_string(row) + " has too many crosses");
    }
    if (count > std::numeric_limits<std::int64_t>::max() - made.all) throw resource_exhausted("there are too many crosses");
    made.all += count;
    made.most = std::max(made.most, count);
    made.parts.push_back(std::move(parts));
    made.rows.push_back(row);
    made.counts.push_back(count);
  };
  // The rows of a sparse column alone, if there is one: the number of rows is any number.
  const auto first = std::find_if(columns.begin(), columns.end(), [](const cross_column& column) { return !column.is_dense(); });
  if (first == columns.end())
    for (std::int64_t row = 0; row < rows; ++row) take(row);
  else
    for (const auto& its : std::vector<cross_column::part>(first->parts())) take(its.row);
  return made;
}

/// Calls `use(places)` for each cross, the last column's features first.
template <class Use>
void for_each_cross(kernel_context& c, const std::vector<cross_column::part>& parts, Use use) {
  std::vector<std::int64_t> at(parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) at[k] = parts[k].begin;
  for (std::int64_t count = 0;; ++count) {
    if (count % 1024 == 0) c.step.check();
    use(at);
    std::size_t k = parts.size();
    while (k > 0 && ++at[k - 1] == parts[k - 1].begin + parts[k - 1].count) {
      at[k - 1] = parts[k - 1].begin;
      --k;
    }
    if (k == 0) return;
  }
}

/// All crosses in the order of rows: `one(places)` is the value of one, a number or a string.
template <class One>
tensor_value crossed_values(kernel_context& c, const crossed_rows& rows, bool is_text, One one) {
  tensor_value made(is_text ? text_dtype : dtype::int64, {rows.all});
  std::size_t at = 0, bytes = 0;
  for (const auto& parts : rows.parts)
    for_each_cross(c, parts, [&](const std::vector<std::int64_t>& places) {
      if constexpr (std::is_same_v<decltype(one(places)), std::string>) {
        made.texts()[at] = one(places);
        bytes += outer_bytes(made.texts()[at].size());
        if (++at % 4096 == 0) {
          made.count_texts(bytes);
          bytes = 0;
        }
      } else {
        made.values<std::int64_t>()[at++] = static_cast<std::int64_t>(one(places));
      }
    });
  if (bytes > 0) made.count_texts(bytes);
  return made;
}
/// The features of a cross, joined by a separator.
inline auto joined_texts(const std::vector<cross_column>& columns, const std::string& between) {
  return [&columns, between](const std::vector<std::int64_t>& places) {
    std::string made;
    for (std::size_t k = 0; k < columns.size(); ++k) made += (k > 0 ? between : std::string()) + columns[k].text(places[k]);
    return made;
  };
}
inline std::uint64_t bucket_of(std::uint64_t hash, std::int64_t buckets) {
  return hash % static_cast<std::uint64_t>(buckets > 0 ? buckets : std::numeric_limits<std::int64_t>::max());
}
/// The hash of a cross, from that of a key on.
inline auto hashed_cross(const std::vector<cross_column>& columns, std::uint64_t key, std::int64_t buckets) {
  return [&columns, key, buckets](const std::vector<std::int64_t>& places) {
    std::uint64_t hash = key;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const cross_column& its = columns[k];
      hash = joined_fingerprints(hash, its.values().type() == text_dtype
                                           ? leat::detail::farm_fingerprint::of(its.values().texts()[static_cast<std::size_t>(places[k])])
                                           : static_cast<std::uint64_t>(its.number(places[k])));
    }
    return bucket_of(hash, buckets);
  };
}
/// The hash of a cross whose features are hashed by a key first, or by fingerprints. Of numbers, TensorFlow hashes the lower four bytes;
/// without the key, dense numbers are their own fingerprints.
inline auto salted_cross(const std::vector<cross_column>& columns, std::int64_t buckets, bool is_strong, std::uint64_t key0,
                         std::uint64_t key1) {
  return [&columns, buckets, is_strong, key0, key1](const std::vector<std::int64_t>& places) {
    std::uint64_t hash = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const cross_column& its = columns[k];
      std::string_view bytes;
      char low[4];
      if (its.values().type() == text_dtype) {
        bytes = its.values().texts()[static_cast<std::size_t>(places[k])];
      } else {
        const std::int64_t number = its.number(places[k]);
        std::memcpy(low, &number, sizeof low);
        bytes = {low, sizeof low};
      }
      const bool is_plain = !is_strong && its.is_dense() && its.values().type() != text_dtype;
      const std::uint64_t own = is_strong  ? sip_hash(key0, key1, bytes)
                                : is_plain ? static_cast<std::uint64_t>(its.number(places[k]))
                                           : leat::detail::farm_fingerprint::of(bytes);
      hash = k == 0 ? own : joined_fingerprints(hash, own);
    }
    return bucket_of(hash, buckets);
  };
}

/// The columns of a node's inputs: sparse ones, which are `sparse` indices, values and shapes from input `first` on, then dense ones.
struct cross_inputs {
  std::vector<cross_column> columns;
  std::int64_t rows = 0;
  int next = 0;  // the input behind them
};
inline cross_inputs cross_inputs_of(kernel_context& c, dtype internal) {
  const std::int64_t sparse = c.node.integer("N"), values = static_cast<std::int64_t>(c.node.list<data_type>("sparse_types").size());
  const auto dense = static_cast<std::int64_t>(c.node.list<data_type>("dense_types").size());
  if (sparse < 0 || sparse > c.input_count() || 2 * sparse + values + dense > c.input_count())
    throw invalid_argument("Expected " + std::to_string(sparse) + " input values, got " + std::to_string(values));
  if (values != sparse) throw invalid_argument("Expected " + std::to_string(sparse) + " input values, got " + std::to_string(values));
  const int n = static_cast<int>(sparse), dense_from = 3 * n;
  const auto at = [](int k) { return " at position " + std::to_string(k); };
  const auto want_type = [&](int input, const char* what) {
    const dtype type = c.type(input);
    if (type != text_dtype && type != dtype::int64)
      throw invalid_argument(std::string(what) + " should be int64 or string, not " + dtype_name(type));
    if (internal == text_dtype && type == dtype::int64)
      throw invalid_argument(std::string(what) + " should be of internal type string but received int64");
  };
  for (int k = 0; k < n; ++k) {
    const shape& s = c.extent(k);
    if (s.rank != 2) throw invalid_argument("Input indices should be a matrix but received shape " + brackets(s) + at(k));
    if (s[1] != 2) throw invalid_argument("Expected D2 of index to be 2 got " + std::to_string(s[1]) + at(k));
  }
  for (int k = 0; k < n; ++k) {
    want_type(n + k, "Input values");
    const shape& s = c.extent(n + k);
    if (s.rank != 1) throw invalid_argument("Input values should be a vector but received shape " + brackets(s) + at(k));
    if (s[0] != c.extent(k)[0])
      throw invalid_argument("Expected size of values to be " + std::to_string(c.extent(k)[0]) + " got " + std::to_string(s[0]) + at(k));
  }
  for (int k = 0; k < n; ++k) {
    const shape& s = c.extent(2 * n + k);
    if (s.rank != 1) throw invalid_argument("Input shapes should be a vector but received shape " + brackets(s) + at(k));
    if (s[0] != 2) throw invalid_argument("shape should imply a 2D tensor, but got " + brackets(s) + at(k));
  }
  for (int k = 0; k < dense; ++k) {
    want_type(dense_from + k, "Dense inputs");
    if (c.extent(dense_from + k).rank != 2)
      throw invalid_argument("Dense inputs should be a matrix but received shape " + brackets(c.extent(dense_from + k)) + at(k));
  }
  cross_inputs made;
  made.rows = n > 0 ? c.numbers(2 * n)[0] : dense > 0 ? c.extent(dense_from)[0] : 0;
  for (int k = 0; k < n; ++k)
    if (const std::int64_t rows = c.numbers(2 * n + k)[0]; rows != made.rows)
      throw invalid_argument("Expected batch size " + std::to_string(made.rows) + " got " + std::to_string(rows) + at(k));
  for (int k = 0; k < dense; ++k)
    if (const std::int64_t rows = c.extent(dense_from + k)[0]; rows != made.rows)
      throw invalid_argument("Expected batch size " + std::to_string(made.rows) + " got " + std::to_string(rows) + " at dense tensor " +
                             std::to_string(k));
  if (made.rows < 0) throw invalid_argument("Expected batch size to be non-negative, got " + std::to_string(made.rows));
  for (int k = 0; k < n; ++k) made.columns.push_back(cross_column::sparse(c.input(n + k), c.numbers(k), made.rows));
  for (int k = 0; k < dense; ++k) made.columns.push_back(cross_column::dense(c.input(dense_from + k)));
  made.next = dense_from + static_cast<int>(dense);
  return made;
}
/// Sets the crosses as a sparse tensor [rows, the most that a row has].
inline void set_crosses(kernel_context& c, const crossed_rows& crossed, std::int64_t rows, tensor_value values) {
  tensor_value indices(dtype::int64, {crossed.all, 2});
  auto* to = indices.values<std::int64_t>().data();
  for (std::size_t k = 0; k < crossed.rows.size(); ++k)
    for (std::int64_t j = 0; j < crossed.counts[k]; ++j) {
      *to++ = crossed.rows[k];
      *to++ = j;
    }
  c.set(0, std::move(indices));
  c.set(1, std::move(values));
  c.set(2, tensor_value(std::vector<std::int64_t>{rows, crossed.most}));
}

inline void run_sparse_cross(kernel_context& c) {
  const dtype internal = c.node.type_of("internal_type"), type = c.node.type_of("out_type");
  cross_inputs in = cross_inputs_of(c, internal);
  const crossed_rows crossed = rows_to_cross(c, in.columns, in.rows);
  const std::int64_t buckets = c.node.integer("num_buckets");
  if (buckets < 0) throw invalid_argument("num_buckets must be non-negative, got " + std::to_string(buckets));
  const auto key = static_cast<std::uint64_t>(c.node.integer("hash_key"));
  set_crosses(c, crossed, in.rows,
              type == text_dtype ? crossed_values(c, crossed, true, joined_texts(in.columns, "_X_"))
                                 : crossed_values(c, crossed, false, hashed_cross(in.columns, key, buckets)));
}
inline void run_joined_cross(kernel_context& c) {
  cross_inputs in = cross_inputs_of(c, dtype::invalid);
  const tensor_value between = c.input(in.next);
  if (between.extent().rank != 0)
    throw invalid_argument("Input separator should be a scalar. Received: a tensor of shape " + brackets(between.extent()));
  const crossed_rows crossed = rows_to_cross(c, in.columns, in.rows);
  set_crosses(c, crossed, in.rows, crossed_values(c, crossed, true, joined_texts(in.columns, between.texts()[0])));
}
inline void run_hashed_cross(kernel_context& c) {
  cross_inputs in = cross_inputs_of(c, dtype::invalid);
  const std::int64_t buckets = c.number(in.next);
  const tensor_value is_strong = c.input(in.next + 1);
  if (is_strong.elements() != 1) throw invalid_argument("strong_hash must be a scalar, not of shape " + brackets(is_strong.extent()));
  const auto salt = c.numbers(in.next + 2);
  if (salt.size() != 2) throw invalid_argument("Input \"salt\" must have length 2 but has length " + std::to_string(salt.size()));
  const crossed_rows crossed = rows_to_cross(c, in.columns, in.rows);
  set_crosses(c, crossed, in.rows,
              crossed_values(c, crossed, false,
                             salted_cross(in.columns, buckets, is_strong.values<bool>()[0], static_cast<std::uint64_t>(salt[0]),
                                          static_cast<std::uint64_t>(salt[1]))));
}

/// Crosses ragged, sparse and dense columns in the order of letters R, S and D.
inline void run_ragged_cross(kernel_context& c) {
  const auto count = [&](const char* types) { return static_cast<int>(c.node.list<data_type>(types).size()); };
  const int ragged = count("ragged_values_types"), dense = count("dense_types");
  const std::int64_t sparse_count = c.node.integer("Nsparse");
  if (sparse_count < 0 || sparse_count > c.input_count() || 2 * ragged + 3 * sparse_count + dense != c.input_count() ||
      count("ragged_splits_types") != ragged || count("sparse_values_types") != sparse_count)
    throw invalid_argument("the attributes do not fit " + std::to_string(c.input_count()) + " inputs");
  const int sparse = static_cast<int>(sparse_count), sparse_from = 2 * ragged, dense_from = sparse_from + 3 * sparse;
  const auto want_type = [&](int input) {
    if (c.type(input) != text_dtype && c.type(input) != dtype::int64) throw invalid_argument("values should be int64 or string");
  };
  std::int64_t rows = -1;
  const auto want_rows = [&](std::int64_t n) {
    if (rows >= 0 && rows != n) throw invalid_argument("inputs must all have the same batch dimension size.");
    rows = n;
  };
  for (int k = 0; k < ragged; ++k) {
    want_type(k);
    const shape &values = c.extent(k), &splits = c.extent(ragged + k);
    if (values.rank != 1 || splits.rank != 1) throw invalid_argument("tf.ragged.cross only supports inputs with rank=2.");
    if (splits[0] == 0) throw invalid_argument("Invalid ragged splits: ragged splits must have at least one splits, but is empty");
    want_rows(splits[0] - 1);
  }
  for (int k = 0; k < sparse; ++k) {
    const shape &indices = c.extent(sparse_from + k), &values = c.extent(sparse_from + sparse + k),
                &sizes = c.extent(sparse_from + 2 * sparse + k);
    want_type(sparse_from + sparse + k);
    if (indices.rank == 2 && sizes.rank == 1 && (indices[1] != 2 || sizes[0] != 2))
      throw invalid_argument("tf.ragged.cross only supports inputs with rank=2.");
    if (indices.rank != 2 || values.rank != 1 || sizes.rank != 1 || indices[0] != values[0])
      throw invalid_argument("Invalid SparseTensor: indices " + brackets(indices) + ", values " + brackets(values) + ", shape " +
                             brackets(sizes));
    const std::int64_t size = c.numbers(sparse_from + 2 * sparse + k)[0];
    if (size < 0) throw invalid_argument("the shape of a sparse input has the size " + std::to_string(size));
    want_rows(size);
  }
  for (int k = 0; k < dense; ++k) {
    want_type(dense_from + k);
    if (c.extent(dense_from + k).rank != 2) throw invalid_argument("tf.ragged.cross only supports inputs with rank=2.");
    want_rows(c.extent(dense_from + k)[0]);
  }
  rows = std::max<std::int64_t>(rows, 0);
  const std::string order = c.node.text("input_order");
  if (order.size() != static_cast<std::size_t>(ragged + sparse + dense)) throw invalid_argument("Invalid length for input_order");
  std::vector<cross_column> columns;
  int next_ragged = 0, next_sparse = 0, next_dense = 0;
  for (const char letter : order) {
    if (letter == 'R' && next_ragged < ragged) {
      const int k = next_ragged++;
      const auto splits = c.numbers(ragged + k);
      const std::string wrong = "Invalid ragged splits: ";
      if (splits.front() != 0)
        throw invalid_argument(wrong + "first element of ragged splits  must be 0 but is " + std::to_string(splits.front()));
      for (std::size_t i = 1; i < splits.size(); ++i)
        if (splits[i] < splits[i - 1])
          throw invalid_argument(wrong + "ragged splits must be monotonically increasing, but ragged_splits[" + std::to_string(i) +
                                 "]=" + std::to_string(splits[i]) + " is smaller than row_splits[" + std::to_string(i - 1) +
                                 "]=" + std::to_string(splits[i - 1]));
      if (splits.back() != c.extent(k)[0])
        throw invalid_argument(wrong + "last element of ragged splits must be the number of ragged values(" +
                               std::to_string(c.extent(k)[0]) + ") but is " + std::to_string(splits.back()));
      columns.push_back(cross_column::ragged(c.input(k), splits));
    } else if (letter == 'S' && next_sparse < sparse) {
      const int k = next_sparse++;
      columns.push_back(cross_column::sparse(c.input(sparse_from + sparse + k), c.numbers(sparse_from + k), rows));
    } else if (letter == 'D' && next_dense < dense) {
      columns.push_back(cross_column::dense(c.input(dense_from + next_dense++)));
    } else {
      const bool is_known = letter == 'R' || letter == 'S' || letter == 'D';
      const int given = letter == 'R' ? ragged : letter == 'S' ? sparse : dense;
      const std::string kind = letter == 'R' ? "ragged" : letter == 'S' ? "sparse" : "dense";
      throw invalid_argument("input_order \"" + order + "\" " +
                             (is_known ? "specifies reading a " + kind + " tensor at index " + std::to_string(given) + " from a list of " +
                                             std::to_string(given) + " tensors."
                                       : "has a letter that is none of R, S and D"));
    }
  }
  const crossed_rows crossed = rows_to_cross(c, columns, rows);
  const dtype type = c.node.type_of("out_values_type");
  const std::int64_t buckets = c.node.integer("num_buckets");
  if (buckets < 0) throw invalid_argument("num_buckets must be non-negative, got " + std::to_string(buckets));
  c.set(0, type == text_dtype
               ? crossed_values(c, crossed, true, joined_texts(columns, "_X_"))
               : crossed_values(c, crossed, false, hashed_cross(columns, static_cast<std::uint64_t>(c.node.integer("hash_key")), buckets)));
  tensor_value splits(c.node.type_of("out_row_splits_type", dtype::int64), {rows + 1});
  with_index(splits.type(), [&]<class I>(I) {
    if (crossed.all > std::numeric_limits<I>::max())
      throw invalid_argument("the splits of " + std::to_string(crossed.all) + " crosses need int64");
    const auto to = splits.values<I>();
    std::size_t k = 0;
    I at = 0;
    for (std::size_t row = 0; row < to.size(); ++row) {
      to[row] = at;
      if (k < crossed.rows.size() && crossed.rows[k] == static_cast<std::int64_t>(row)) at = static_cast<I>(at + crossed.counts[k++]);
    }
  });
  c.set(1, std::move(splits));
}

LEAT_FILL(fill_cross_kernels) {
  register_kernel("SparseCross", run_sparse_cross);
  register_kernel("SparseCrossHashed", run_hashed_cross);
  register_kernel("SparseCrossV2", run_joined_cross);
  register_kernel("RaggedCross", run_ragged_cross);
}

}  // namespace leat::runtime
