// bench_images: a convolution 3x3 of 32 images of 28x28x32 to 64 filters, and its two gradients, by a session of a graph and by oneDNN alone with
// plain layouts, in turns; on one thread and on two. Prints the minimum of each and their ratio.

#include <leat/cpu/parallel.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <dnnl.hpp>
#include <omp.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace leat;

constexpr std::int64_t batch = 32, size = 28, channels = 32, filters = 64, window = 3;

// Convolutions of oneDNN whose arrays lie in memory as TensorFlow's: images NHWC, filters HWIO.
class rival {
 public:
  rival(std::vector<float>& x, std::vector<float>& f, std::vector<float>& dy)
      : x_(in({batch, channels, size, size}, dnnl::memory::format_tag::nhwc, x)),
        f_(in({filters, channels, window, window}, dnnl::memory::format_tag::hwio, f)),
        dy_(in({batch, filters, size, size}, dnnl::memory::format_tag::nhwc, dy)),
        y_(x_like(dy_)),
        dx_(x_like(x_)),
        df_(x_like(f_)) {
    const dnnl::memory::dims one{1, 1};
    using dnnl::algorithm;
    const dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, algorithm::convolution_direct, any(x_), any(f_), any(dy_), one, one, one}, engine_);
    forward_.emplace(engine_, stream_, dnnl::convolution_forward(forward), std::vector<part>{{DNNL_ARG_SRC, x_, forward.src_desc(), false},
                                                                              {DNNL_ARG_WEIGHTS, f_, forward.weights_desc(), false},
                                                                              {DNNL_ARG_DST, y_, forward.dst_desc(), true}});
    const dnnl::convolution_backward_data::primitive_desc data({algorithm::convolution_direct, any(x_), any(f_), any(dy_), one, one, one},
                                                               engine_, forward);
    data_.emplace(engine_, stream_, dnnl::convolution_backward_data(data), std::vector<part>{{DNNL_ARG_DIFF_DST, dy_, data.diff_dst_desc(), false},
                                                                        {DNNL_ARG_WEIGHTS, f_, data.weights_desc(), false},
                                                                        {DNNL_ARG_DIFF_SRC, dx_, data.diff_src_desc(), true}});
    const dnnl::convolution_backward_weights::primitive_desc weights(
        {algorithm::convolution_direct, any(x_), any(f_), any(dy_), one, one, one}, engine_, forward);
    weights_.emplace(engine_, stream_, dnnl::convolution_backward_weights(weights),
                     std::vector<part>{{DNNL_ARG_SRC, x_, weights.src_desc(), false},
                                       {DNNL_ARG_DIFF_DST, dy_, weights.diff_dst_desc(), false},
                                       {DNNL_ARG_DIFF_WEIGHTS, df_, weights.diff_weights_desc(), true}});
  }
  void forward() { forward_->run(); }
  void to_images() { data_->run(); }
  void to_filters() { weights_->run(); }
  const float* y() const { return static_cast<const float*>(y_.get_data_handle()); }
  const float* dx() const { return static_cast<const float*>(dx_.get_data_handle()); }
  const float* df() const { return static_cast<const float*>(df_.get_data_handle()); }

 private:
  struct part {
    int argument;
    dnnl::memory ours;
    dnnl::memory::desc wanted;
    bool is_result;
  };
  // A primitive in the layouts that it wants, with the copies that these take.
  class call {
   public:
    call(const dnnl::engine& engine, dnnl::stream& stream, dnnl::primitive p, const std::vector<part>& parts) : stream_(stream), primitive_(std::move(p)) {
      for (const part& a : parts) {
        if (a.ours.get_desc() == a.wanted) {
          arguments_[a.argument] = a.ours;
          continue;
        }
        const dnnl::memory moved(a.wanted, engine);
        arguments_[a.argument] = moved;
        (a.is_result ? after_ : before_).push_back(a.is_result ? std::pair(moved, a.ours) : std::pair(a.ours, moved));
      }
    }
    void run() {
      for (auto& [from, to] : before_) dnnl::reorder(from, to).execute(stream_, from, to);
      primitive_.execute(stream_, arguments_);
      for (auto& [from, to] : after_) dnnl::reorder(from, to).execute(stream_, from, to);
      stream_.wait();
    }

   private:
    dnnl::stream& stream_;
    dnnl::primitive primitive_;
    std::unordered_map<int, dnnl::memory> arguments_;
    std::vector<std::pair<dnnl::memory, dnnl::memory>> before_, after_;
  };

  static dnnl::memory::desc any(const dnnl::memory& m) {
    return {m.get_desc().dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
  }
  dnnl::memory in(dnnl::memory::dims dims, dnnl::memory::format_tag tag, std::vector<float>& values) {
    return {{dims, dnnl::memory::data_type::f32, tag}, engine_, values.data()};
  }
  dnnl::memory x_like(const dnnl::memory& m) { return {m.get_desc(), engine_}; }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory x_, f_, dy_, y_, dx_, df_;
  std::optional<call> forward_, data_, weights_;
};

