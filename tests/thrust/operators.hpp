#pragma once
// Operators on a device against the CPU. Element functions give the same bits; sums are taken in another order.

#include "compare.hpp"
#include "support/own_operators.hpp"

namespace leat_test {

template <class Device>
void check_elements() {
  const auto a = placeholder<"a", float, "rows", 1, 5>();
  const auto b = placeholder<"b", float, 4, 1>();
  const auto i = placeholder<"i", std::int32_t, "rows", 4, 5>();
  const auto c = placeholder<"c", double, 5>();
  const auto wide = cast<double>(a + b) * c + cast<double>(i);
  const auto functions = exp(a) * tanh(b) + sigmoid(a) / sqrt(abs(b) + 1_c) - log(abs(a) + 2_c);
  const auto chosen = select(i > 3_c, a * b, maximum(a, b));
  const auto truth = logical_and(a < b, equal(i, 2_c));
  const auto whole = i * i - i / 3_c;
  for (const std::size_t rows : {0U, 1U, 3U, 4000U}) {
    CAPTURE(rows);
    const auto as = filled<float>(std::array<std::size_t, 3>{rows, 1, 5}, -2, 2);
    const auto bs = filled<float>(std::array<std::size_t, 2>{4, 1}, -2, 2, 1);
    const auto is = filled<std::int32_t>(std::array<std::size_t, 3>{rows, 4, 5}, -1, 9);
    const auto cs = filled<double>(std::array<std::size_t, 1>{5}, -2, 2, 3);
    check_same<Device>("elements", 0, std::tuple{chosen, truth, whole}, a = as, b = bs, i = is);
    check_same<Device>("functions", 4e-7, std::tuple{functions}, a = as, b = bs);
    check_same<Device>("doubles", 1e-15, std::tuple{wide}, a = as, b = bs, i = is, c = cs);
  }
}

template <class Device>
void check_reductions() {
  const auto x = placeholder<"x", float, "rows", 7, "columns">();
  const auto k = placeholder<"k", std::int64_t, "rows", 7>();
  const auto sums = std::tuple{reduce_sum(x),    reduce_sum<0>(x),    reduce_sum<1>(x),
                               reduce_sum<2>(x), reduce_sum<0, 2>(x), reduce_sum_keep<1, 2>(x)};
  const auto others =
      std::tuple{reduce_mean<0, 1>(x), reduce_max<2>(x), reduce_min<0>(x), reduce_max(x), reduce_mean(square(x) * 2_c)};
  const auto centered = x - reduce_mean_keep<2>(x);
  const auto variance = std::tuple{reduce_mean<2>(square(centered)), reduce_mean_keep<0, 1>(square(centered))};
  const auto whole = std::tuple{reduce_sum(k), reduce_max<0>(k), reduce_prod<1>(k)};
  using size = std::array<std::size_t, 2>;
  for (const auto [rows, columns] :
       {size{1, 1}, size{3, 5}, size{1, 9000}, size{900, 11}, size{40, 300}, size{0, 4}, size{4, 0}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const auto xs = filled<float>(std::array<std::size_t, 3>{rows, 7, columns});
    const auto ks = filled<std::int64_t>(std::array<std::size_t, 2>{rows, 7}, -4, 5);
    const auto many = static_cast<double>(rows * 7 * columns + 10);
    check_same<Device>("sums", 3e-7 * std::sqrt(many), sums, x = xs);
    check_same<Device>("integers", 0, whole, k = ks);
    if (rows == 0 || columns == 0) continue;
    check_same<Device>("others", 3e-6, others, x = xs);
    check_same<Device>("variance", 3e-6, variance, x = xs);
  }
}

template <class Device>
void check_softmax() {
  const auto logits = placeholder<"logits", float, "rows", 10>();
  const auto classes = placeholder<"classes", std::int32_t, "rows">();
  const auto target = placeholder<"target", float, "rows", 10>();
  const auto w = variable<"w", float, 10>(random_uniform(0.5, 2.0, 3));
  const auto scaled = logits * w;
  const auto soft = std::tuple{softmax(scaled), log_softmax(scaled), softmax<0>(scaled)};
  const auto sparse = sparse_softmax_cross_entropy_with_logits(classes, scaled);
  const auto dense_loss = softmax_cross_entropy_with_logits(softmax(target), scaled);
  const auto binary = sigmoid_cross_entropy_with_logits(sigmoid(target), scaled);
  const auto losses =
      std::tuple{sparse, dense_loss, binary,
                 std::get<0>(gradients(reduce_sum(sparse) + reduce_sum(dense_loss) + reduce_sum(binary), w))};
  for (const std::size_t rows : {1U, 33U, 3000U}) {
    CAPTURE(rows);
    const auto ls = filled<float>(std::array<std::size_t, 2>{rows, 10}, -4, 4);
    const auto ts = filled<float>(std::array<std::size_t, 2>{rows, 10}, -4, 4, 9);
    const auto cs = filled<std::int32_t>(std::array{rows}, 0, 10);
    check_same<Device>("softmax", 2e-6, soft, logits = ls);
    check_same<Device>("cross entropies", 2e-5, losses, logits = ls, classes = cs, target = ts);
  }
}

template <class Device>
void check_arrays() {
  const auto x = placeholder<"x", float, "n", 6, 5>();
  const auto y = placeholder<"y", float, "n", 2, 5>();
  const auto ids = placeholder<"ids", std::int64_t, "n">();
  const auto table = variable<"table", float, 9, 5>(random_normal(0.0, 1.0, 4));
  const auto part = slice<begins<0, 1, 2>, sizes<-1, 3, 2>>(x);
  const auto joined = concat<1>(x, y, x);
  const auto turned = transpose<2, 0, 1>(x);
  const auto moved = std::tuple{part, joined, turned, reshape<"n", 30>(x), expand_dims<1>(reduce_max<2>(y))};
  const auto largest = std::tuple{argmax<1>(x), argmax<2, std::int32_t>(x), argmin<0>(y), one_hot<9>(ids)};
  const auto rows = gather(table, ids);
  const auto loss = reduce_sum(square(rows)) + reduce_sum(square(part));
  const auto looked_up = std::tuple_cat(std::tuple{rows}, gradients(loss, table, x));
  for (const std::size_t n : {1U, 8U, 700U}) {
    CAPTURE(n);
    const auto xs = filled<float>(std::array<std::size_t, 3>{n, 6, 5});
    const auto ys = filled<float>(std::array<std::size_t, 3>{n, 2, 5});
    const auto numbers = filled<std::int64_t>(std::array{n}, 0, 9);
    check_same<Device>("moved", 0, moved, x = xs, y = ys);
    check_same<Device>("positions", 0, largest, x = xs, y = ys, ids = numbers);
    check_same<Device>("looked up", 2e-5, looked_up, x = xs, ids = numbers);
  }
}

template <class Device>
void check_lookups() {
  const auto x = placeholder<"x", float, "n", 6, 5>();
  const auto ids = placeholder<"ids", std::int32_t, "k", 2>();
  const auto turned = reverse<0, 2>(x);
  const auto moved = std::tuple{turned, roll<1, 2>(x), tile<1, 2, 1>(x), index<along::all(-1), along::all(2), -1>(x)};
  const auto found = gather_nd(x, ids);
  const auto sums = scatter_nd<"n", 6, 5>(ids, found);
  const auto looked_up = std::tuple_cat(std::tuple{found, sums, gather<2>(x, constant<"columns", std::int32_t, 2>({4, 0}))},
                                        gradients(reduce_sum(square(found)) + reduce_sum(square(turned)), x));
  const auto contracted = std::tuple{einsum<"nij,nik->njk">(x, x), tensordot<2>(x, constant<0.5f, 6, 5, 2>())};
  for (const std::size_t n : {1U, 8U, 700U}) {
    CAPTURE(n);
    const auto xs = filled<float>(std::array<std::size_t, 3>{n, 6, 5});
    auto pairs = filled<std::int32_t>(std::array<std::size_t, 2>{2 * n, 2}, 0, 6);
    for (std::size_t i = 0; i < 2 * n; ++i) pairs(i, 0) = static_cast<std::int32_t>(i * 7 % n);
    check_same<Device>("moved", 0, moved, x = xs);
    check_same<Device>("looked up", 2e-5, looked_up, x = xs, ids = pairs);
    check_same<Device>("contracted", 2e-5, contracted, x = xs);
  }
}

template <class Device>
void check_products() {
  const auto a = placeholder<"a", float, "m", "k">();
  const auto b = placeholder<"b", float, "k", "n">();
  const auto i = placeholder<"i", std::int32_t, "m", 3>();
  const auto w = variable<"w", double, 4, 3>(random_normal(0.0, 1.0, 4));
  const auto product = matmul(a, b);
  const auto products = std::tuple{product, matmul<true, true>(b, a)};
  using size = std::array<std::size_t, 3>;
  for (const auto [m, k, n] : {size{1, 1, 1}, size{3, 5, 7}, size{64, 33, 20}, size{200, 100, 1}, size{2, 0, 3}}) {
    CAPTURE(m);
    const auto as = filled<float>(std::array{m, k});
    const auto bs = filled<float>(std::array{k, n}, -1, 1, 3);
    check_same<Device>("products", 1e-5, products, a = as, b = bs);
    const auto is = filled<std::int32_t>(std::array{m, std::size_t{3}}, -5, 6);
    check_same<Device>("integers", 0, std::tuple{matmul(i, transpose<1, 0>(i))}, i = is);
    check_same<Device>("doubles", 1e-13, std::tuple{matmul(cast<double>(i), transpose<1, 0>(w))}, i = is);
  }
}

template <class Device>
void check_stacks() {
  const auto a = placeholder<"a", float, "n", 1, 6, 20>();
  const auto b = variable<"b", float, 3, 20, 5>(random_normal(0.0, 1.0, 7));
  const auto product = matmul(a, b);
  const auto turned = matmul<true, true>(b, a);
  const auto [da, db] = gradients(reduce_sum(square(product)), a, b);
  const auto as = filled<float>(std::array<std::size_t, 4>{4, 1, 6, 20});
  check_same<Device>("stacks", 1e-5, std::tuple{product, turned, da, db}, a = as);
}

/// Stacks of symmetric matrices with large diagonals.
inline xt::xtensor<double, 3> symmetric_matrices(std::size_t count, std::size_t n) {
  auto made = filled<double>(std::array<std::size_t, 3>{count, n, n});
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) made(m, i, j) = made(m, j, i);
      made(m, i, i) += static_cast<double>(2 * n + i);
    }
  return made;
}
template <class Device, std::int64_t N>
void check_matrices() {
  const auto a = placeholder<"a", double, "n", N, N>();
  const auto b = placeholder<"b", double, "n", N, 2>();
  const auto l = cholesky(a);
  const auto x = solve(a, b);
  const auto [sign, logarithm] = log_determinant(a);
  const auto [q, r] = qr(b);
  const auto [values, vectors] = symmetric_eigen(a);
  const auto solutions = std::tuple{l, cholesky_solve(l, b), x, solve<true>(a, b), inverse(a), determinant(a), sign, logarithm};
  const auto parts = std::tuple{q, r, values, singular_values(b), expm(a * 0.1_c), matrix_band_part<0, 1>(a), trace(a)};
  const auto slopes = gradients(reduce_sum(square(l)) + reduce_sum(square(x)) + reduce_sum(logarithm) + reduce_sum(square(q)) +
                                    reduce_sum(square(values)) * 0.01_c,
                                a, b);
  for (const std::size_t n : {1U, 40U}) {
    CAPTURE(n);
    const auto as = symmetric_matrices(n, static_cast<std::size_t>(N));
    const auto bs = filled<double>(std::array<std::size_t, 3>{n, static_cast<std::size_t>(N), 2}, -1, 1, 3);
    check_same<Device>("solutions", 1e-11, solutions, a = as, b = bs);
    check_same<Device>("parts", 1e-11, parts, a = as, b = bs);
    check_same<Device>("slopes", 1e-10, slopes, a = as, b = bs);
  }
}

