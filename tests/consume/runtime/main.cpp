// A graph session, and a compressed file where files can be read.
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#ifdef LEAT_USE_IO
#include <leat/io/inflate.hpp>
#endif

#include <cstdio>

float planned_loss();

int main() {
  using namespace leat;
  try {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {-1}, "x");
    const auto w = variable(3.0f, "w");
    const auto y = reduce_sum(square(w * x), {0}, keep_dims::no, "y");
    graph_session s(g);
    s.run(global_variables_initializer());
    if (s.run<float>(y, {{x, {1.0f, 2.0f}}}) != 45.0f) return 1;
#ifdef LEAT_USE_IO
    if (io::crc32("leat") != 0x352671afu) return 2;
#endif
#ifdef LEAT_USE_ZLIB
    constexpr std::string_view compressed("\037\213\010\000\000\000\000\000\002\003\313IM\054\001\000\257q\046\065\004\000\000\000", 24);
    if (io::gunzip(compressed) != "leat") return 2;
#endif
    const float loss = planned_loss();
    std::printf("%g\n", static_cast<double>(loss));
    return loss < 0.3f ? 0 : 3;
  } catch (const error& e) {
    std::printf("%s\n", e.what());
    return 4;
  }
}
