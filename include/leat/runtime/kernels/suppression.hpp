#pragma once
// Kernels that select boxes by their scores, the best first, and leave out those that overlap a selected one (non-maximum suppression).
// With a sigma, an overlap lowers a box's score instead. Source: TensorFlow `NonMaxSuppression` to `NonMaxSuppressionV5`,
// `CombinedNonMaxSuppression`; Bodla and others, "Soft-NMS".

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace leat::runtime {

/// What such a node has besides boxes and scores.
struct suppression_settings {
  std::int64_t most = 0;                                     // boxes to select
  float threshold = 0.5f;                                    // of the overlap
  float least_score = std::numeric_limits<float>::lowest();  // scores must be larger
  float sigma = 0;  // 0: boxes that overlap by more than the threshold are left out; otherwise the overlap alone counts
};
/// The boxes that were selected, and their scores.
struct selected_boxes {
  std::vector<std::int64_t> indices;
  std::vector<float> scores;
};

inline float only_number(kernel_context& c, int k, std::string_view what) {
  const tensor_value& v = c.input(k);
  if (v.extent().rank != 0) throw invalid_argument(std::string(what) + " must be 0-D, got shape " + brackets(v.extent()));
  if (v.type() != dtype::float32) throw unimplemented("no kernel for dtype " + dtype_name(v.type()));
  return v.values<float>()[0];
}
inline std::int64_t most_boxes(kernel_context& c) {
  if (c.extent(2).rank != 0) throw invalid_argument("max_output_size must be 0-D, got shape " + brackets(c.extent(2)));
  return c.number(2);
}
inline const float* scores_of(const tensor_value& scores, std::int64_t boxes) {
  if (scores.extent().rank != 1) throw invalid_argument("scores must be 1-D, not " + brackets(scores.extent()));
  if (scores.extent()[0] != boxes)
    throw invalid_argument("scores has incompatible shape: " + brackets(scores.extent()) + " for " + std::to_string(boxes) + " boxes");
  if (scores.type() != dtype::float32) throw unimplemented("no kernel for dtype " + dtype_name(scores.type()));
  return scores.values<float>().data();
}

/// The area that two boxes share, as a part of the area that they cover; corners may be given in any order.
inline float overlap_of(const float* a, const float* b) {
  const auto low = [](const float* box, int axis) { return std::min(box[axis], box[axis + 2]); };
  const auto high = [](const float* box, int axis) { return std::max(box[axis], box[axis + 2]); };
  const auto area = [&](const float* box) { return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1)); };
  const auto common = [&](int axis) {
    return std::max(std::min(high(a, axis), high(b, axis)) - std::max(low(a, axis), low(b, axis)), 0.0f);
  };
  if (area(a) <= 0 || area(b) <= 0) return 0;
  const float shared = common(0) * common(1);
  return shared / (area(a) + area(b) - shared);
}

/// `overlap(a, b)` compares two boxes. Boxes of equal scores are taken in order.
template <class Overlap>
selected_boxes select_boxes(kernel_context& c, const suppression_settings& s, const float* scores, std::int64_t count, Overlap overlap) {
  if (s.most < 0) throw invalid_argument("output size must be non-negative");
  struct candidate {
    std::int64_t index;
    float score;
    std::size_t compared;  // selected boxes that it has been compared with
  };
  const auto is_behind = [](const candidate& a, const candidate& b) {
    return a.score < b.score || (a.score == b.score && a.index > b.index);
  };
  std::priority_queue<candidate, std::vector<candidate>, decltype(is_behind)> queue(is_behind);
  for (std::int64_t k = 0; k < count; ++k)
    if (scores[k] > s.least_score) queue.push({k, scores[k], 0});
  selected_boxes found;
  for (std::int64_t comparisons = 0; static_cast<std::int64_t>(found.indices.size()) < s.most && !queue.empty();) {
    candidate next = queue.top();
    queue.pop();
    const float before = next.score;
    bool is_left_out = false;
    for (std::size_t k = found.indices.size(); k-- > next.compared && !is_left_out;) {
      if (++comparisons % 65536 == 0) c.step.check();
      const float shared = overlap(next.index, found.indices[k]);
      if (s.sigma == 0) {
        is_left_out = shared > s.threshold;
      } else {
        next.score *= std::exp(-0.5f / s.sigma * shared * shared);
        if (next.score <= s.least_score) break;
      }
    }
    next.compared = found.indices.size();
    if (is_left_out) continue;
    if (next.score == before) {
      found.indices.push_back(next.index);
      found.scores.push_back(next.score);
    } else if (next.score > s.least_score) {
      queue.push(next);
    }
  }
  return found;
}