double seconds_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
void compare(const char* name, const std::function<void()>& ours, const std::function<void()>& theirs) {
  double best[2]{1e9, 1e9};
  for (int round = 0; round < 30; ++round) {
    best[0] = std::min(best[0], seconds_of(ours));
    best[1] = std::min(best[1], seconds_of(theirs));
  }
  std::printf("%-24s leat %8.3f ms   oneDNN %8.3f ms   leat / oneDNN %.2f\n", name, best[0] * 1e3, best[1] * 1e3, best[0] / best[1]);
}
void require_equal(const char* what, const tensor_value& ours, const float* theirs) {
  const auto values = ours.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::abs(values[i] - theirs[i]) > 1e-3f * (1 + std::abs(theirs[i]))) {
      std::printf("%s: element %zu is %g, oneDNN's %g\n", what, i, static_cast<double>(values[i]), static_cast<double>(theirs[i]));
      std::exit(1);
    }
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto values = [&](std::int64_t n) {
    std::vector<float> list(static_cast<std::size_t>(n));
    for (float& v : list) v = normal(random);
    return list;
  };
  auto xs = values(batch * size * size * channels), fs = values(window * window * channels * filters), slopes = values(batch * size * size * filters);
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {batch, size, size, channels}, "x");
  const auto f = placeholder(dtype::float32, {window, window, channels, filters}, "f");
  const auto dy = placeholder(dtype::float32, {batch, size, size, filters}, "dy");
  const auto y = conv2d(x, f, {1, 1, 1, 1}, padding::same);
  const auto by = gradients({y}, {x, f}, {.grad_ys = {dy}});
  graph_session s(g);
  const auto tensor = [](const std::vector<float>& list, const output& like) {
    tensor_value made(dtype::float32, like.extent());
    std::copy(list.begin(), list.end(), made.values<float>().begin());
    return made;
  };
  const tensor_value x_value = tensor(xs, x), f_value = tensor(fs, f), dy_value = tensor(slopes, dy);
  const feed_list feeds{{x, x_value}, {f, f_value}, {dy, dy_value}};
  auto forward = s.prepare({y}, {x, f});
  auto to_images = s.prepare({by[0]}, {x, f, dy});
  auto to_filters = s.prepare({by[1]}, {x, f, dy});
  for (const int threads : {1, 2}) {
    cpu::set_thread_count(threads);
    omp_set_num_threads(threads);
    std::printf("threads: %d\n", threads);
    // Made here: oneDNN divides the work when a primitive is made.
    rival other(xs, fs, slopes);
    other.forward();
    other.to_images();
    other.to_filters();
    require_equal("forward", forward(x_value, f_value)[0], other.y());
    require_equal("gradient of images", to_images(x_value, f_value, dy_value)[0], other.dx());
    require_equal("gradient of filters", to_filters(x_value, f_value, dy_value)[0], other.df());
    compare("forward", [&] { forward(x_value, f_value); }, [&] { other.forward(); });
    compare("gradient of images", [&] { to_images(x_value, f_value, dy_value); }, [&] { other.to_images(); });
    compare("gradient of filters", [&] { to_filters(x_value, f_value, dy_value); }, [&] { other.to_filters(); });
  }
}
