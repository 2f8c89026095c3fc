// Images from the bytes of their files and back, in graphs: pixels and errors are those of TensorFlow 2.21.

#include <leat/core/memory.hpp>
#include <leat/data/kernels.hpp>
#include <leat/graphs.hpp>
#include <leat/io/inflate.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace leat;
using namespace std::string_literals;

namespace {

using bytes = std::vector<std::uint8_t>;

std::string from_hex(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) made += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return made;
}
shape shape_of_list(const std::vector<std::int64_t>& list) {
  shape s;
  for (const auto n : list) s.push(n);
  return s;
}
tensor_value run_on(const char* type, const tensor_value& in, const attribute_map& settings = {}) {
  graph g;
  const auto scope = g.as_default();
  const output place = placeholder(in.type(), in.extent());
  const output y = call_operator(g, type, {place}, settings).result();
  graph_session s(g);
  tensor_value got = s.run({y}, {{place, in}})[0];
  CHECK(may_equal(y.extent(), got.extent()));
  return got;
}
tensor_value decode(const char* type, const std::string& file, const attribute_map& settings = {}) {
  return run_on(type, tensor_value(file), settings);
}
/// A window, `y, x, height, width`, of a JPEG file.
tensor_value crop(const std::string& file, const std::vector<std::int32_t>& window, const attribute_map& settings = {}) {
  graph g;
  const auto scope = g.as_default();
  const output place = placeholder(text_dtype, {});
  const number_argument at = tensor_literal(shape(1, {static_cast<std::int64_t>(window.size())}), window);
  const output y = call_operator(g, "DecodeAndCropJpeg", {place, at}, settings).result();
  tensor_value got = graph_session(g).run({y}, {{place, tensor_value(file)}})[0];
  CHECK(may_equal(y.extent(), got.extent()));
  return got;
}
template <class F>
bool refuses_image(F f, std::string_view words) {
  return leat_test::says(leat_test::message_of<error>(f), words);
}
std::string number(std::uint64_t v, int size) {  // little-endian
  std::string made;
  for (int i = 0; i < size; ++i) made += static_cast<char>(v >> (8 * i) & 0xff);
  return made;
}
std::string bmp(std::uint32_t width, std::uint32_t height, std::uint32_t bits, const std::string& pixels) {
  return "BM" + number(0, 8) + number(54, 4) + number(40, 4) + number(width, 4) + number(height, 4) + number(1, 2) + number(bits, 2) +
         std::string(24, '\0') + pixels;
}

