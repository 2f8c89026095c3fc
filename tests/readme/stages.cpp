// What the compiler makes of the linear regression of README.md, stage by stage, as docs/architecture.md shows it. The
// functions that print it here, at run time, are those that make it in constant evaluation.

// [listing stages_includes]
#include <leat/leat.hpp>

#include <cstdio>
#include <string>
#include <vector>
// [end]

#include <array>
#include <xtensor/xfixed.hpp>

using namespace leat;
using namespace leat::instructions;

namespace {

std::string text(const auto& view) { return std::string(view); }

void print_graph(const char* title, const graph& g) {
  std::printf("%s\n", title);
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g.at(i);
    std::string line = "  %";
    line += std::to_string(i);
    line.resize(7, ' ');
    line += text(n.op->type);
    for (int k = 0; k < n.input_count; ++k) line.append(" %").append(std::to_string(g.input(n, k)));
    for (int k = 0; k < n.control_count; ++k) line.append(" ^").append(std::to_string(g.control(n, k)));
    if (!n.name.empty()) line.append(" \"").append(n.name).append("\"");
    line.resize(34, ' ');
    line += n.op->kind == op_kind::group ? "nothing" : text(describe(n.result, g).view());
    std::printf("%s\n", line.c_str());
  }
}

class program_printer {
 public:
  program_printer(const graph& g, const program& p) : g_(g), p_(p) {}

  void print() const {
    std::printf("program\n");
    for (const program_step& s : p_.steps) {
      std::string line = s.is_cluster ? "  cluster" : "  ";
      if (!s.is_cluster) line += operator_name(s.code);
      for (const step_operand& o : s.operands) line.append("  ").append(buffer(o.buffer));
      std::printf("%s\n", line.c_str());
      if (s.is_cluster) print_cluster(s);
    }
  }

 private:
  std::string operator_name(std::int64_t code) const {
    for (const node& n : g_.nodes)
      if (n.op->code == code) return text(n.op->type);
    return code == info_of<passes::matmul_update_op>.code ? "MatMulUpdate" : "?";
  }
  std::string buffer(int b) const {
    const program_buffer& its = p_.buffers[static_cast<std::size_t>(b)];
    if (its.where == storage::extent) return "size";
    for (const node& n : g_.nodes)
      if (n.id != 0 && n.id == its.id) return n.name.empty() ? "number" : text(n.name);
    std::string name = its.where == storage::fetch ? "fetch" : "t";
    return name += std::to_string(b);
  }
  static std::string reg(std::int64_t kind, std::int64_t number) {
    std::string name = register_is_scalar(kind) ? "s" : "r";
    return name += std::to_string(number);
  }
  static std::string accumulator(std::int64_t a) {
    std::string name = "a";
    return name += std::to_string(a);
  }
  void print_cluster(const program_step& s) const {
    const auto phases = 3 + 2 * static_cast<std::size_t>(s.instructions[stages]);
    std::size_t at = phase_lengths + phases + 3 * static_cast<std::size_t>(s.instructions[accumulating_total]);
    for (; at < s.instructions.size(); at += words_per_instruction) {
      const std::int64_t* word = s.instructions.data() + at;
      const signature kinds = unpack_signature(word[5]);
      const auto operand = [&](std::int64_t k) { return buffer(s.operands[static_cast<std::size_t>(k)].buffer); };
      std::string line = "      ";
      switch (word[0]) {
        case load: line.append(reg(kinds.d, word[1])).append(" = load ").append(operand(word[2])); break;
        case store: line.append("store ").append(operand(word[1])).append(" = ").append(reg(kinds.x, word[2])); break;
        case immediate: line.append(reg(kinds.d, word[1])).append(" = immediate"); break;
        case reduce_lanes:
          line.append(accumulator(word[1])).append(" = ").append(operator_name(word[3]));
          line.append(" over lanes of ").append(reg(kinds.x, word[2]));
          break;
        case finish_all:
          line.append("store ").append(operand(word[1])).append(" = all of ").append(accumulator(word[2]));
          break;
        default:
          line.append(reg(kinds.d, word[1])).append(" = ").append(operator_name(word[0]));
          const std::int64_t operands[]{kinds.x, kinds.y, kinds.z};
          for (int k = 0; k < 3 && operands[k] >= 0; ++k) line.append(" ").append(reg(operands[k], word[2 + k]));
      }
      std::printf("%s\n", line.c_str());
    }
  }

  const graph& g_;
  const program& p_;
};

// Arrays in expressions; they need none of the above.
float with_arrays() {
  const std::vector<double> weights{0.5, 0.25};
  // [listing arrays]
  const std::array<std::array<float, 2>, 3> start{{{1, 2}, {3, 4}, {5, 6}}};
  auto inputs = placeholder<"inputs", float, "batch", 3>();
  auto kernel = variable<"kernel">(start);                    // float32 [3, 2], as the type of the array says
  auto scale = constant<"scale", float, 2>(weights);          // of a vector, a span, an xtensor
  auto shift = constant(xt::xtensor_fixed<float, xt::xshape<2>>{10, 20});
  auto bias = untrainable_variable<"bias", float, 2>({3, 4});  // of a list
  auto result = matmul(inputs, kernel) * scale + shift + bias;
  // [end]
  session s{result};
  s.initialize();
  const xt::xtensor<float, 2> one({1, 3}, 1.0f);
  return std::get<0>(s.run(fetch(result), inputs = one))(0, 1);
}

}  // namespace

int main() {
  if (with_arrays() != 12 * 0.25f + 24) return 1;
  auto x = placeholder<"x", float, "batch", 10>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 10, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(0.1f).minimize(loss);

  // [listing stages]
  graph g;
  std::vector<int> targets{flatten<decltype(loss)>(g), flatten<decltype(train)>(g)};
  const program p = passes::compile(g, targets);
  // [end]
  print_graph("graph", g);
  program_printer(g, p).print();
}