inline tensor_value indices_tensor(const std::vector<std::int64_t>& indices) { return integer_tensor(dtype::int32, indices); }

/// Boxes and scores are the first two inputs. `Version` is that of the operator.
template <int Version>
void run_suppression(kernel_context& c) {
  const tensor_value boxes = c.input(0), scores = c.input(1);
  suppression_settings s;
  s.most = most_boxes(c);
  s.threshold = Version == 1 ? c.node.attribute<float>("iou_threshold", 0.5f) : only_number(c, 3, "iou_threshold");
  if (!(s.threshold >= 0 && s.threshold <= 1))
    throw invalid_argument("iou_threshold must be in [0, 1], not " + std::to_string(s.threshold));
  if constexpr (Version >= 3) s.least_score = only_number(c, 4, "score_threshold");
  if constexpr (Version >= 5) {
    s.sigma = only_number(c, 5, "soft_nms_sigma");
    if (!(s.sigma >= 0)) throw invalid_argument("soft_nms_sigma must be 0 or more, not " + std::to_string(s.sigma));
  }
  const shape& extent = boxes.extent();
  if (extent.rank != 2) throw invalid_argument("boxes must be 2-D, not " + brackets(extent));
  if (extent[1] != 4) throw invalid_argument("boxes must have 4 columns, not " + brackets(extent));
  const float* const weights = scores_of(scores, extent[0]);
  if (boxes.type() != dtype::float32) throw unimplemented("no kernel for dtype " + dtype_name(boxes.type()));
  const float* const corners = boxes.values<float>().data();
  const selected_boxes found = select_boxes(
      c, s, weights, extent[0], [&](std::int64_t a, std::int64_t b) { return overlap_of(corners + 4 * a, corners + 4 * b); });
  const auto valid = static_cast<std::int64_t>(found.indices.size());
  const bool pads = Version >= 4 && c.node.flag("pad_to_max_output_size");
  const shape list = shapes::vector_of(pads ? s.most : valid);
  // Zeros behind the boxes that were found. The number is the graph's, so memory for them is the session's.
  tensor_value indices = filled_number(dtype::int32, list, 0);
  std::ranges::transform(found.indices, indices.values<std::int32_t>().begin(),
                         [](std::int64_t i) { return static_cast<std::int32_t>(i); });
  c.set(0, std::move(indices));
  if constexpr (Version == 4) c.set(1, integer_tensor(dtype::int32, {valid}, true));
  if constexpr (Version == 5) {
    tensor_value made = filled_number(dtype::float32, list, 0);
    std::ranges::copy(found.scores, made.values<float>().begin());
    c.set(1, std::move(made));
    c.set(2, integer_tensor(dtype::int32, {valid}, true));
  }
}
/// As the third version, with a matrix of overlaps in place of boxes.
inline void run_suppression_with_overlaps(kernel_context& c) {
  const tensor_value overlaps = c.input(0), scores = c.input(1);
  const shape& extent = overlaps.extent();
  if (extent.rank != 2) throw invalid_argument("overlaps must be 2-D, not " + brackets(extent));
  if (extent[0] != extent[1]) throw invalid_argument("overlaps must be square, not " + brackets(extent));
  const suppression_settings s{.most = most_boxes(c),
                               .threshold = only_number(c, 3, "overlap_threshold"),
                               .least_score = only_number(c, 4, "score_threshold")};
  const float* const matrix = overlaps.values<float>().data();
  const selected_boxes found = select_boxes(c, s, scores_of(scores, extent[0]), extent[0],
                                            [&](std::int64_t a, std::int64_t b) { return matrix[a * extent[0] + b]; });
  c.set(0, indices_tensor(found.indices));
}