struct png_pixels {
  int channels;
  std::vector<std::int64_t> extent;
  bytes pixels;
};
struct png_case {
  const char* file;
  std::vector<png_pixels> by_channels;
};
const std::vector<png_case>& pngs() {
  static const std::vector<png_case> list{
      {"89504e470d0a1a0a0000000d494844520000000200000002080000000057dd52f80000000e49444154789c63606462faf71f0003140203e21f9a8d00"
       "00000049454e44ae426082",
       {{0, {2, 2, 1}, {1, 2, 255, 1}},
        {1, {2, 2, 1}, {1, 2, 255, 1}},
        {3, {2, 2, 3}, {1, 1, 1, 2, 2, 2, 255, 255, 255, 1, 1, 1}},
        {4, {2, 2, 4}, {1, 1, 1, 255, 2, 2, 2, 255, 255, 255, 255, 255, 1, 1, 1, 255}}}},
      {"89504e470d0a1a0a0000000d49484452000000020000000108020000007b40e8dd0000000f49444154789c63606462fe95620400040b0197dcd07818"
       "0000000049454e44ae426082",
       {{0, {1, 2, 3}, {1, 2, 3, 250, 100, 50}},
        {1, {1, 2, 1}, {1, 139}},
        {3, {1, 2, 3}, {1, 2, 3, 250, 100, 50}},
        {4, {1, 2, 4}, {1, 2, 3, 255, 250, 100, 50, 255}}}},
      {"89504e470d0a1a0a0000000d4948445200000002000000010806000000f4227f8a0000001149444154789c636464626ef89562c4000008320218ca5f"
       "bbd20000000049454e44ae426082",
       {{0, {1, 2, 4}, {1, 2, 3, 128, 251, 102, 53, 128}},
        {1, {1, 2, 1}, {1, 140}},
        {3, {1, 2, 3}, {1, 2, 3, 251, 102, 53}},
        {4, {1, 2, 4}, {1, 2, 3, 128, 251, 102, 53, 128}}}},
      {"89504e470d0a1a0a0000000d49484452000000020000000108040000005e2bb7010000000d49444154789c63e06a38c10000033d01531571ec290000"
       "000049454e44ae426082",
       {{0, {1, 2, 2}, {10, 128, 200, 0}},
        {1, {1, 2, 1}, {10, 200}},
        {3, {1, 2, 3}, {10, 10, 10, 200, 200, 200}},
        {4, {1, 2, 4}, {10, 10, 10, 128, 200, 200, 200, 0}}}},
      {"89504e470d0a1a0a0000000d4948445200000003000000010203000000668efc2700000009504c5445010203040506070809258556f00000000a4944"
       "4154789c63900000001a00192d88f4360000000049454e44ae426082",
       {{0, {1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
        {1, {1, 3, 1}, {1, 4, 7}},
        {3, {1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
        {4, {1, 3, 4}, {1, 2, 3, 3, 4, 5, 6, 3, 7, 8, 9, 3}}}},
      {"89504e470d0a1a0a0000000d4948445200000003000000010203000000668efc2700000009504c5445010203040506070809258556f0000000027452"
       "4e5300809b2b4e180000000a49444154789c63900000001a00192d88f4360000000049454e44ae426082",
       {{0, {1, 3, 4}, {1, 2, 3, 0, 4, 5, 6, 128, 7, 8, 9, 255}},
        {1, {1, 3, 1}, {1, 4, 7}},
        {3, {1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
        {4, {1, 3, 4}, {1, 2, 3, 0, 4, 5, 6, 128, 7, 8, 9, 255}}}},
      {"89504e470d0a1a0a0000000d494844520000000a000000010100000000cf8e02d30000000b49444154789c63d87c000002290174bb67be8400000000"
       "49454e44ae426082",
       {{0, {1, 10, 1}, {255, 0, 255, 255, 0, 0, 255, 255, 255, 255}},
        {1, {1, 10, 1}, {255, 0, 255, 255, 0, 0, 255, 255, 255, 255}},
        {3, {1, 10, 3}, {255, 255, 255, 0,   0,   0,   255, 255, 255, 255, 255, 255, 0,   0,   0,
                         0,   0,   0,   255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}},
        {4, {1, 10, 4}, {255, 255, 255, 1, 0,   0,   0,   1, 255, 255, 255, 1, 255, 255, 255, 1, 0,   0,   0,   1,
                         0,   0,   0,   1, 255, 255, 255, 1, 255, 255, 255, 1, 255, 255, 255, 1, 255, 255, 255, 1}}}},
      {"89504e470d0a1a0a0000000d494844520000000200000001040000000014b9cd570000000a49444154789c63b00700004100408d6ed5130000000049"
       "454e44ae426082",
       {{0, {1, 2, 1}, {51, 255}},
        {1, {1, 2, 1}, {51, 255}},
        {3, {1, 2, 3}, {51, 51, 51, 255, 255, 255}},
        {4, {1, 2, 4}, {51, 51, 51, 15, 255, 255, 255, 15}}}},
      {"89504e470d0a1a0a0000000d4948445200000001000000011002000000c0e78f9d0000000f49444154789c636064626661650300003f001621bad454"
       "0000000049454e44ae426082",
       {{0, {1, 1, 3}, {1, 3, 5}}, {1, {1, 1, 1}, {2}}, {3, {1, 1, 3}, {1, 3, 5}}, {4, {1, 1, 4}, {1, 3, 5, 255}}}},
      {"89504e470d0a1a0a0000000d4948445200000002000000010800000000d14920560000000274524e53000506f939b70000000b49444154789c636065"
       "03000013000c0e96b8a70000000049454e44ae426082",
       {{0, {1, 2, 1}, {5, 6}}, {1, {1, 2, 1}, {5, 6}}, {3, {1, 2, 3}, {5, 5, 5, 6, 6, 6}}, {4, {1, 2, 4}, {5, 5, 5, 0, 6, 6, 6, 255}}}},
      {"89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000674524e530005000600073caf61f00000000c4944415478"
       "9c636065630700002600135a6affd20000000049454e44ae426082",
       {{0, {1, 1, 3}, {5, 6, 7}}, {1, {1, 1, 1}, {5}}, {3, {1, 1, 3}, {5, 6, 7}}, {4, {1, 1, 4}, {5, 6, 7, 0}}}},
      {"89504e470d0a1a0a0000000d4948445200000005000000030800000001095aaab20000001e49444154789c637462fac4a2c8c2f6a185a53c89f9f369"
       "c632dfe3ec0a004b07072b118ec1460000000049454e44ae426082",
       {{0, {3, 5, 1}, {66, 119, 33, 217, 242, 118, 195, 138, 145, 177, 6, 46, 246, 78, 122}},
        {1, {3, 5, 1}, {66, 119, 33, 217, 242, 118, 195, 138, 145, 177, 6, 46, 246, 78, 122}},
        {3, {3, 5, 3}, {66,  66,  66,  119, 119, 119, 33,  33, 33, 217, 217, 217, 242, 242, 242, 118, 118, 118, 195, 195, 195, 138, 138,
                        138, 145, 145, 145, 177, 177, 177, 6,  6,  6,   46,  46,  46,  246, 246, 246, 78,  78,  78,  122, 122, 122}},
        {4, {3, 5, 4}, {66,  66,  66,  255, 119, 119, 119, 255, 33,  33,  33,  255, 217, 217, 217, 255, 242, 242, 242, 255,
                        118, 118, 118, 255, 195, 195, 195, 255, 138, 138, 138, 255, 145, 145, 145, 255, 177, 177, 177, 255,
                        6,   6,   6,   255, 46,  46,  46,  255, 246, 246, 246, 255, 78,  78,  78,  255, 122, 122, 122, 255}}}},
      {"89504e470d0a1a0a0000000d4948445200000003000000030802000000d94a22e80000002949444154789c011e00e1ff01159a0f89f2c6dacae301bb"
       "311245fd6f84df9a03c5b3d076ac0e8f53a7e3f00f395e46f0e80000000049454e44ae426082",
       {{0, {3, 3, 3}, {21,  154, 15, 158, 140, 213, 120, 86,  184, 187, 49, 18,  0, 46,
                        129, 132, 13, 27,  34,  203, 217, 135, 40,  187, 20, 109, 18}},
        {1, {3, 3, 1}, {98, 153, 107, 86, 41, 50, 154, 85, 72}},
        {3, {3, 3, 3}, {21,  154, 15, 158, 140, 213, 120, 86,  184, 187, 49, 18,  0, 46,
                        129, 132, 13, 27,  34,  203, 217, 135, 40,  187, 20, 109, 18}},
        {4, {3, 3, 4}, {21,  154, 15,  255, 158, 140, 213, 255, 120, 86,  184, 255, 187, 49,  18, 255, 0,  46,
                        129, 255, 132, 13,  27,  255, 34,  203, 217, 255, 135, 40,  187, 255, 20, 109, 18, 255}}}},
  };
  return list;
}
const std::string gray = from_hex(pngs()[0].file);
const std::string animated = from_hex(
    "47494638396103000200810000356c88913f20f6f72db022d22c0000000003000200000204cc1220050021f90401000001002c010000000200010081"
    "8e78129e0327371065d095860202440a002c000000000300020040020454320105003b");

}  // namespace

#if defined(LEAT_USE_ZLIB)
TEST_CASE("PNG: each kind of pixels, as many channels as asked for") {
  for (const png_case& p : pngs())
    for (const png_pixels& wanted : p.by_channels) {
      INFO(p.file, " ", wanted.channels);
      const tensor_value got = decode("DecodePng", from_hex(p.file), {{"channels", wanted.channels}});
      CHECK(got.extent() == shape_of_list(wanted.extent));
      CHECK(got.as<bytes>() == wanted.pixels);
    }
  CHECK(decode("DecodePng", gray + "xx").as<bytes>() == bytes{1, 2, 255, 1});
  CHECK(decode("DecodeJpeg", gray, {{"channels", 3}}).extent() == shape(3, {2, 2, 3}));
  CHECK(decode("DecodeImage", gray, {{"channels", 1}}).as<bytes>() == bytes{1, 2, 255, 1});
  const auto fractions = decode("DecodeImage", gray, {{"dtype", dtype::float32}}).as<std::vector<float>>();
  CHECK(fractions[0] == doctest::Approx(1 / 255.0));
  CHECK(fractions[2] == 1.0f);
}

TEST_CASE("PNG: what is written is read") {
  bytes pixels(2 * 3 * 4 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  tensor_value images(shape(4, {2, 3, 4, 3}), pixels);
  const tensor_value files = run_on("EncodePng", images, {{"compression", 9}});
  REQUIRE(files.extent() == shape(1, {2}));
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(decode("DecodePng", files.texts()[k]).as<bytes>() ==
          bytes(pixels.begin() + static_cast<std::ptrdiff_t>(k * 36), pixels.begin() + static_cast<std::ptrdiff_t>(k * 36 + 36)));
  CHECK(refuses_image([&] { run_on("EncodePng", images, {{"compression", 10}}); }, "compression should be in [-1,9], got 10"));
  CHECK(refuses_image(
      [&] {
        run_on("EncodePng", tensor_value(shape(3, {1, 1, 5}), bytes(5)));
      },
      "image must have 1, 2, 3, or 4 channels, got 5"));
  CHECK(refuses_image([&] { run_on("EncodePng", tensor_value(shape(2, {1, 5}), bytes(5))); }, "at least rank 3"));
  CHECK_THROWS_AS(run_on("EncodePng", tensor_value(shape(3, {0, 2, 3}), bytes{})), error);
  CHECK(run_on("EncodePng", tensor_value(shape(4, {0, 2, 2, 3}), bytes{})).elements() == 0);
}

TEST_CASE("PNG: numbers of 16 bits") {
  struct wide_pixels_of {
    std::int64_t channels;
    std::vector<std::int64_t> extent;
    std::vector<std::uint16_t> numbers;
  };
  struct wide_case {
    const char* file;
    std::vector<wide_pixels_of> by_channels;
  };
  const std::vector<wide_case> list{
      {"89504e470d0a1a0a0000000d4948445200000003000000021000000000e88fe5850000001649444154789c63f8a2daf05abf8741c4a3eeff"
       "e14e002bc7066584bc97ae0000000049454e44ae426082",
       {{0, {2, 3, 1}, {62501, 33003, 12172, 5192, 32511, 50057}}, {1, {2, 3, 1}, {62501, 33003, 12172, 5192, 32511, 50057}},
        {3, {2, 3, 3}, {62501, 62501, 62501, 33003, 33003, 33003, 12172, 12172, 12172, 5192, 5192, 5192, 32511, 32511, 32511,
        50057, 50057, 50057}}, {4, {2, 3, 4}, {62501, 62501, 62501, 65535, 33003, 33003, 33003, 65535, 12172, 12172, 12172,
        65535, 5192, 5192, 5192, 65535, 32511, 32511, 32511, 65535, 50057, 50057, 50057, 65535}}}},
      {"89504e470d0a1a0a0000000d494844520000000300000002100200000042862d0e0000003149444154789c012600d9ff00bfcc1e47aaed79"
       "fc8d867d19e4b2d51454fe00b1658b92c9d4fb8b20fc4dea929cdf9d598e967f15b1e47d7a700000000049454e44ae426082",
       {{0, {2, 3, 3}, {49100, 7751, 43757, 31228, 36230, 32025, 58546, 54548, 21758, 45413, 35730, 51668, 64395, 8444, 19946,
        37532, 57245, 22926}}, {1, {2, 3, 1}, {24220, 34255, 52004, 40443, 26484, 47437}}, {3, {2, 3, 3}, {49100, 7751, 43757,
        31228, 36230, 32025, 58546, 54548, 21758, 45413, 35730, 51668, 64395, 8444, 19946, 37532, 57245, 22926}}, {4, {2, 3,
        4}, {49100, 7751, 43757, 65535, 31228, 36230, 32025, 65535, 58546, 54548, 21758, 65535, 45413, 35730, 51668, 65535,
        64395, 8444, 19946, 65535, 37532, 57245, 22926, 65535}}}},
      {"89504e470d0a1a0a0000000d494844520000000300000002100400000067ed72d20000002349444154789c63e062fcdef0d1e6c7c5528e47"
       "3718ea7a671533aeef7ff5a972e70900a76f0ddd23ff47170000000049454e44ae426082",
       {{0, {2, 3, 2}, {2561, 63360, 61756, 63697, 29960, 58072, 32397, 39539, 431, 36842, 62073, 47560}}, {1, {2, 3, 1},
        {2561, 61756, 29960, 32397, 431, 62073}}, {3, {2, 3, 3}, {2561, 2561, 2561, 61756, 61756, 61756, 29960, 29960, 29960,
        32397, 32397, 32397, 431, 431, 431, 62073, 62073, 62073}}, {4, {2, 3, 4}, {2561, 2561, 2561, 63360, 61756, 61756,
        61756, 63697, 29960, 29960, 29960, 58072, 32397, 32397, 32397, 39539, 431, 431, 431, 36842, 62073, 62073, 62073,
        47560}}}},
      {"89504e470d0a1a0a0000000d4948445200000003000000021006000000cde4ba590000003b49444154789c6368f3f1916237510de8ca2d2e"
       "2ed5ccbdc4c09fe370e2888124836efebd47a6d7d5db59a5fecd54cb6011dbceb9efb0f773973a00b30b12dc9a2c383b0000000049454e44"
       "ae426082",
       {{0, {2, 3, 4}, {34380, 19482, 1844, 9552, 35437, 29555, 29993, 28114, 15, 27712, 51396, 12313, 11631, 57058, 13783,
        10119, 1306, 65177, 9832, 1046, 46857, 48835, 19431, 17534}}, {1, {2, 3, 1}, {21925, 31364, 22132, 38541, 39769,
        44890}}, {3, {2, 3, 3}, {34380, 19482, 1844, 35437, 29555, 29993, 15, 27712, 51396, 11631, 57058, 13783, 1306, 65177,
        9832, 46857, 48835, 19431}}, {4, {2, 3, 4}, {34380, 19482, 1844, 9552, 35437, 29555, 29993, 28114, 15, 27712, 51396,
        12313, 11631, 57058, 13783, 10119, 1306, 65177, 9832, 1046, 46857, 48835, 19431, 17534}}}},
      {"89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc150000000274524e5304d27a22bbc40000000d4944415478"
       "9c6360b9c4e00b0002d80124acc3ca8b0000000049454e44ae426082",
       {{0, {1, 2, 1}, {1234, 77}}, {1, {1, 2, 1}, {1234, 77}}, {3, {1, 2, 3}, {1234, 1234, 1234, 77, 77, 77}}, {4, {1, 2, 4},
        {1234, 1234, 1234, 0, 77, 77, 77, 65535}}}},
      {"89504e470d0a1a0a0000000d494844520000000400000001020000000096e748b00000000a49444154789c63900600001d001c8ef4f52100"
       "00000049454e44ae426082",
       {{0, {1, 4, 1}, {0, 21845, 43690, 65535}}, {1, {1, 4, 1}, {0, 21845, 43690, 65535}}, {3, {1, 4, 3}, {0, 0, 0, 21845,
        21845, 21845, 43690, 43690, 43690, 65535, 65535, 65535}}, {4, {1, 4, 4}, {0, 0, 0, 771, 21845, 21845, 21845, 771,
        43690, 43690, 43690, 771, 65535, 65535, 65535, 771}}}},
      {"89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a0000002349444154789c6310af4d99bdd432785987c222"
       "2e06f1fef7e192c73fc778edd35b000082f60ab0e4d118250000000049454e44ae426082",
       {{0, {2, 3, 4}, {5911, 32125, 25700, 39835, 42405, 14649, 21331, 42662, 34952, 8224, 41634, 2570, 5911, 36751, 61423,
        22359, 6425, 51143, 62451, 23644, 19018, 48830, 11822, 41120}}, {1, {2, 3, 1}, {23387, 23644, 19789, 30326, 38807,
        35466}}, {3, {2, 3, 3}, {5911, 32125, 25700, 42405, 14649, 21331, 34952, 8224, 41634, 5911, 36751, 61423, 6425, 51143,
        62451, 19018, 48830, 11822}}, {4, {2, 3, 4}, {5911, 32125, 25700, 39835, 42405, 14649, 21331, 42662, 34952, 8224,
        41634, 2570, 5911, 36751, 61423, 22359, 6425, 51143, 62451, 23644, 19018, 48830, 11822, 41120}}}},
      {"89504e470d0a1a0a0000000d49484452000000040000000102030000008452e75e00000009504c54450a141ec86432070707c61cd3830000"
       "000a49444154789c63900000001a00192d88f4360000000049454e44ae426082",
       {{0, {1, 4, 3}, {2570, 5140, 7710, 51400, 25700, 12850, 1799, 1799, 1799, 2570, 5140, 7710}}, {1, {1, 4, 1}, {4626,
        31868, 1799, 4626}}, {3, {1, 4, 3}, {2570, 5140, 7710, 51400, 25700, 12850, 1799, 1799, 1799, 2570, 5140, 7710}}, {4,
        {1, 4, 4}, {2570, 5140, 7710, 771, 51400, 25700, 12850, 771, 1799, 1799, 1799, 771, 2570, 5140, 7710, 771}}}},
      {"89504e470d0a1a0a0000000d49484452000000040000000102030000008452e75e00000009504c54450a141ec86432070707c61cd3830000"
       "000274524e5300809b2b4e180000000a49444154789c63900000001a00192d88f4360000000049454e44ae426082",
       {{0, {1, 4, 4}, {2570, 5140, 7710, 0, 51400, 25700, 12850, 32896, 1799, 1799, 1799, 65535, 2570, 5140, 7710, 0}}, {1,
        {1, 4, 1}, {4626, 31868, 1799, 4626}}, {3, {1, 4, 3}, {2570, 5140, 7710, 51400, 25700, 12850, 1799, 1799, 1799, 2570,
        5140, 7710}}, {4, {1, 4, 4}, {2570, 5140, 7710, 0, 51400, 25700, 12850, 32896, 1799, 1799, 1799, 65535, 2570, 5140,
        7710, 0}}}},
  };
  const auto uint16 = data_type::uint16;
  const auto numbers_of = [&](const tensor_value& v) {
    CHECK(to_data_type(v.type()) == data_type::uint16);
    const tensor_value wide = v.widened();
    std::vector<std::uint16_t> numbers;
    for (const std::int32_t x : wide.values<std::int32_t>()) numbers.push_back(static_cast<std::uint16_t>(x));
    return numbers;
  };
  for (const wide_case& one : list)
    for (const wide_pixels_of& wanted : one.by_channels) {
      CAPTURE(one.file);
      CAPTURE(wanted.channels);
      const std::string file = from_hex(one.file);
      const tensor_value got = decode("DecodePng", file, {{"channels", wanted.channels}, {"dtype", uint16}});
      CHECK(got.extent() == shape_of_list(wanted.extent));
      CHECK(numbers_of(got) == wanted.numbers);
      CHECK(numbers_of(decode("DecodeImage", file, {{"channels", wanted.channels}, {"dtype", uint16}})) == wanted.numbers);
      const tensor_value reals = decode("DecodeImage", file, {{"channels", wanted.channels}, {"dtype", dtype::float32}});
      for (std::size_t k = 0; k < wanted.numbers.size(); ++k)
        CHECK(reals.values<float>()[k] == static_cast<float>(wanted.numbers[k]) * (1 / 65535.0f));
      const std::string again = run_on("EncodePng", got, {{"T", uint16}}).as<std::string>();
      CHECK(numbers_of(decode("DecodePng", again, {{"dtype", uint16}})) == wanted.numbers);
    }
  CHECK(refuses_image([] { decode("DecodePng", from_hex(pngs()[0].file), {{"dtype", dtype::int32}}); }, "uint8 and uint16 are known"));
}

TEST_CASE("images: which operators read which files, as TensorFlow's do") {
  const std::string png = from_hex(pngs()[0].file);
  const std::string gif = from_hex("47494638396101000100800000ff0000ffffff2c00000000010001000002024401003b");
  const std::string its_bmp = bmp(2, 1, 24, std::string("\1\2\3\4\5\6\0\0", 8));
  const auto extent_of = [](const char* type, const std::string& file, const attribute_map& settings = {}) {
    return brackets(decode(type, file, settings).extent());
  };
  CHECK(extent_of("DecodePng", gif) == "[1,1,3]");
  CHECK(extent_of("DecodeJpeg", gif) == "[1,1,3]");
  CHECK(extent_of("DecodeJpeg", png) == "[2,2,1]");
  CHECK(extent_of("DecodeGif", png) == "[1,2,2,3]");
  CHECK(extent_of("DecodeGif", gif) == "[1,1,1,3]");
  CHECK(decode("DecodePng", gif, {{"dtype", data_type::uint16}}).widened().values<std::int32_t>()[0] == 255 * 256);
  CHECK(decode("DecodeImage", its_bmp, {{"dtype", data_type::uint16}}).widened().values<std::int32_t>()[0] == 3 * 256);
  CHECK(decode("DecodeImage", its_bmp, {{"dtype", dtype::float32}}).values<float>()[0] == 3 * (1 / 255.0f));
  const auto refuses = [](const char* type, const std::string& file, std::string_view words, const attribute_map& settings = {}) {
    return refuses_image([&] { decode(type, file, settings); }, words);
  };
  CHECK(refuses("DecodeBmp", png, "Trying to decode PNG format using DecodeBmp op. Use `decode_png` or `decode_image` instead."));
  CHECK(refuses("DecodeBmp", gif, "Trying to decode GIF format using DecodeBmp op. Use `decode_gif` or `decode_image` instead."));
  CHECK(refuses("DecodeGif", its_bmp, "Use `decode_bmp` or `decode_image` instead. Op used: DecodeGif"));
  CHECK(refuses("DecodePng", gif, "channels must be 0 or 3 for GIF, got 1", {{"channels", 1}}));
}

TEST_CASE("PNG: damaged files") {
  const auto says = [](const std::string& file, std::string_view words) { CHECK(refuses_image([&] { decode("DecodePng", file); }, words)); };
  const auto changed = [](std::size_t at) {
    std::string file = gray;
    file[at] = static_cast<char>(file[at] ^ 1);
    return file;
  };
  says("", "Input is empty.");
  says("hello", "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.");
  says(gray.substr(0, gray.size() - 20), "Invalid PNG data, size " + std::to_string(gray.size() - 20));
  says(gray.substr(0, gray.size() - 12), "Invalid PNG data, size " + std::to_string(gray.size() - 12));
  says(changed(20), "Invalid PNG. Failed to initialize decoder.");
  says(changed(gray.size() - 20), "Invalid PNG data, size " + std::to_string(gray.size()));
  for (std::size_t length = 8; length < gray.size(); ++length) CHECK_THROWS_AS(decode("DecodePng", gray.substr(0, length)), error);
  // 2^31 - 1 pixels in each direction; 20,000, for which the file is too short
  says(from_hex("89504e470d0a1a0a0000000d494844527fffffff7fffffff0802000000bdd5c5a1"), "Invalid PNG");
  for (const int channels : {2, 5, -1})
    CHECK(refuses_image(
        [&] {
          decode("DecodePng", gray, {{"channels", channels}});
        },
        "`channels` must be 0, 1, 3 or 4 but got " + std::to_string(channels)));
  CHECK(refuses_image([&] { run_on("DecodePng", tensor_value(std::vector<std::string>{gray})); }, "must be"));
  says(bmp(1, 1, 24, "abcd"),
       "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: DecodePng");
}

TEST_CASE("PNG: files that are odd, or damaged where it does not matter") {
  const auto chunk = [](std::string_view type, const std::string& data) {
    const auto big_endian = [](std::uint32_t v) {
      return std::string{static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
    };
    const std::string checked = std::string(type) + data;
    return big_endian(static_cast<std::uint32_t>(data.size())) + checked + big_endian(io::crc32(checked));
  };
  const auto file = [&](const char* head, const std::string& chunks) {
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", from_hex(head)) + chunks + chunk("IEND", {});
  };
  const auto pixels = [](const std::string& of) { return decode("DecodePng", of).as<bytes>(); };
  const auto refuses = [](const std::string& of) { return refuses_image([&] { decode("DecodePng", of); }, "Invalid PNG"); };
  const char *gray_head = "00000002000000020800000000", *color_head = "00000001000000010802000000";
  const char* bits_head = "00000002000000010103000000";
  const std::string rows = from_hex("789c6360656360e70000004d001b"), color = from_hex("789c63484c4a0600024e0127");
  const std::string bits = chunk("IDAT", from_hex("789c6370000000420041"));
  const bytes four{5, 6, 7, 8};
  CHECK(pixels(file(gray_head, chunk("IDAT", rows))) == four);
  // The checksum of the pixels is read with the last row, or, in a part of its own, behind it, where its value does not matter.
  CHECK(refuses(file(gray_head, chunk("IDAT", rows.substr(0, 10) + "abcd"))));
  CHECK(pixels(file(gray_head, chunk("IDAT", rows.substr(0, 10)) + chunk("IDAT", "abcd"))) == four);
  CHECK(refuses(file(gray_head, chunk("IDAT", rows.substr(0, 10)))));
  // Other chunks may not come between those of pixels.
  CHECK(refuses(file(gray_head, chunk("IDAT", rows.substr(0, 6)) + chunk("tEXt", "a") + chunk("IDAT", rows.substr(6)))));
  CHECK(pixels(file(gray_head, chunk("IDAT", rows) + chunk("tEXt", "a") + chunk("IDAT", rows.substr(6)))) == four);
  // A palette that nothing uses may be wrong, but not come twice.
  CHECK(pixels(file(gray_head, chunk("PLTE", "abcd") + chunk("IDAT", rows))) == four);
  CHECK(pixels(file(gray_head, chunk("PLTE", "") + chunk("IDAT", rows))) == four);
  CHECK(pixels(file(gray_head, chunk("IDAT", rows) + chunk("PLTE", "abc"))) == four);
  CHECK(refuses(file(gray_head, chunk("PLTE", "abc") + chunk("PLTE", "abc") + chunk("IDAT", rows))));
  CHECK(pixels(file(color_head, chunk("PLTE", "abcd") + chunk("IDAT", color))) == bytes{97, 98, 99});
  CHECK(refuses(file(color_head, chunk("PLTE", "") + chunk("IDAT", color))));
  CHECK(refuses(file(bits_head, chunk("PLTE", "abcd") + bits)));
  // Colors that no pixel can have do not count, so that more transparent ones than these are too many; the first list of those counts.
  CHECK(pixels(file(bits_head, chunk("PLTE", "abcdefghi") + chunk("tRNS", "\1\2\3") + bits)) == bytes{97, 98, 99, 100, 101, 102});
  CHECK(pixels(file(bits_head, chunk("PLTE", "abcdefghi") + chunk("tRNS", "\1\2") + bits)) == bytes{97, 98, 99, 1, 100, 101, 102, 2});
  CHECK(pixels(file(bits_head, chunk("PLTE", "abcdef") + chunk("tRNS", "\1\2") + chunk("tRNS", "\3\4") + bits)) ==
        bytes{97, 98, 99, 1, 100, 101, 102, 2});
}
#endif

#if defined(LEAT_USE_JPEG)
namespace {
// An image of 37 x 45 pixels, and sums by which TensorFlow's bytes are known.
tensor_value jpeg_pixels(std::int64_t channels) {
  bytes pixels;
  for (int y = 0; y < 37; ++y)
    for (int x = 0; x < 45; ++x) {
      const int colors[]{y * 5 + x * 2, y * x, 7 * x + 3 * y + x * y / 2};
      for (int k = 0; k < channels; ++k) pixels.push_back(static_cast<std::uint8_t>(colors[k]));
    }
  return {shape(3, {37, 45, channels}), pixels};
}
template <class Bytes>
std::uint32_t weighed(const Bytes& all) {
  std::uint32_t sum = 0;
  std::uint32_t at = 0;
  for (const auto byte : all) sum += static_cast<std::uint32_t>(static_cast<std::uint8_t>(byte)) * (at++ % 251 + 1);
  return sum;
}
}  // namespace

TEST_CASE("JPEG: files and pixels are TensorFlow's, byte by byte") {
  const auto encoded = [](const attribute_map& settings, std::int64_t channels = 3) {
    return run_on("EncodeJpeg", jpeg_pixels(channels), settings).as<std::string>();
  };
  const std::string plain = encoded({}), stepwise = encoded({{"progressive", true}}), one_channel = encoded({}, 1);
  CHECK(weighed(plain) == 34963077);
  CHECK(weighed(stepwise) == 26475108);
  CHECK(weighed(one_channel) == 11104886);
  CHECK(weighed(encoded({{"chroma_downsampling", false}, {"quality", 80}})) == 34237939);
  CHECK(weighed(encoded({{"optimize_size", true}})) == 27341460);
  CHECK(weighed(encoded({{"density_unit", "cm"}, {"x_density", 100}, {"y_density", 50}, {"xmp_metadata", "hello"}})) == 36598878);
  CHECK(weighed(encoded({{"quality", 0}})) == 8968408);
  const auto pixels = [](const std::string& file, const attribute_map& settings, std::initializer_list<std::int64_t> extent) {
    const tensor_value made = decode("DecodeJpeg", file, settings);
    CHECK(made.extent() == shape_value(extent));
    return weighed(made.as<bytes>());
  };
  for (const std::string& file : {plain, stepwise}) {
    CHECK(pixels(file, {}, {37, 45, 3}) == 76040341);
    CHECK(pixels(file, {{"channels", 1}}, {37, 45, 1}) == 23840454);
    CHECK(pixels(file, {{"channels", 3}}, {37, 45, 3}) == 76040341);
    CHECK(pixels(file, {{"ratio", 2}}, {19, 23, 3}) == 19980045);
    CHECK(pixels(file, {{"ratio", 8}}, {5, 6, 3}) == 563685);
    CHECK(pixels(file, {{"fancy_upscaling", false}}, {37, 45, 3}) == 76102523);
    CHECK(pixels(file, {{"dct_method", "INTEGER_ACCURATE"}}, {37, 45, 3}) == 76573363);
  }
  CHECK(pixels(one_channel, {}, {37, 45, 1}) == 26900573);
  CHECK(pixels(one_channel, {{"channels", 3}}, {37, 45, 3}) == 82622262);
  CHECK(pixels(one_channel, {{"ratio", 8}}, {5, 6, 1}) == 76177);
  CHECK(weighed(decode("DecodeImage", plain).as<bytes>()) == 76040341);
}

TEST_CASE("JPEG: what is refused, and files that are damaged") {
  const std::string file = run_on("EncodeJpeg", jpeg_pixels(3)).as<std::string>();
  const auto encodes = [&](const attribute_map& settings, const tensor_value& image, std::string_view words) {
    CHECK(refuses_image([&] { run_on("EncodeJpeg", image, settings); }, words));
  };
  const auto decodes = [&](const attribute_map& settings, std::string_view words) {
    CHECK(refuses_image([&] { decode("DecodeJpeg", file, settings); }, words));
  };
  encodes({{"quality", 101}}, jpeg_pixels(3), "quality must be in [0,100], got 101");
  encodes({{"format", "grayscale"}}, jpeg_pixels(3), "format grayscale expects 1 channels, got [37,45,3]");
  encodes({{"format", "blue"}}, jpeg_pixels(3), "format must be");
  encodes({{"density_unit", "x"}}, jpeg_pixels(3), "density_unit");
  encodes({}, jpeg_pixels(2), "image must have 1 or 3 channels, got [37,45,2]");
  encodes({}, tensor_value(shape(3, {0, 5, 3}), bytes()), "0 x 5 pixels");
  decodes({{"channels", 2}}, "`channels` must be 0, 1 or 3");
  decodes({{"ratio", 3}}, "ratio must be 1, 2, 4, or 8, got 3");
  decodes({{"dct_method", "x"}}, "dct_method must be one of");
  for (const std::size_t length : {std::size_t{4}, std::size_t{30}, file.size() / 2, file.size() - 2})
    CHECK(refuses_image([&] { decode("DecodeJpeg", file.substr(0, length)); }, "jpeg::Uncompress failed. Invalid JPEG data or crop window."));
  CHECK(decode("DecodeJpeg", file.substr(0, file.size() / 2), {{"try_recover_truncated", true}}).extent() == shape(3, {37, 45, 3}));
  // Bytes changed at random end in pixels or in an error.
  std::uint32_t random = 1;
  int refused = 0;
  for (int k = 0; k < 300; ++k) {
    std::string changed = file;
    for (int n = 0; n <= k % 5; ++n) {
      random = random * 1664525 + 1013904223;
      changed[(random >> 8) % changed.size()] = static_cast<char>(random >> 24);
    }
    try {
      const io::jpeg_image image(changed);
      bytes pixels(static_cast<std::size_t>(image.height() * image.width() * image.channels()));
      image.read(pixels);
    } catch (const error&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("JPEG: a window of a file, its shape, and a quality that is an input") {
  for (const std::int64_t channels : {1, 3})
    for (const bool progressive : {false, true})
      for (const std::int64_t ratio : {1, 2}) {
        const std::string file = run_on("EncodeJpeg", jpeg_pixels(channels), {{"progressive", progressive}}).as<std::string>();
        const tensor_value whole = decode("DecodeJpeg", file, {{"ratio", ratio}});
        const std::int64_t height = whole.extent()[0], width = whole.extent()[1];
        const std::int64_t windows[][4]{{0, 0, height, width}, {3, 5, 7, 8}, {height - 1, width - 1, 1, 1}, {1, 2, 16, 3}};
        for (const auto& window : windows) {
          const auto [y, x, rows, columns] = std::to_array(window);
          const tensor_value part = crop(file, std::vector<std::int32_t>(std::begin(window), std::end(window)), {{"ratio", ratio}});
          REQUIRE(part.extent() == shape(3, {rows, columns, channels}));
          bool is_equal = true;
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t k = 0; k < columns * channels; ++k)
              is_equal = is_equal && part.values<std::uint8_t>()[static_cast<std::size_t>(r * columns * channels + k)] ==
                                         whole.values<std::uint8_t>()[static_cast<std::size_t>(((y + r) * width + x) * channels + k)];
          CHECK(is_equal);
        }
        CHECK(run_on("ExtractJpegShape", tensor_value(file)).as<std::vector<std::int32_t>>() ==
              std::vector<std::int32_t>{37, 45, static_cast<std::int32_t>(channels)});
      }
  const std::string file = run_on("EncodeJpeg", jpeg_pixels(3)).as<std::string>();
  CHECK(run_on("ExtractJpegShape", tensor_value(file), {{"output_type", dtype::int64}}).type() == dtype::int64);
  using window = std::vector<std::int32_t>;
  for (const window& outside :
       {window{0, 0, 38, 45}, window{0, 0, 0, 2}, window{-1, 0, 2, 2}, window{0, 44, 1, 2}, window{INT32_MAX, 0, INT32_MAX, 1}})
    CHECK(refuses_image([&] { crop(file, outside); }, "jpeg::Uncompress failed. Invalid JPEG data or crop window."));
  CHECK(refuses_image([&] { crop(file, {0, 0, 2}); }, "four elements"));
  CHECK(refuses_image([&] { crop(gray, {0, 0, 2, 2}); }, "DecodeAndCropJpeg operation can run on JPEG only, but detected PNG."));
  CHECK(refuses_image([&] { crop("hello", {0, 0, 2, 2}); }, "Unknown image file format"));
  // Rows below the window are not read.
  CHECK(crop(file.substr(0, file.size() - 100), {1, 2, 3, 4}).as<bytes>() == crop(file, {1, 2, 3, 4}).as<bytes>());
  for (std::size_t length = 3; length + 2 < file.size(); length += 41) {
    CHECK(refuses_image(
        [&] {
          crop(file.substr(0, length), {30, 0, 7, 2});
        },
        "jpeg::Uncompress failed. Invalid JPEG data or crop window."));
    if (length < 200)
      CHECK(refuses_image([&] { run_on("ExtractJpegShape", tensor_value(file.substr(0, length))); }, "Invalid JPEG data, size "));
  }
  CHECK(refuses_image([&] { run_on("ExtractJpegShape", tensor_value(gray)); }, "Invalid JPEG data, size "));
  CHECK(refuses_image([&] { run_on("ExtractJpegShape", tensor_value("")); }, "Invalid JPEG data, size 0"));

  const auto of_quality = [](const tensor_value& image, const tensor_value& quality) {
    graph g;
    const auto scope = g.as_default();
    const output place = placeholder(image.type(), image.extent()), number = placeholder(dtype::int32, quality.extent());
    return graph_session(g).run({call_operator(g, "EncodeJpegVariableQuality", {place, number}).result()},
                                {{place, image}, {number, quality}})[0];
  };
  for (const std::int32_t quality : {0, 30, 100})
    CHECK(of_quality(jpeg_pixels(3), tensor_value(quality)).as<std::string>() ==
          run_on("EncodeJpeg", jpeg_pixels(3), {{"quality", std::int64_t{quality}}}).as<std::string>());
  CHECK(refuses_image([&] { of_quality(jpeg_pixels(3), tensor_value(std::int32_t{101})); }, "quality must be in [0,100], got 101"));
  CHECK(refuses_image([&] { of_quality(jpeg_pixels(2), tensor_value(std::int32_t{9})); }, "image must have 1 or 3 channels"));
}

TEST_CASE("JPEG: what a file in several scans takes meanwhile counts as the session's memory") {
  for (const bool progressive : {false, true}) {
    const std::string file = io::write_jpeg(bytes(256 * 256, 9), 256, 256, 1, {.progressive = progressive});
    const io::jpeg_image of(file);
    bytes pixels(256 * 256);
    memory_meter* const meter = memory_meter::make(100000);  // coefficients of two bytes are 131072
    {
      const memory_scope limited(meter);
      if (progressive) CHECK_THROWS_AS(of.read(pixels), resource_exhausted);
      else of.read(pixels);
    }
    meter->let_go();
  }
}

TEST_CASE("JPEG: a run may end while a file is read") {
  const std::string file = io::write_jpeg(bytes(64 * 64, 9), 64, 64, 1, {.progressive = true});
  int calls = 0;
  const io::jpeg_image of(file, {.check = [&] {
                            if (++calls == 3) throw deadline_exceeded("enough");
                          }});
  bytes pixels(64 * 64);
  CHECK_THROWS_AS(of.read(pixels), deadline_exceeded);
  CHECK(calls == 3);
  of.read(pixels);  // the check is quiet now
  CHECK(pixels == bytes(64 * 64, 9));
}
#else
TEST_CASE("JPEG without libjpeg") {
  CHECK(refuses_image([&] { decode("DecodeImage", "\xff\xd8\xff\xe0"s + "jpeg"); }, "JPEG needs libjpeg"));
}
#endif

TEST_CASE("BMP") {
  const std::string two{"\1\2\3\4\5\6\0\0\7\10\11\12\13\14\0\0", 16};
  CHECK(decode("DecodeBmp", bmp(2, 2, 24, two)).as<bytes>() == bytes{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4});
  CHECK(decode("DecodeBmp", bmp(2, static_cast<std::uint32_t>(-2), 24, two)).as<bytes>() == bytes{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10});
  CHECK(decode("DecodeBmp", bmp(2, 2, 24, two), {{"channels", 4}}).extent() == shape(3, {2, 2, 4}));
  CHECK(decode("DecodeBmp", bmp(1, 1, 32, "\1\2\3\4")).as<bytes>() == bytes{3, 2, 1, 4});
  CHECK(decode("DecodeBmp", bmp(1, 1, 32, "\1\2\3\4"), {{"channels", 3}}).as<bytes>() == bytes{3, 2, 1});
  CHECK(decode("DecodeImage", bmp(3, 1, 8, "\1\2\3\0"s), {{"channels", 3}}).as<bytes>() == bytes{1, 1, 1, 2, 2, 2, 3, 3, 3});
  const auto says = [](const std::string& file, std::string_view words, int channels = 0) {
    CHECK(refuses_image([&] { decode("DecodeBmp", file, {{"channels", channels}}); }, words));
  };
  says(bmp(2, 2, 24, two), "`channels` must be 0, 3 or 4 for BMP, but got 1", 1);
  says(bmp(2, 2, 24, two.substr(3)), "Input size should match (header_size + row_size * abs_height) but they differ by -3");
  says("BM", "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got 2 bytes");
  says(bmp(0x7fffffff, 0x7fffffff, 24, "xxx"), "Total possible pixel bytes must be less than 2^30");
  says(bmp(2, 0x80000000, 24, ""), "Total possible pixel bytes must be less than 2^30");
  says(bmp(static_cast<std::uint32_t>(-2), 2, 24, two), "Width must be positive");
  says(bmp(2, 0, 24, ""), "");
  says(bmp(2, 1, 16, "xxxx"), "Number of channels inherent in the image must be 1, 3 or 4, was 2");
  std::string before = bmp(2, 2, 24, two);
  before[13] = '\xff';  // the pixels begin before the file
  says(before, "Input size should match");
}

TEST_CASE("GIF: frames on top of each other") {
  const bytes wanted{145, 63,  32, 176, 34,  210, 145, 63, 32, 145, 63, 32,  53,  108, 136, 246, 247, 45,
                     145, 63,  32, 142, 120, 18,  145, 63, 32, 145, 63, 32,  53,  108, 136, 246, 247, 45,
                     246, 247, 45, 145, 63,  32,  145, 63, 32, 176, 34, 210, 145, 63,  32,  53,  108, 136};
  const tensor_value all = decode("DecodeGif", animated);
  CHECK(all.extent() == shape(4, {3, 2, 3, 3}));
  CHECK(all.as<bytes>() == wanted);
  CHECK(decode("DecodeImage", animated, {{"channels", 3}}).as<bytes>() == wanted);
  const tensor_value first = decode("DecodeImage", animated, {{"expand_animations", false}});
  CHECK(first.extent() == shape(3, {2, 3, 3}));
  CHECK(first.as<bytes>() == bytes(wanted.begin(), wanted.begin() + 18));
  // Of a file that is cut off, the whole frames count.
  for (std::size_t length = 6; length < animated.size(); ++length) {
    const std::string begin = animated.substr(0, length);
    if (length < 42) CHECK_THROWS_AS(decode("DecodeGif", begin), error);
    else CHECK(decode("DecodeGif", begin).extent()[0] == (length < 77 ? 1 : length < 94 ? 2 : 3));
  }
  CHECK(decode("DecodeGif", animated.substr(0, 42) + "else").as<bytes>() == bytes(wanted.begin(), wanted.begin() + 18));
  std::string wide = animated;
  const std::size_t sizes = animated.find(',') + 5;
  for (std::size_t k = 0; k < 4; ++k) wide[sizes + k] = '\xff';
  CHECK(refuses_image([&] { decode("DecodeGif", wide); }, "too short for its pixels"));
  CHECK(refuses_image([&] { decode("DecodeImage", animated, {{"channels", 1}}); }, "channels must be 0 or 3 for GIF"));
}
