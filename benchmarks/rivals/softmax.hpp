#pragma once
// The softmax of each row of a matrix [4096, 1024]: maximum, exponentials and their sum, quotient. A row stays in the
// first-level cache, so memory sees one read and one write of the matrix: a memcpy.

#include "elementary.hpp"
#include "reductions.hpp"

#include <dnnl.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace bench {

class softmax_loop {
 public:
  explicit softmax_loop(const matrix_data& data) : x_(data.x.data()), out_(data.x.size()) {}
  void reset() {}
  void step() {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < reduction_rows; ++i) row(x_ + i * reduction_columns, out_.data() + i * reduction_columns);
  }
  std::vector<float> result() const { return joined(out_); }

 private:
  static void row(const float* x, float* out) {
    lanes largest = load(x);
    for (long j = lane_count; j < reduction_columns; j += lane_count) largest = larger(largest, load(x + j));
    float top = largest[0];
    for (long k = 1; k < lane_count; ++k) top = std::max(top, largest[k]);
    lanes sum{};
    for (long j = 0; j < reduction_columns; j += lane_count) {
      const lanes values = fast_exp(load(x + j) - top);
      sum += values;
      store(out + j, values);
    }
    const float scale = 1.0f / total(sum);
#pragma omp simd
    for (long j = 0; j < reduction_columns; ++j) out[j] *= scale;
  }

  const float* x_;
  buffer out_;
};

class softmax_eigen {
 public:
  explicit softmax_eigen(const matrix_data& data) : x_(data.x.data()), out_(data.x.size()) {}
  void reset() {}
  void step() {
    const Eigen::Map<const eigen_matrix, Eigen::Aligned64> x(x_, reduction_rows, reduction_columns);
    Eigen::Map<eigen_matrix, Eigen::Aligned64> out(out_.data(), reduction_rows, reduction_columns);
    for (long i = 0; i < reduction_rows; ++i) {
      out.row(i) = (x.row(i) - x.row(i).maxCoeff()).exp();
      out.row(i) *= 1.0f / out.row(i).sum();
    }
  }
  std::vector<float> result() const { return joined(out_); }

 private:
  const float* x_;
  buffer out_;
};

/// oneDNN's softmax primitive.
class softmax_onednn {
 public:
  explicit softmax_onednn(const matrix_data& data) : out_(data.x.size()) {
    const dnnl::memory::desc shape({reduction_rows, reduction_columns}, dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::ab);
    const dnnl::softmax_forward::desc what(dnnl::prop_kind::forward_inference, shape, 1);
    primitive_ = dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(what, engine_));
    from_ = dnnl::memory(shape, engine_, const_cast<float*>(data.x.data()));
    to_ = dnnl::memory(shape, engine_, out_.data());
  }
  void reset() {}
  void step() {
    primitive_.execute(stream_, {{DNNL_ARG_SRC, from_}, {DNNL_ARG_DST, to_}});
    stream_.wait();
  }
  std::vector<float> result() const { return joined(out_); }

 private:
  buffer out_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::softmax_forward primitive_;
  dnnl::memory from_, to_;
};

/// Copying the matrix, each thread its part.
class copy_limit {
 public:
  explicit copy_limit(const matrix_data& data) : x_(data.x), out_(data.x.size()) {}
  void operator()() {
    constexpr long pieces = 16, piece = reduction_rows * reduction_columns / pieces;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < pieces; ++i)
      std::memcpy(out_.data() + i * piece, x_.data() + i * piece, static_cast<std::size_t>(piece) * sizeof(float));
  }

 private:
  const buffer& x_;
  buffer out_;
};

}  // namespace bench