template <class Device>
void check_images() {
  const auto x = placeholder<"x", float, "batch", 7, 6, 4>();
  const auto w = variable<"w", float, 3, 2, 4, 6>(random_normal(0.0, 1.0, 4));
  const auto d = variable<"d", float, 2, 3, 6, 2>(random_normal(0.0, 1.0, 5));
  const auto g = variable<"g", float, 1, 2, 2, 4>(random_normal(0.0, 1.0, 6));  // for two groups of channels
  const auto maps = conv2d<hw{2, 1}, padding::same>(x, w);
  const auto deep = depthwise_conv2d<1, padding::same, hw{1, 2}>(max_pool<2, 1>(maps), d);
  const auto mean = avg_pool<2, 1, padding::same>(deep);
  const auto grouped = conv2d(x, g);
  const auto loss = reduce_sum(square(mean)) + reduce_sum(square(grouped));
  const auto [dx, dw, dd, dg] = gradients(loss, x, w, d, g);
  const auto [bend] = gradients(reduce_sum(square(dw)), d);
  const auto all = std::tuple{maps, mean, grouped, dx, dw, dd, dg, bend};
  for (const std::size_t n : {1u, 5u}) {
    CAPTURE(n);
    const auto xs = filled<float>(std::array{n, std::size_t{7}, std::size_t{6}, std::size_t{4}});
    check_same<Device>("images", 1e-4, all, x = xs);
  }
}