/// For each image of a batch, the boxes of all classes that were selected, the best first, with zeros behind them.
inline void run_combined_suppression(kernel_context& c) {
  const tensor_value boxes = c.input(0), scores = c.input(1);
  const auto size = [&](int k, const std::string& name) {
    if (c.extent(k).rank != 0) throw invalid_argument(name + " must be 0-D, got shape " + brackets(c.extent(k)));
    return c.number(k);
  };
  suppression_settings s;
  s.most = size(2, "max_size_per_class");
  const std::int64_t most_of_all = size(3, "max_total_size");
  if (s.most <= 0) throw invalid_argument("max_size_per_class must be positive, not " + std::to_string(s.most));
  if (most_of_all <= 0) throw invalid_argument("max_total_size must be > 0, not " + std::to_string(most_of_all));
  s.threshold = only_number(c, 4, "iou_threshold");
  s.least_score = only_number(c, 5, "score_threshold");
  if (!(s.threshold >= 0 && s.threshold <= 1))
    throw invalid_argument("iou_threshold must be in [0, 1], not " + std::to_string(s.threshold));
  const shape &b = boxes.extent(), &of = scores.extent();
  if (b.rank != 4) throw invalid_argument("boxes must be 4-D, not " + brackets(b));
  if (of.rank != 3) throw invalid_argument("scores must be 3-D, not " + brackets(of));
  if (b[0] != of[0]) throw invalid_argument("boxes and scores must have same batch size, not " + brackets(b) + " and " + brackets(of));
  if (b[3] != 4) throw invalid_argument("boxes must have 4 columns, not " + brackets(b));
  if (of[1] != b[1]) throw invalid_argument("scores has incompatible shape " + brackets(of) + " for boxes " + brackets(b));
  const std::int64_t batch = b[0], count = b[1], of_each = b[2], classes = of[2];
  if (of_each != 1 && of_each != classes)
    throw invalid_argument("third dimension of boxes must be either 1 or num classes, not " + brackets(b) + " for scores " + brackets(of));
  const bool is_clipped = c.node.flag("clip_boxes", true);
  std::int64_t all_classes = 0;
  if (!multiplies(s.most, classes, all_classes)) all_classes = INT64_MAX;
  const std::int64_t width = c.node.flag("pad_per_class") ? std::min(most_of_all, all_classes) : most_of_all;
  tensor_value found = filled_number(dtype::float32, shape_from({batch, width, 4}), 0);
  tensor_value its_scores = filled_number(dtype::float32, shape_from({batch, width}), 0);
  tensor_value its_classes = filled_number(dtype::float32, shape_from({batch, width}), 0), valid(dtype::int32, {batch});
  struct result {
    float score;
    std::int64_t of_class;
    const float* box;
    std::size_t order;  // of equal scores the earlier one comes first
  };
  std::vector<float> weights(static_cast<std::size_t>(count));
  for (std::int64_t image = 0; image < batch; ++image) {
    std::vector<result> results;
    for (std::int64_t k = 0; k < classes; ++k) {
      c.step.check();
      for (std::int64_t i = 0; i < count; ++i)
        weights[static_cast<std::size_t>(i)] = scores.values<float>()[static_cast<std::size_t>((image * count + i) * classes + k)];
      const auto box = [&](std::int64_t i) {
        return boxes.values<float>().data() + ((image * count + i) * of_each + (of_each > 1 ? k : 0)) * 4;
      };
      const selected_boxes chosen =
          select_boxes(c, s, weights.data(), count, [&](std::int64_t a, std::int64_t other) { return overlap_of(box(a), box(other)); });
      for (std::size_t i = 0; i < chosen.indices.size(); ++i)
        results.push_back({chosen.scores[i], k, box(chosen.indices[i]), results.size()});
    }
    std::ranges::sort(results,
                      [](const result& x, const result& y) { return x.score != y.score ? x.score > y.score : x.order < y.order; });
    const auto kept = std::min(static_cast<std::int64_t>(results.size()), width);
    valid.values<std::int32_t>()[static_cast<std::size_t>(image)] = static_cast<std::int32_t>(kept);
    for (std::int64_t i = 0; i < kept; ++i) {
      const result& r = results[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(image * width + i);
      its_scores.values<float>()[at] = r.score;
      its_classes.values<float>()[at] = static_cast<float>(r.of_class);
      for (std::size_t j = 0; j < 4; ++j)
        found.values<float>()[4 * at + j] = is_clipped ? std::max(std::min(r.box[j], 1.0f), 0.0f) : r.box[j];
    }
  }
  c.set(0, std::move(found));
  c.set(1, std::move(its_scores));
  c.set(2, std::move(its_classes));
  c.set(3, std::move(valid));
}

LEAT_FILL(fill_suppression_kernels) {
  register_kernel("NonMaxSuppression", run_suppression<1>);
  register_kernel("NonMaxSuppressionV2", run_suppression<2>);
  register_kernel("NonMaxSuppressionV3", run_suppression<3>);
  register_kernel("NonMaxSuppressionV4", run_suppression<4>);
  register_kernel("NonMaxSuppressionV5", run_suppression<5>);
  register_kernel("NonMaxSuppressionWithOverlaps", run_suppression_with_overlaps);
  register_kernel("CombinedNonMaxSuppression", run_combined_suppression);
}

}  // namespace leat::runtime
