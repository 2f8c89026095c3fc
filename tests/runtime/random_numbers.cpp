// Random numbers with seeds are TensorFlow 2.21's: those of nodes, of keys and counters, of generators in variables, and of queues; seeds of
// graphs; what is refused.

#include <leat/named/functions/queue.hpp>
#include <leat/named/functions/random.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

using namespace leat;
using namespace node_results;

namespace random_numbers_test {

struct drawn_twice {
  const char* type;
  data_type numbers;
  number_list first, second;
};
const std::vector<drawn_twice>& recorded_runs() {
  // clang-format off
  static const std::vector<drawn_twice> list{
      {"RandomUniform", data_type::float32, {0.3883112668991089, 0.6636828184127808, 0.1919107437133789, 0.7060526609420776, 0.9631834030151367}, {0.49199604988098145, 0.9406969547271729, 0.3201887607574463, 0.17291104793548584, 0.31456148624420166}},
      {"RandomStandardNormal", data_type::float32, {-1.178082823753357, -0.7099413871765137, -1.7481579780578613, -0.4953722655773163, 0.24303887784481049}, {-0.4335961937904358, 1.1093077659606934, 1.3355998992919922, 0.7027533650398254, 1.1945992708206177}},
      {"TruncatedNormal", data_type::float32, {-1.178082823753357, -0.7099413871765137, -1.7481579780578613, -0.4953722655773163, -0.864153265953064}, {-0.4335961937904358, 1.1093077659606934, 1.3355998992919922, 0.7027533650398254, 1.2154991626739502}},
      {"RandomUniform", data_type::float64, {0.10649075668991137, 0.5352865750082818, 0.7054680331168384, 0.6770410754680747, 0.06823822776504307}, {0.9359690508631933, 0.5615107438953799, 0.5164928312529158, 0.5501894704356542, 0.5696306761577403}},
      {"RandomStandardNormal", data_type::float64, {-0.46540936664254984, -2.0646521014272525, -0.7490927202357748, -0.36965894530492355, -1.0471234980003954}, {-0.13712598455419608, -0.336960236669958, -0.3565213179801008, -1.0928313180937268, -0.6144752917527354}},
      {"TruncatedNormal", data_type::float64, {-0.46540936664254984, -0.7490927202357748, -0.49661495908212616, 0.8547184961461154, 0.09091473149702428}, {-0.13712598455419608, -0.336960236669958, -0.032426121313370984, 0.43665983357053323, 1.5773576668181952}},
      {"RandomUniform", data_type::half, {0.0458984375, 0.8896484375, 0.1328125, 0.9833984375, 0.3984375}, {0.431640625, 0.189453125, 0.986328125, 0.4873046875, 0.8876953125}},
      {"RandomStandardNormal", data_type::half, {-1.177734375, -0.7099609375, -1.748046875, -0.495361328125, 0.2430419921875}, {-0.43359375, 1.109375, 1.3359375, 0.70263671875, 1.1943359375}},
      {"TruncatedNormal", data_type::half, {-1.177734375, -0.7099609375, -1.748046875, -0.495361328125, -0.8642578125}, {-0.43359375, 1.109375, 1.3359375, 0.70263671875, 1.2158203125}},
      {"RandomUniform", data_type::bfloat16, {0.3671875, 0.1171875, 0.0625, 0.8671875, 0.1875}, {0.453125, 0.515625, 0.890625, 0.8984375, 0.1015625}},
      {"RandomStandardNormal", data_type::bfloat16, {-1.1796875, -0.7109375, -1.75, -0.49609375, 0.2431640625}, {-0.43359375, 1.109375, 1.3359375, 0.703125, 1.1953125}},
      {"TruncatedNormal", data_type::bfloat16, {-1.1796875, -0.7109375, -1.75, -0.49609375, -0.86328125}, {-0.43359375, 1.109375, 1.3359375, 0.703125, 1.21875}},
  };
  // clang-format on
  return list;
}
const attribute_map some_seeds{{"seed", std::int64_t{87654321}}, {"seed2", std::int64_t{5}}};
attribute_map with_dtype_attribute(attribute_map settings, data_type type, std::string_view name = "dtype") {
  settings[name] = static_cast<dtype>(type);
  return settings;
}
number_argument vector_of_int32(const std::vector<std::int32_t>& list) {
  return integers(list, {static_cast<std::int64_t>(list.size())});
}
tensor_literal reals(const extents& of, const std::vector<float>& list) {
  shape s;
  for (const auto n : of) s.push(n);
  return tensor_literal(s, list);
}
/// The numbers of two runs of one node.
std::pair<number_list, number_list> two_runs(std::string_view type, const std::vector<number_argument>& inputs, const attribute_map& settings) {
  graph g;
  const auto scope = g.as_default();
  const output o = call_operator(g, type, inputs, settings).result();
  graph_session s(g);
  const number_list first = list_of(s.run(o).widened());
  return {first, list_of(s.run(o).widened())};
}

TEST_CASE("a node with seeds draws TensorFlow's numbers, and each run continues its sequence") {
  for (const drawn_twice& t : recorded_runs()) {
    CAPTURE(t.type);
    const auto [first, second] = two_runs(t.type, {vector_of_int32({5})}, with_dtype_attribute(some_seeds, t.numbers));
    CHECK(first == t.first);
    CHECK(second == t.second);
  }
  struct seeds_case {
    std::int64_t first, second;
    number_list run, next;
  };
  for (const seeds_case& t : std::initializer_list<seeds_case>{
       {0, 7, {0.9715534448623657, 0.7198868989944458, 0.7485946416854858}, {0.9256711006164551, 0.41830873489379883, 0.4297682046890259}},
       {3, 0, {0.12736403942108154, 0.8146913051605225, 0.8978378772735596}, {0.5135660171508789, 0.0011435747146606445, 0.1535937786102295}},
       {-5, -6, {0.6310857534408569, 0.8565268516540527, 0.35203027725219727}, {0.12011957168579102, 0.7116365432739258, 0.6737878322601318}}}) {
    const auto [first, second] =
        two_runs("RandomUniform", {vector_of_int32({3})}, {{"dtype", dtype::float32}, {"seed", t.first}, {"seed2", t.second}});
    CHECK(first == t.run);
    CHECK(second == t.next);
  }
}

TEST_CASE("many numbers, which several threads draw, are TensorFlow's") {
  const std::pair<const char*, std::pair<double, double>> sums[]{{"RandomUniform", {49945.10261273384, 49906.69564688206}},
                                                                 {"RandomStandardNormal", {130.42917420840035, 446.07061139181997}},
                                                                 {"TruncatedNormal", {258.37111722422924, -88.45296996549132}}};
  for (const auto& [type, sum] : sums) {
    const auto [first, second] = two_runs(type, {vector_of_int32({100003})}, with_dtype_attribute(some_seeds, data_type::float32));
    const auto total = [](const number_list& list) {
      double all = 0;
      for (const double x : list) all += x;
      return all;
    };
    CHECK(total(first) == doctest::Approx(sum.first).epsilon(1e-9));
    CHECK(total(second) == doctest::Approx(sum.second).epsilon(1e-9));
  }
}

TEST_CASE("integers, orders, classes, gamma numbers and counts of events are TensorFlow's") {
  const auto is = [](std::string_view type, const std::vector<number_argument>& inputs, const number_list& first, const number_list& second) {
    CAPTURE(type);
    const auto made = two_runs(type, inputs, some_seeds);
    REQUIRE(made.first.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(made.first[i] == doctest::Approx(first[i]).epsilon(1e-6));
    for (std::size_t i = 0; i < second.size(); ++i) CHECK(made.second[i] == doctest::Approx(second[i]).epsilon(1e-6));
  };
  is("RandomUniformInt", {vector_of_int32({11}), tensor_literal(std::int32_t{-7}), tensor_literal(std::int32_t{1000000007})},
     {568415742, 798973804, 476249189, 816106444, 507884917, 643392885, 864712440, 97710550, 512825209, 157171616, 790521748},
     {557002343, 434551208, 688525619, 585777027, 196277278, 119251393, 50908591, 401408818, 247027014, 632790402, 742755754});
  is("RandomUniformInt", {vector_of_int32({11}), tensor_literal(std::int64_t{-7}), tensor_literal(std::int64_t{1000000007})},
     {131972024, 503769133, 439825475, 778365338, 706409023, 284843734, 393917595, 347226672, 453867932, 313923023, 263957422},
     {289701749, 243901317, 27959694, 615167277, 75094042, 443085742, 427753220, 839720983, 468704056, 311008447, 296943837});
  std::vector<std::int32_t> thirteen(13), rows(26);
  for (int i = 0; i < 13; ++i) thirteen[static_cast<std::size_t>(i)] = i;
  for (int i = 0; i < 26; ++i) rows[static_cast<std::size_t>(i)] = i / 2;
  is("RandomShuffle", {vector_of_int32(thirteen)}, {5, 12, 11, 1, 9, 2, 7, 3, 4, 6, 8, 0, 10}, {10, 0, 7, 5, 12, 1, 3, 8, 2, 4, 11, 6, 9});
  is("RandomShuffle", {integers(rows, {13, 2})}, {5, 5, 12, 12, 11, 11, 1, 1, 9, 9, 2, 2, 7, 7, 3, 3, 4, 4, 6, 6, 8, 8, 0, 0, 10, 10},
     {10, 10, 0, 0, 7, 7, 5, 5, 12, 12, 1, 1, 3, 3, 8, 8, 2, 2, 4, 4, 11, 11, 6, 6, 9, 9});
  const float infinite = std::numeric_limits<float>::infinity(), odd = std::numeric_limits<float>::quiet_NaN();
  is("Multinomial",
     {reals({3, 4}, {0.1f, 0.5f, 1, 2, 1, 1, 1, 1, 0, -infinite, 3, odd}), tensor_literal(std::int32_t{7})},
     {1, 3, 3, 3, 0, 3, 2, 3, 3, 2, 3, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2}, {2, 3, 3, 3, 3, 1, 3, 1, 1, 2, 0, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2});
  const tensor_literal shapes = reals({2}, {0.5f, 3}), rates = reals({2}, {0.5f, 30});
  is("RandomGamma", {vector_of_int32({5}), shapes},
     {0.027734944596886635, 2.1533925533294678, 0.08037696033716202, 1.2092429399490356, 0.10487652570009232, 4.323025226593018,
      0.023191086947917938, 2.1399245262145996, 0.05653484910726547, 0.54339998960495},
     {0.09944092482328415, 1.8416556119918823, 0.042693130671978, 2.075862407684326, 0.19629940390586853, 1.3267548084259033,
      0.0002593250828795135, 1.054938554763794, 0.2448323369026184, 5.4689178466796875});
  is("RandomPoissonV2", {vector_of_int32({5}), rates}, {0, 31, 0, 27, 0, 37, 0, 33, 1, 29}, {0, 28, 0, 28, 0, 29, 0, 31, 0, 38});
}

TEST_CASE("a queue that shuffles gives TensorFlow's order") {
  graph g;
  const auto scope = g.as_default();
  auto queue = random_shuffle_queue(20, 0, {dtype::int32}, {shape_value{}}, {.seed = 5});
  std::vector<std::int32_t> twelve(12);
  for (int i = 0; i < 12; ++i) twelve[static_cast<std::size_t>(i)] = i;
  const auto put = queue.enqueue_many({twelve});
  const output one = queue.dequeue()[0], four = queue.dequeue_many(4)[0];
  graph_session s(g);
  s.run(put);
  for (const int expected : {7, 2, 4, 8, 0, 6}) CHECK(s.run<std::int32_t>(one) == expected);
  CHECK(list_of(s.run(four)) == number_list{1, 10, 11, 3});
  CHECK(s.run<std::int32_t>(one) == 5);
  s.run(put);
  for (const int expected : {8, 3, 11, 4, 9, 9}) CHECK(s.run<std::int32_t>(one) == expected);
}

TEST_CASE("the seed of a graph gives its nodes TensorFlow's seeds") {
  using seeds = std::pair<std::int64_t, std::int64_t>;
  const auto seeds_of = [](graph& g) {
    std::vector<seeds> all;
    for (const graph_operation& op : get_operations(g))
      if (op.type() == "RandomUniform" || op.type() == "RandomStandardNormal")
        all.emplace_back(*op.attribute("seed").get_if<std::int64_t>(), *op.attribute("seed2").get_if<std::int64_t>());
    return all;
  };
  {
    graph g;
    const auto scope = g.as_default();
    random_uniform({2});
    set_random_seed(42);
    random_uniform({2});
    random_uniform({2});
    random_normal({3}, 0, 1, dtype::float32, 9);
    get_variable("v", {2});
    CHECK(seeds_of(g) == std::vector<seeds>{{0, 0}, {42, 0}, {42, 1}, {42, 9}, {42, 2}});
  }
  graph g;
  const auto scope = g.as_default();
  set_random_seed(0);
  random_uniform({2});
  random_uniform({2});
  set_random_seed(2147483648);
  random_uniform({2});
  graph other;
  const auto there = other.as_default();
  random_uniform({2}, 0, 1, dtype::float32, 7);
  CHECK(seeds_of(g) == std::vector<seeds>{{0, 2147483647}, {0, 1}, {1, 2}});
  CHECK(seeds_of(other) == std::vector<seeds>{{87654321, 7}});
}

const std::vector<std::int64_t> a_key{static_cast<std::int64_t>(8496633186236937083ULL)};
const std::vector<std::int64_t> a_counter{0, static_cast<std::int64_t>(10170721048406114738ULL)};
tensor_value as_uint64(const std::vector<std::int64_t>& list) {
  tensor_value made(dtype::int64, {static_cast<std::int64_t>(list.size())});
  std::copy(list.begin(), list.end(), made.values<std::int64_t>().begin());
  return made.narrowed(data_type::uint64);
}
/// The numbers of a node that draws by a key; `before` and `after` are its inputs before and after key, counter and algorithm.
tensor_value of_key(std::string_view type, const std::vector<number_argument>& before, const attribute_map& settings,
                    const std::vector<number_argument>& after = {}, const std::vector<std::int64_t>& key = a_key,
                    const std::vector<std::int64_t>& counter = a_counter, std::int32_t algorithm = 1) {
  graph g;
  const auto scope = g.as_default();
  const output k = placeholder(static_cast<dtype>(data_type::uint64), shape::unknown());
  const output at = placeholder(static_cast<dtype>(data_type::uint64), shape::unknown());
  std::vector<number_argument> inputs = before;
  inputs.insert(inputs.end(), {k, at, tensor_literal(algorithm)});
  inputs.insert(inputs.end(), after.begin(), after.end());
  const output o = call_operator(g, type, inputs, settings).result();
  graph_session s(g);
  return s.run(o, {{k, as_uint64(key)}, {at, as_uint64(counter)}});
}
std::vector<std::int64_t> bits_of(const tensor_value& v) {
  std::vector<std::int64_t> list;
  for (const double x : list_of(v.widened())) list.push_back(static_cast<std::int64_t>(x));
  return list;
}

TEST_CASE("numbers of a key and a counter") {
  const attribute_map none;
  const std::vector<number_argument> five{vector_of_int32({5})};
  const std::tuple<const char*, data_type, number_list> recorded[]{
      {"StatelessRandomUniformV2", data_type::float32,
       {0.19548892974853516, 0.72270667552948, 0.8852598667144775, 0.6083104610443115, 0.8486368656158447}},
      {"StatelessRandomNormalV2", data_type::float32,
       {-1.780290961265564, -0.30832916498184204, -0.3106456696987152, -0.3837282061576843, 0.353144109249115}},
      {"StatelessTruncatedNormalV2", data_type::float32,
       {-1.780290961265564, -0.30832916498184204, -0.3106456696987152, -0.3837282061576843, -0.629376232624054}},
      {"StatelessRandomUniformV2", data_type::float64,
       {0.5639122309586158, 0.08207911738811147, 0.7890958737475771, 0.7649151006344563, 0.9053540288204636}},
      {"StatelessRandomNormalV2", data_type::float64,
       {0.5278684414155569, 0.9311649829545875, -0.6852638555127535, 0.06440771218121173, -0.32160845896159845}},
      {"StatelessTruncatedNormalV2", data_type::float64,
       {0.5278684414155569, 0.9311649829545875, 0.6150508715475489, -0.5830170806750747, 1.3788612806836444}},
      {"StatelessRandomUniformV2", data_type::half, {0.4453125, 0.4130859375, 0.048828125, 0.279296875, 0.033203125}},
      {"StatelessRandomNormalV2", data_type::half, {-1.7802734375, -0.308349609375, -0.310546875, -0.3837890625, 0.35302734375}},
      {"StatelessRandomUniformV2", data_type::bfloat16, {0.5625, 0.3046875, 0.390625, 0.234375, 0.265625}},
      {"StatelessTruncatedNormalV2", data_type::bfloat16, {-1.78125, -0.30859375, -0.310546875, -0.3828125, -0.62890625}}};
  for (const auto& [type, numbers, expected] : recorded) {
    CAPTURE(type);
    CHECK(list_of(of_key(type, five, with_dtype_attribute(none, numbers)).widened()) == expected);
  }
  const auto float32 = with_dtype_attribute(none, data_type::float32);
  // The counter has 128 bits.
  CHECK(list_of(of_key("StatelessRandomUniformV2", five, float32, {}, {5}, {-1, -1}, 3)) ==
        number_list{0.11540067195892334, 0.468711256980896, 0.12473559379577637, 0.6442205905914307, 0.18286478519439697});
  CHECK(bits_of(of_key("StatelessRandomUniformIntV2", five, none, {tensor_literal(std::int32_t{3}), tensor_literal(std::int32_t{1000})})) ==
        std::vector<std::int64_t>{417, 804, 277, 490, 895});
  CHECK(bits_of(of_key("StatelessRandomUniformIntV2", five, none, {tensor_literal(std::int64_t{3}), tensor_literal(std::int64_t{1000})})) ==
        std::vector<std::int64_t>{511, 135, 239, 623, 324});
  CHECK(bits_of(of_key("StatelessRandomUniformFullIntV2", five, with_dtype_attribute(none, data_type::int32))) ==
        std::vector<std::int64_t>{915998152, -723746393, 351359026, 827186462, 1089249314});
  CHECK(bits_of(of_key("StatelessRandomUniformFullIntV2", five, with_dtype_attribute(none, data_type::uint32))) ==
        std::vector<std::int64_t>{915998152, 3571220903, 351359026, 827186462, 1089249314});
  const tensor_value wide = of_key("StatelessRandomUniformFullIntV2", five, with_dtype_attribute(none, data_type::uint64));
  CHECK(to_data_type(wide.type()) == data_type::uint64);
  CHECK(static_cast<std::uint64_t>(wide.widened().values<std::int64_t>()[0]) == 15338276986092586440ULL);
  CHECK(static_cast<std::uint64_t>(wide.widened().values<std::int64_t>()[2]) == 18352863786289635362ULL);
  CHECK(list_of(of_key("StatelessShuffle", {vector_of_int32({0, 1, 2, 3, 4, 5, 6, 7, 8})}, none)) == number_list{4, 8, 6, 5, 1, 3, 7, 0, 2});

  const auto refusal = [&](const std::vector<std::int64_t>& key, const std::vector<std::int64_t>& counter, std::int32_t algorithm) {
    return leat_test::message_of<invalid_argument>([&] { of_key("StatelessRandomUniformV2", five, float32, {}, key, counter, algorithm); });
  };
  CHECK(leat_test::says(refusal(a_key, a_counter, 2), "Unsupported algorithm id: 2"));
  CHECK(leat_test::says(refusal({1, 2}, a_counter, 1), "key must have shape [1], not [2]"));
  CHECK(leat_test::says(refusal({}, a_counter, 1), "key must have shape [1], not [0]"));
  CHECK(leat_test::says(refusal(a_key, {1}, 1), "counter must be a vector with length at least 2; got shape: [1]"));
  CHECK(list_of(of_key("StatelessRandomUniformV2", {vector_of_int32({0, 3})}, float32)).empty());
  CHECK(!leat_test::message_of<error>([&] { of_key("StatelessRandomUniformV2", {vector_of_int32({-1})}, float32); }).empty());
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] {
    of_key("StatelessRandomUniformIntV2", five, none, {tensor_literal(std::int32_t{5}), tensor_literal(std::int32_t{5})});
  }), "Need minval < maxval, got 5 >= 5"));
}

