#pragma once
// The loss of labels whose places in a sequence are not known: the probability of all ways to spread the labels over the steps, with blanks
// between them; and the most probable labels. Sources: TensorFlow `CTCLoss`, `CTCGreedyDecoder`; Graves et al., "Connectionist temporal
// classification".

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace leat::runtime {

/// log(e^a + e^b).
template <class T>
T log_of_sum(T a, T b) {
  constexpr T none = -std::numeric_limits<T>::infinity();
  if (a == none) return b;
  if (b == none) return a;
  return std::max(a, b) + std::log1p(std::exp(std::min(a, b) - std::max(a, b)));
}

/// The labels of each sequence, from the indices and values of a sparse matrix. Errors: invalid_argument, in TensorFlow's words.
inline std::vector<std::vector<std::int32_t>> labels_of_sequences(kernel_context& c, std::int64_t batch) {
  const tensor_value indices = c.input(1), values = c.input(2);
  const shape &at = indices.extent(), &held = values.extent();
  if (at.rank != 2) throw invalid_argument("labels_indices is not a matrix");
  if (held.rank != 1) throw invalid_argument("labels_values is not a vector");
  if (at[0] != held[0])
    throw invalid_argument("labels_indices and labels_values must contain the same number of rows, but saw shapes: " + brackets(at) +
                           " vs. " + brackets(held));
  if (at[1] != 2) throw invalid_argument("labels_indices must have 2 columns, got shape " + brackets(at));
  const auto pairs = indices.values<std::int64_t>();
  const auto labels = values.values<std::int32_t>();
  std::int64_t width = 0;
  for (std::size_t k = 0; k < labels.size(); ++k)
    if (pairs[2 * k + 1] < std::numeric_limits<std::int64_t>::max()) width = std::max(width, pairs[2 * k + 1] + 1);
  std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(batch));
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::int64_t row = pairs[2 * k], column = pairs[2 * k + 1];
    const std::string which = "label SparseTensor is not valid: indices[" + std::to_string(k) + "] = [" + std::to_string(row) + "," +
                              std::to_string(column) + "] is ";
    if (row < 0 || row >= batch || column < 0 || column >= width)
      throw invalid_argument(which + "out of bounds: need 0 <= index < [" + std::to_string(batch) + "," + std::to_string(width) + "]");
    if (k > 0 && row == pairs[2 * k - 2] && column == pairs[2 * k - 1]) throw invalid_argument(which + "repeated");
    if (k > 0 && (row < pairs[2 * k - 2] || (row == pairs[2 * k - 2] && column < pairs[2 * k - 1])))
      throw invalid_argument(which +
                             "out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly "
                             "ordered copy.");
    found[static_cast<std::size_t>(row)].push_back(labels[k]);
  }
  return found;
}
/// A sequence's labels without those from `blank` on, which end it. Errors: invalid_argument for a negative label, and one behind the end.
inline std::vector<std::int32_t> labels_before_blanks(const std::vector<std::int32_t>& labels, std::int64_t row, std::int64_t classes,
                                                      bool collapses) {
  const auto text = [](const std::vector<std::int32_t>& list) {
    std::string all;
    for (const std::int32_t n : list) all += (all.empty() ? "" : ",") + std::to_string(n);
    return all;
  };
  std::vector<std::int32_t> kept;
  bool has_ended = false;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (collapses && k > 0 && labels[k] == labels[k - 1]) continue;
    if (labels[k] >= classes - 1) {
      has_ended = true;
      continue;
    }
    if (has_ended)
      throw invalid_argument("Saw a non-null label (index >= num_classes - 1) following a null label, batch: " + std::to_string(row) +
                             " num_classes: " + std::to_string(classes) + " labels: " + text(labels) +
                             " labels seen so far: " + text(kept));
    if (labels[k] < 0)
      throw invalid_argument("All labels must be nonnegative integers, batch: " + std::to_string(row) + " labels: " + text(labels));
    kept.push_back(labels[k]);
  }
  return kept;
}