template <class Device>
void check_volumes() {
  const auto x = placeholder<"x", float, "batch", 4, 5, 6, 2>();
  const auto w = variable<"w", float, 2, 3, 2, 2, 3>(random_normal(0.0, 1.0, 4));
  const auto maps = conv3d<dhw{1, 2, 1}, padding::same, dhw{2, 1, 1}>(x, w);
  const auto largest = max_pool3d<2, 1>(maps);
  const auto mean = avg_pool3d<dhw{2, 1, 3}, 1, padding::same>(x);
  const auto [dx, dw] = gradients(reduce_sum(square(largest)) + reduce_sum(square(mean)), x, w);
  const auto [bend] = gradients(reduce_sum(square(dx)), w);
  const auto y = placeholder<"y", float, "batch", 5, 6, 2>();
  const auto d = variable<"d", float, 3, 2, 2, 3>(random_normal(0.0, 1.0, 5));
  const auto stated = std::tuple{conv2d<1, pads{1, 0, 2, 1}>(y, d), max_pool<2, 1, pads{1, 0, 1, 1}>(y)};
  for (const std::size_t n : {1u, 3u}) {
    CAPTURE(n);
    const auto xs = filled<float>(std::array<std::size_t, 5>{n, 4, 5, 6, 2});
    const auto ys = filled<float>(std::array<std::size_t, 4>{n, 5, 6, 2});
    check_same<Device>("volumes", 1e-4, std::tuple{maps, largest, mean, dx, dw, bend}, x = xs);
    check_same<Device>("stated padding", 1e-5, stated, y = ys);
  }
}