TEST_CASE("a seed stands for a key and a counter") {
  const tensor_value seed = tensor_of(dtype::int64, {2}, {3, -4});
  const auto made = run_node("StatelessRandomGetKeyCounterAlg", {seed}, {}, {});
  CHECK(to_data_type(made[0].type()) == data_type::uint64);
  CHECK(made[0].widened().values<std::int64_t>()[0] == a_key[0]);
  CHECK(made[1].widened().values<std::int64_t>()[1] == a_counter[1]);
  CHECK(made[1].widened().values<std::int64_t>()[0] == 0);
  CHECK(list_of(made[2]) == number_list{1});
  CHECK(list_of(run_node("StatelessRandomGetAlg", {}, {}, {})[0]) == number_list{1});
  CHECK(run_node("StatelessRandomGetKeyCounter", {tensor_of(dtype::int32, {2}, {3, -4})}, {}, {})[0].widened().values<std::int64_t>()[0] == a_key[0]);
  CHECK(leat_test::says(leat_test::message_of<error>([] { run_node("StatelessRandomGetKeyCounter", {tensor_of(dtype::int32, {3}, {1, 2, 3})}, {}, {}); }),
                        "seed must have shape [2]"));
  const auto full = run_node("StatelessRandomUniformFullInt", {tensor_of(dtype::int32, {1}, {5}), seed}, {}, with_dtype_attribute({}, data_type::int32));
  CHECK(bits_of(full[0]) == std::vector<std::int64_t>{915998152, -723746393, 351359026, 827186462, 1089249314});
  const auto two = [&](std::string_view type, const number_list& parameters, dtype result) {
    return list_of(run_node(type, {tensor_of(dtype::int32, {2}, {4, 2}), seed,
                                  tensor_of(dtype::float32, {static_cast<std::int64_t>(parameters.size())}, parameters)}, {},
                            {{"dtype", result}})[0]);
  };
  CHECK(two("StatelessRandomPoisson", {0.5, 30}, dtype::int64) == number_list{0, 35, 0, 24, 0, 24, 0, 26});
  const number_list gamma{1.5499231815338135, 30.47260856628418, 1.6865087747573853, 32.09562683105469,
                          0.3200129270553589, 31.155649185180664, 1.4208875894546509, 34.608158111572266};
  const auto drawn = two("StatelessRandomGammaV2", {0.5, 30}, dtype::float32);
  for (std::size_t i = 0; i < gamma.size(); ++i) CHECK(drawn[i] == doctest::Approx(gamma[i]).epsilon(1e-6));
  CHECK(leat_test::says(leat_test::message_of<error>([&] { two("StatelessRandomPoisson", {1, 2, 3}, dtype::int64); }),
                        "must end with broadcasted shape"));
}