/// One sequence: its loss, and the loss's slope by each logit. Step t's logits begin at `logits + t stride`.
template <class T>
T loss_of_sequence(const T* logits, T* slope, std::int64_t stride, std::int64_t steps, std::int64_t classes,
                   const std::vector<std::int32_t>& labels, bool merges) {
  constexpr T none = -std::numeric_limits<T>::infinity();
  const auto blank = static_cast<std::int32_t>(classes - 1);
  std::vector<std::int32_t> path(2 * labels.size() + 1, blank);  // the labels with blanks around each
  for (std::size_t k = 0; k < labels.size(); ++k) path[2 * k + 1] = labels[k];
  const auto places = static_cast<std::int64_t>(path.size());
  const auto type = dtype_of<T>;
  tensor_value probabilities(type, {steps, classes}), before(type, {steps, places}), after(type, {steps, places});
  T* const y = probabilities.values<T>().data();
  T* const alpha = before.values<T>().data();  // logarithms of the probabilities of all ways to a place
  T* const beta = after.values<T>().data();    // and of all ways on from it
  for (std::int64_t t = 0; t < steps; ++t) {
    const T* const x = logits + t * stride;
    const T most = *std::max_element(x, x + classes);
    T sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += y[t * classes + k] = std::exp(x[k] - most);
    for (std::int64_t k = 0; k < classes; ++k) y[t * classes + k] /= sum;
  }
  const auto log_at = [&](std::int64_t t, std::int64_t u) { return std::log(y[t * classes + path[static_cast<std::size_t>(u)]]); };
  const auto label = [&](std::int64_t u) { return path[static_cast<std::size_t>(u)]; };
  const auto stays = [&](std::int64_t u) { return merges || label(u) == blank; };
  // A blank may be left out between two labels, unless they are equal and would become one.
  const auto skips = [&](std::int64_t from, std::int64_t to) { return label(to) != blank && !(merges && label(from) == label(to)); };
  std::fill_n(alpha, steps * places, none);
  std::fill_n(beta, steps * places, none);
  for (std::int64_t u = 0; u < std::min<std::int64_t>(2, places); ++u) alpha[u] = log_at(0, u);
  for (std::int64_t t = 1; t < steps; ++t) {
    const T* const last = alpha + (t - 1) * places;
    for (std::int64_t u = std::max<std::int64_t>(0, places - 2 * (steps - t)); u < std::min(places, 2 * (t + 1)); ++u) {
      T sum = stays(u) ? last[u] : none;
      if (u > 0) sum = log_of_sum(sum, last[u - 1]);
      if (u > 1 && skips(u - 2, u)) sum = log_of_sum(sum, last[u - 2]);
      alpha[t * places + u] = log_at(t, u) + sum;
    }
  }
  for (std::int64_t u = std::max<std::int64_t>(0, places - 2); u < places; ++u) beta[(steps - 1) * places + u] = 0;
  for (std::int64_t t = steps - 2; t >= 0; --t) {
    const T* const next = beta + (t + 1) * places;
    for (std::int64_t u = std::max<std::int64_t>(0, places - 2 * (steps - t)); u < std::min(places, 2 * (t + 1)); ++u) {
      T sum = stays(u) ? next[u] + log_at(t + 1, u) : none;
      if (u + 1 < places) sum = log_of_sum(sum, next[u + 1] + log_at(t + 1, u + 1));
      if (u + 2 < places && label(u) != blank && skips(u, u + 2)) sum = log_of_sum(sum, next[u + 2] + log_at(t + 1, u + 2));
      beta[t * places + u] = sum;
    }
  }
  T whole = none;
  for (std::int64_t u = 0; u < places; ++u) whole = log_of_sum(whole, alpha[u] + beta[u]);
  std::vector<T> sums(static_cast<std::size_t>(classes));
  for (std::int64_t t = 0; t < steps; ++t) {
    std::fill(sums.begin(), sums.end(), none);
    for (std::int64_t u = 0; u < places; ++u) {
      T& sum = sums[static_cast<std::size_t>(label(u))];
      sum = log_of_sum(sum, alpha[t * places + u] + beta[t * places + u]);
    }
    for (std::int64_t k = 0; k < classes; ++k)
      slope[t * stride + k] = y[t * classes + k] - (whole == none ? T(0) : std::exp(sums[static_cast<std::size_t>(k)] - whole));
  }
  return -whole;
}

/// How many steps each sequence of inputs [steps, batch, classes] has, by input `k`. Errors: invalid_argument, failed_precondition, in
/// TensorFlow's words.
inline std::vector<std::int64_t> lengths_of_sequences(kernel_context& c, int k, const shape& inputs) {
  if (c.extent(k).rank != 1) throw invalid_argument("sequence_length is not a vector");
  const auto lengths = c.numbers(k);
  if (static_cast<std::int64_t>(lengths.size()) != inputs[1])
    throw failed_precondition("len(sequence_length) != batch_size.  len(sequence_length):  " + std::to_string(lengths.size()) +
                              " batch_size: " + std::to_string(inputs[1]));
  for (std::size_t b = 0; b < lengths.size(); ++b)
    if (lengths[b] > inputs[0]) throw failed_precondition("sequence_length(" + std::to_string(b) + ") <= " + std::to_string(inputs[0]));
  return lengths;
}

