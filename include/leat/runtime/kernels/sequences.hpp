#pragma once
// The kernel that turns the beginnings of sequences around, each of its own length. Source: TensorFlow `ReverseSequence`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>

namespace leat::runtime {

inline void run_reverse_sequence(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  const std::int64_t batch_dim = c.node.integer("batch_dim"), seq_dim = c.node.integer("seq_dim");
  if (c.extent(1).rank != 1) throw invalid_argument("seq_lens input must be 1-dim, not " + std::to_string(c.extent(1).rank));
  if (batch_dim == seq_dim) throw invalid_argument("batch_dim == seq_dim == " + std::to_string(seq_dim));
  for (const auto& [name, axis] : {std::pair("seq_dim", seq_dim), std::pair("batch_dim", batch_dim)}) {
    if (axis < 0) throw invalid_argument("Invalid " + std::string(name) + " " + std::to_string(axis));
    if (axis >= s.rank)
      throw invalid_argument(std::string(name) + " must be < input rank ( " + std::to_string(axis) + " vs. " + std::to_string(s.rank) +
                             ")");
  }
  const auto lengths = c.numbers(1);
  const int batch = static_cast<int>(batch_dim), seq = static_cast<int>(seq_dim);
  if (c.extent(1)[0] != s[batch])
    throw invalid_argument("Length of seq_lengths != input.dims(" + std::to_string(batch) + "), (" + std::to_string(lengths.size()) +
                           " vs. " + std::to_string(s[batch]) + ")");
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    if (lengths[k] < 0) throw invalid_argument("seq_lens(" + std::to_string(k) + ") < 0");
    if (lengths[k] > s[seq])
      throw invalid_argument("seq_lens(" + std::to_string(k) + ") > input.dims(" + std::to_string(seq) + ")");
  }
  // The array as [outer, first, between, second, inner], where one of `first` and `second` is the batch and the other the sequence.
  const int first = std::min(batch, seq), second = std::max(batch, seq);
  const std::int64_t between = product(s, first + 1, second), inner = product(s, second + 1, s.rank), outer = product(s, 0, first);
  with_storage(in.type(), [&]<class T>(T) {
    tensor_value made(in.type(), s);
    const T* const from = stored<T>(in);
    T* to = stored<T>(made);
    if (made.elements() > 0)
      for (std::int64_t a = 0; a < outer; ++a)
        for (std::int64_t i = 0; i < s[first]; ++i)
          for (std::int64_t b = 0; b < between; ++b)
            for (std::int64_t j = 0; j < s[second]; ++j) {
              const std::int64_t length = lengths[static_cast<std::size_t>(batch == first ? i : j)];
              const auto turned = [&](std::int64_t k) { return k < length ? length - 1 - k : k; };
              const std::int64_t row = seq == first ? turned(i) : i, column = seq == second ? turned(j) : j;
              to = std::copy_n(from + (((a * s[first] + row) * between + b) * s[second] + column) * inner, inner, to);
            }
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_sequence_kernels) { register_kernel("ReverseSequence", counting_texts(run_reverse_sequence)); }

}  // namespace leat::runtime