template <class Device>
void check_random() {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto logits = placeholder<"logits", float, "n", 5>();
  const auto whole = std::tuple{stateless_random_integer<std::int32_t, -5, 90, 700>(seed),
                                stateless_random_integer<std::int64_t, 0, 7, 3, 9>(seed), stateless_shuffle(logits, seed)};
  const auto normal = std::tuple{stateless_truncated_normal<float, 300>(seed), stateless_truncated_normal<double, 7>(seed)};
  const auto classes = std::tuple{stateless_multinomial<6>(logits, seed)};
  const std::vector<std::int64_t> given{-5, 7};
  const auto ls = filled<float>(std::array<std::size_t, 2>{9, 5}, -1, 1);
  check_same<Device>("whole numbers", 0, whole, seed = given, logits = ls);
  check_same<Device>("truncated", 1e-5, normal, seed = given);
  check_same<Device>("classes", 0, classes, seed = given, logits = ls);
}

template <class Device>
void check_rows() {
  const auto x = placeholder<"x", float, "n", 6, 5>();
  const auto i = placeholder<"i", std::int32_t, 6>();
  const auto d = placeholder<"d", float, "n", 5>();
  const auto [values, places] = top_k<3>(x);
  const auto rows = dynamic_stitch<9>(std::tuple(i, constant<8>()), std::tuple(reduce_sum<0>(x), reduce_max<0>(d)));
  const auto diagonals = std::tuple{matrix_diag(d), matrix_diag_part(x), matrix_set_diag(x, d), matrix_band_part<1, 2>(x), trace(x)};
  const auto [dx] = gradients(reduce_sum(square(values)) + reduce_sum(square(rows)) + reduce_sum(square(matrix_set_diag(x, d))), x);
  const auto all = std::tuple_cat(std::tuple{values, places}, diagonals);
  const std::vector<std::int32_t> at{3, 0, 7, 3, 1, 2};
  for (const std::size_t n : {1U, 40U}) {
    CAPTURE(n);
    const auto xs = filled<float>(std::array<std::size_t, 3>{n, 6, 5});
    const auto ds = filled<float>(std::array<std::size_t, 2>{n, 5});
    check_same<Device>("rows", 1e-5, all, x = xs, d = ds);
    check_same<Device>("stitched", 1e-4, std::tuple{rows, dx}, x = xs, d = ds, i = at);
  }
}