inline void run_ctc_loss(kernel_context& c) {
  const tensor_value inputs = c.input(0);
  const shape& s = inputs.extent();
  if (s.rank != 3) throw invalid_argument("inputs is not a 3-Tensor");
  const std::int64_t steps = s[0], batch = s[1], classes = s[2];
  if (steps == 0) throw invalid_argument("Max time or first dimension of input cannot be 0.");
  const auto lengths = lengths_of_sequences(c, 3, s);
  if (batch == 0) throw invalid_argument("batch_size must not be 0");
  if (classes == 0) throw invalid_argument("inputs have no classes, got shape " + brackets(s));
  for (std::size_t b = 0; b < lengths.size(); ++b)
    if (lengths[b] < 0) throw failed_precondition("seq_len(" + std::to_string(b) + ") < 0");
  const bool ignores = c.node.flag("ignore_longer_outputs_than_inputs"), merges = c.node.flag("ctc_merge_repeated", true);
  std::vector<std::vector<std::int32_t>> labels = labels_of_sequences(c, batch);
  for (std::int64_t b = 0; b < batch; ++b) {
    auto& its = labels[static_cast<std::size_t>(b)];
    if (its.empty()) throw invalid_argument("Labels length is zero in batch " + std::to_string(b));
    its = labels_before_blanks(its, b, classes, c.node.flag("preprocess_collapse_repeated"));
    if (!ignores && static_cast<std::int64_t>(its.size()) > lengths[static_cast<std::size_t>(b)])
      throw invalid_argument("Not enough time for target transition sequence (required: " + std::to_string(its.size()) +
                             ", available: " + std::to_string(lengths[static_cast<std::size_t>(b)]) + ")" + std::to_string(b) +
                             "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs");
  }
  with_fraction(inputs.type(), [&]<class T>(T) {
    tensor_value loss(inputs.type(), {batch}), slope(inputs.type(), s);
    std::ranges::fill(slope.values<T>(), T(0));
    for (std::int64_t b = 0; b < batch; ++b) {
      c.step.check();
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      const auto& its = labels[static_cast<std::size_t>(b)];
      const bool fits = length > 0 && static_cast<std::int64_t>(its.size()) <= length;
      loss.values<T>()[static_cast<std::size_t>(b)] =
          fits ? loss_of_sequence(inputs.values<T>().data() + b * classes, slope.values<T>().data() + b * classes, batch * classes, length,
                                  classes, its, merges)
               : T(0);
    }
    c.set(0, std::move(loss));
    c.set(1, std::move(slope));
  });
}

/// The largest number of each moment of a sequence, as labels without blanks and, if wanted, without repetitions.
inline void run_greedy_decoder(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  if (s.rank != 3) throw invalid_argument("inputs is not a 3-Tensor");
  if (x.elements() == 0) throw invalid_argument("inputs must not be empty");
  const std::int64_t batch = s[1], classes = s[2];
  const auto lengths = lengths_of_sequences(c, 1, s);
  std::int64_t blank = c.node.integer("blank_index", -1);
  if (blank < -classes || blank >= classes)
    throw invalid_argument("blank_index expected to be between " + std::to_string(-classes) + " and " + std::to_string(classes - 1) +
                           " but was " + std::to_string(blank));
  if (blank < 0) blank += classes;
  const bool merges = c.node.flag("merge_repeated");
  std::vector<std::int64_t> indices, labels;
  std::int64_t longest = 0;
  with_fraction(x.type(), [&]<class T>(T) {
    shape extent;
    extent.push(batch);
    extent.push(1);
    tensor_value sums(x.type(), extent);
    const T* const from = x.values<T>().data();
    for (std::int64_t b = 0; b < batch; ++b) {
      T sum = T(0);
      std::int64_t before = -1, count = 0;
      for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t) {
        const T* const row = from + (t * batch + b) * classes;
        const std::int64_t label = std::max_element(row, row + classes) - row;
        sum += -row[label];
        if (label != blank && !(merges && label == before)) {
          indices.push_back(b);
          indices.push_back(count++);
          labels.push_back(label);
        }
        before = label;
      }
      longest = std::max(longest, count);
      sums.values<T>()[static_cast<std::size_t>(b)] = sum;
    }
    c.set(3, std::move(sums));
  });
  c.set(0, tensor_value({static_cast<std::int64_t>(labels.size()), 2}, indices));
  c.set(1, tensor_value(labels));
  c.set(2, tensor_value(std::vector<std::int64_t>{batch, longest}));
}

LEAT_FILL(fill_ctc_kernels) {
  register_kernel("CTCLoss", run_ctc_loss);
  register_kernel("CTCGreedyDecoder", run_greedy_decoder);
}

}  // namespace leat::runtime