TEST_CASE("a generator in a variable draws TensorFlow's numbers, and its counter advances") {
  graph g;
  const auto scope = g.as_default();
  const auto handle = [&](dtype type, const shape& extent, const char* name) {
    return g.named()
        .raw(g, "VarHandleOp", {}, {{"dtype", type}, {"shape", to_proto(extent)}, {"shared_name", name}, {"container", ""}}, {{type, extent}}, name)
        .result();
  };
  const output state = handle(dtype::int64, shape_value{3}, "state");
  const output given = placeholder(dtype::int64, {3});
  const auto assign = call_operator(g, "AssignVariableOp", {state, given}, {});
  const output now = call_operator(g, "ReadVariableOp", {state}, {{"dtype", dtype::int64}}).result();
  const number_argument algorithm = tensor_literal(std::int64_t{1}), five = vector_of_int32({5});
  graph_session s(g);
  const auto set = [&](const number_list& numbers) { s.run(assign, {{given, tensor_of(dtype::int64, {3}, numbers)}}); };
  const auto drawn = [&](std::string_view type, data_type numbers, const std::vector<number_argument>& more = {}) {
    std::vector<number_argument> inputs{state, algorithm, five};
    inputs.insert(inputs.end(), more.begin(), more.end());
    attribute_map settings;
    if (more.empty()) settings["dtype"] = static_cast<dtype>(numbers);
    return list_of(s.run(call_operator(g, type, inputs, settings).result()).widened());
  };
  set({7, 8, 9});
  CHECK(drawn("StatefulUniform", data_type::float32) ==
        number_list{0.7113637924194336, 0.23097693920135498, 0.580710768699646, 0.7759606838226318, 0.8361462354660034});
  CHECK(list_of(s.run(now)) == number_list{1287, 8, 9});
  const output delta = placeholder(static_cast<dtype>(data_type::uint64), shape{});
  const output skipped = call_operator(g, "RngReadAndSkip", {state, tensor_literal(std::int32_t{1}), delta}, {}).result();
  tensor_value ten(dtype::int64, shape{});
  ten.values<std::int64_t>()[0] = 10;
  CHECK(list_of(s.run(skipped, {{delta, ten.narrowed(data_type::uint64)}})) == number_list{1287, 8, 9});
  CHECK(list_of(s.run(now)) == number_list{3847, 8, 9});
  s.run(call_operator(g, "RngSkip", {state, algorithm, tensor_literal(std::int64_t{10})}, {}));
  CHECK(list_of(s.run(now)) == number_list{6407, 8, 9});
  CHECK(drawn("StatefulUniform", data_type::float32) ==
        number_list{0.2070831060409546, 0.394436240196228, 0.6278043985366821, 0.07296741008758545, 0.3622286319732666});
  CHECK(drawn("StatefulStandardNormalV2", data_type::float32) ==
        number_list{2.13411021232605, -1.0950287580490112, -0.29075509309768677, 0.16122201085090637, -1.86263108253479});
  CHECK(drawn("StatefulTruncatedNormal", data_type::float32) ==
        number_list{0.8236380219459534, -0.12162289023399353, 0.02863190695643425, -0.6646671891212463, 1.1154406070709229});
  CHECK(drawn("StatefulUniform", data_type::float64) ==
        number_list{0.06877018420783365, 0.6230356989691213, 0.4277587383387269, 0.4564369692094379, 0.7298101654350864});
  set({14087, 8, 9});
  CHECK(drawn("StatefulUniform", data_type::half) == number_list{0.46484375, 0.009765625, 0.6826171875, 0.15625, 0.9013671875});
  CHECK(drawn("StatefulStandardNormalV2", data_type::half) == number_list{-0.2646484375, 0.477783203125, -1.3837890625, 0.505859375, 2.140625});
  set({17927, 8, 9});
  CHECK(drawn("StatefulUniformInt", {}, {tensor_literal(std::int32_t{3}), tensor_literal(std::int32_t{1000})}) == number_list{80, 533, 360, 948, 284});
  CHECK(drawn("StatefulUniformFullInt", data_type::int32) == number_list{-2133896309, -1930901705, -1799858557, -740049254, 551934890});
  CHECK(drawn("StatefulUniformInt", {}, {tensor_literal(std::int64_t{3}), tensor_literal(std::int64_t{1000})}) == number_list{718, 27, 19, 37, 545});
  set({23047, 8, 9});
  CHECK(drawn("StatefulUniformFullInt", data_type::uint32) == number_list{4132995919, 243813020, 3274061486, 1883908205, 215335588});
  set({-1, -1, 9});
  CHECK(drawn("StatefulUniform", data_type::float32) ==
        number_list{0.3028489351272583, 0.2890133857727051, 0.2131882905960083, 0.39125800132751465, 0.08012962341308594});
  CHECK(list_of(s.run(now)) == number_list{1279, 0, 9});

  // What is refused leaves the state as it was.
  const auto refusal = [&](const output& of, std::int64_t which) {
    const output o = call_operator(g, "StatefulUniform", {of, tensor_literal(which), five}, {{"dtype", dtype::float32}}).result();
    return leat_test::message_of<error>([&] { s.run(o); });
  };
  const auto other = [&](dtype type, const shape_value& extent, const tensor_value& value, const char* name) {
    const output made = handle(type, extent, name), fed = placeholder(type, extent);
    s.run(call_operator(g, "AssignVariableOp", {made, fed}, {}), {{fed, value}});
    return made;
  };
  CHECK(leat_test::says(refusal(state, 5), "Unsupported algorithm id: 5"));
  CHECK(leat_test::says(refusal(other(dtype::float32, {3}, tensor_of(dtype::float32, {3}, {1, 2, 3}), "reals"), 1),
                        "dtype of RNG state variable must be int64, not float"));
  CHECK(leat_test::says(refusal(other(dtype::int64, {2}, tensor_of(dtype::int64, {2}, {1, 2}), "short"), 1),
                        "the size of state must be at least 3; got 2"));
  CHECK(leat_test::says(refusal(other(dtype::int64, {1, 3}, tensor_of(dtype::int64, {1, 3}, {1, 2, 3}), "matrix"), 1),
                        "RNG state must have one and only one dimension, not 2"));
  CHECK(list_of(s.run(now)) == number_list{1279, 0, 9});
}

TEST_CASE("integers without seeds") {
  const auto a = run_node("NonDeterministicInts", {tensor_of(dtype::int32, {1}, {8})}, {}, with_dtype_attribute({}, data_type::uint64));
  const auto b = run_node("NonDeterministicInts", {tensor_of(dtype::int32, {1}, {8})}, {}, with_dtype_attribute({}, data_type::uint64));
  CHECK(list_of(a[0].widened()) != list_of(b[0].widened()));
}

}  // namespace random_numbers_test