/// Operators of a program: of several results, of lists of tensors and texts, with a kernel.
template <class Device>
void check_own_operators() {
  const auto x = placeholder<"x", float, "n">();
  const auto y = placeholder<"y", float, "n">();
  const auto [radius, angle] = make_results<own::polar_op>(x, y);
  const auto blend = make<own::blend_op, join_attributes<attributes<0, 1, own::half>, text_attribute<"exp">, attributes<1, 2>>>(x, y);
  const auto most = make<own::largest_op>(x, y, radius);
  const auto [dx, dy] = gradients(reduce_sum(angle) + reduce_sum(blend) + reduce_sum(most), x, y);
  const auto xs = filled<float>(std::array<std::size_t, 1>{300}), ys = filled<float>(std::array<std::size_t, 1>{300}, -2, 2, 1);
  check_same<Device>("own", 1e-5, std::tuple{radius, angle, blend, most, dx, dy}, x = xs, y = ys);
}

template <class Device>
void check_other_images() {
  const auto x = placeholder<"x", float, "batch", 4, 6, 4>();
  const auto sized = std::tuple{resize_nearest_neighbor<7, 5>(x), resize_bilinear<3, 9, pixels::half_pixel_centers>(x),
                                local_response_normalization<1, 1.0, 0.5, 0.75>(x)};
  const auto moved =
      std::tuple{space_to_depth<2>(x), depth_to_space<2>(x), mirror_pad<mirror::reflect, before<0, 3, 1, 0>, behind<0, 0, 2, 3>>(x),
                 mirror_pad<mirror::symmetric, before<0, 4, 1, 0>, behind<0, 1, 6, 2>>(x)};
  const auto loss = std::apply([](const auto&... y) { return (reduce_sum(square(y)) + ...); }, std::tuple_cat(sized, moved));
  const auto slopes = gradients(loss, x);
  const auto y = placeholder<"y", float, 2, 4, 6>();
  const auto many =
      std::tuple{space_to_batch<sizes<2, 3>, before<0, 1>, behind<2, 2>>(y), batch_to_space<sizes<2>, before<1>, behind<2>>(y)};
  const auto ys = filled<float>(std::array<std::size_t, 3>{2, 4, 6});
  check_same<Device>("batches", 0, many, y = ys);
  for (const std::size_t n : {1u, 5u}) {
    CAPTURE(n);
    const auto xs = filled<float>(std::array<std::size_t, 4>{n, 4, 6, 4});
    check_same<Device>("moved", 0, moved, x = xs);
    check_same<Device>("sized", 1e-5, std::tuple_cat(sized, slopes), x = xs);
  }
}

}  // namespace leat_test
