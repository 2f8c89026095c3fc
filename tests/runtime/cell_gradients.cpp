// Cells of recurrent networks in one operator, and their gradients: values of TensorFlow 2.21, gradients against differences, and what is
// refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <limits>

using namespace leat;
using namespace node_results;

namespace cell_gradients_test {

tensor_value float_tensor(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
const number_list x = {0, 0, 0.5, 1, -1, -0.75, 0.625, 1, -0.5, -0.375, 0.75, -0.125, -0.5, 0.75, -0.5, -0.25, 0.25, 0.125};
const number_list cells = {-0.875, -1, 0.75, 0.5}, hidden = {0.75, 0.125, 0.625, -0.375};
const number_list weights = {-0.125, 0.625, -0.75,  -0.375, -0.75,  -0.125, 1,      -0.75, -0.25, -0.25,  0.875,  -0.625, 0,    -0.5,
                             -1,     0.5,   -0.875, -0.5,   0,      0,      -0.875, 1,     0.5,   1,      -0.875, 0.5,    -0.5, 0.125,
                             0.875,  -0.5,  0.5,    -0.75,  -0.375, 1,      -0.125, 0,     -0.5,  -0.875, -0.125, 0.25};
const number_list by_input = {-0.125, 0.625}, by_forget = {-0.25, 0.25}, by_output = {0.625, 0.875},
                  bias = {-0.125, -1, 0.5, 0, 0.75, -0.125, -0.25, -0.875};
const number_list cell_slopes = {-0.125, 0.25, 0.625, 0.75, -0.625, 0.25, 0.625, -0.5, -0.375, 0.75, 0.125, 0};
const number_list hidden_slopes = {0.375, 0, 1, 0.5, -1, -0.75, 0.125, 0.625, -0.875, 0.375, 0.5, 0.625};

number_list first(const number_list& all, std::size_t count) { return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}; }
/// The operands of one step, or of a sequence of three.
std::vector<tensor_value> operands(dtype d, bool is_sequence, double steps = 2) {
  std::vector<tensor_value> all;
  if (is_sequence) all.push_back(tensor_of(dtype::int64, {}, {steps}));
  all.push_back(is_sequence ? tensor_of(d, {3, 2, 3}, x) : tensor_of(d, {2, 3}, first(x, 6)));
  all.push_back(tensor_of(d, {2, 2}, cells));
  all.push_back(tensor_of(d, {2, 2}, hidden));
  all.push_back(tensor_of(d, {5, 8}, weights));
  for (const auto* w : {&by_input, &by_forget, &by_output}) all.push_back(tensor_of(d, {2}, *w));
  all.push_back(tensor_of(d, {8}, bias));
  return all;
}
/// The results of the gradient of an LSTM, whose forward node is run first.
std::vector<tensor_value> slopes(dtype d, const std::string& forward, const std::string& backward, attribute_map settings,
                                 bool is_sequence) {
  auto inputs = operands(d, is_sequence);
  const auto made = run_node(forward, inputs, {}, settings);
  inputs.insert(inputs.end(), made.begin(), made.end() - (is_sequence ? 0 : 1));
  const extents of = is_sequence ? extents{3, 2, 2} : extents{2, 2};
  const std::size_t count = is_sequence ? 12 : 4;
  inputs.push_back(tensor_of(d, of, first(cell_slopes, count)));
  inputs.push_back(tensor_of(d, of, first(hidden_slopes, count)));
  return run_node(backward, inputs, {}, {{"use_peephole", *settings.find("use_peephole")}});
}
void check_all(const std::vector<tensor_value>& is, const std::vector<number_list>& wanted) {
  REQUIRE(is.size() == wanted.size());
  for (std::size_t k = 0; k < is.size(); ++k) check_near(list_of(is[k]), wanted[k], 1e-5);
}
output node_of(const std::string& type, const std::vector<output>& in, const attribute_map& settings, const std::vector<int>& used) {
  std::vector<number_argument> inputs(in.begin(), in.end());
  if (type.starts_with("BlockLSTM")) inputs.insert(inputs.begin(), constant(std::int64_t{2}));
  const auto made = call_operator(in[0].owner(), type, inputs, settings);
  std::vector<output> parts;
  for (const int k : used) parts.push_back(reshape(made.result(k), {-1}));
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

}  // namespace cell_gradients_test
using namespace cell_gradients_test;

TEST_CASE("gradients of a step of an LSTM and of its sequences have TensorFlow's values") {
  for (const dtype d : {dtype::float32, dtype::float64}) {
    const attribute_map looks{{"use_peephole", true}, {"cell_clip", 0.6f}, {"forget_bias", 0.5f}};
    const attribute_map plain{{"use_peephole", false}, {"cell_clip", 0.6f}, {"forget_bias", 0.5f}};
    const attribute_map second{{"use_peephole", true}, {"cell_clip", 0.6f}}, second_plain{{"use_peephole", false}, {"cell_clip", 0.6f}};
    check_all(slopes(d, "LSTMBlockCell", "LSTMBlockCellGrad", looks, false),
              {{-0.020789089, 0.12057936, 1.2543626, 0.47611031},
               {-0.00047774616, 0.0037643993, -0.0056968625, 0.050012454, 0.002896969, -0.062192023, -0.050345324, 0, -0.32430172,
                0.057855684, 0.17501748, 0.4351171, 0.14442089, 0.096650213, 0.018664636, 0.009532284},
               {-0.24280827, 0.025163442},
               {0.10578082, 0.11051713},
               {0.033163086, 0.0044302829}});
    check_all(slopes(d, "LSTMBlockCell", "LSTMBlockCellGrad", plain, false),
              {{0.025814127, 0.14910828, 1.2640229, 0.38451287},
               {0.00060085038, 0.0050920043, 0.006987141, 0.079504505, -0.0044457847, -0.060175166, -0.048757132, 0, -0.31630483,
                0.059913252, 0.17974454, 0.37531644, 0.1243545, 0.095377229, 0.019614426, 0.0060541565},
               {0, 0},
               {0, 0},
               {0, 0}});
    check_all(slopes(d, "BlockLSTM", "BlockLSTMGrad", looks, true),
              {{-0.042624183, -0.038477372, -0.17959209, -0.36535507, 0.00031373184, 0.27687383, 0.054798316, -0.11264212, 0.095016122,
                -0.048751518, 0.064507961, -0.14018311, 0, 0, 0, 0, 0, 0},
               {-0.54245716, 0.14117233, 1.6063985, 0.4098013},
               {0.15420476, 0.064131483, 0.44454244, 0.012506509},
               {-0.57454932, 0.03189078,   0.074199736,  0.40689817,  0.24000752,   0.081125125,   0.012364346,  0.024741558,
                0.35093513,  -0.060496449, -0.37767646,  -0.39712512, -0.078633517, -0.12135793,   -0.006744219, 0.045750678,
                0.37270284,  -0.026470974, -0.14966476,  -0.25408816, -0.15070193,  -0.08617118,   -0.059626054, -0.030437049,
                -0.20449206, 0.04173765,   0.090948716,  0.26553285,  0.14848986,   -0.0011052015, -0.057365574, -0.0042899288,
                0.17353086,  -0.01584968,  -0.081780784, -0.13604613, -0.068981223, -0.038987979,  -0.017311849, -0.0071070525},
               {-0.17615257, 0.037344217},
               {0.016995911, 0.11210955},
               {0.063145928, -0.004258479},
               {-0.45690677, 0.046831481, -0.062062636, 0.39668232, 0.3702392, -0.034248836, -0.063454106, 0.065672249}});
    check_all(slopes(d, "BlockLSTM", "BlockLSTMGrad", plain, true),
              {{-0.075490251, -0.03287439, -0.17586517, -0.32931817, 0.042508055, 0.28743511, 0.028070003, -0.09010379, 0.10737589,
                -0.048432007, 0.063198425, -0.14259544, 0, 0, 0, 0, 0, 0},
               {-0.40026397, 0.1785329, 1.6415685, 0.32392865},
               {0.13384034, 0.061337143, 0.41275555, 0.023605729},
               {-0.57074642, 0.036484893,  0.090759784,  0.34395233,  0.22197551,   0.082264818,   0.011035619,  0.033303626,
                0.34246168,  -0.054885391, -0.37619048,  -0.34081757, -0.04769884,  -0.11424389,   -0.013486707, 0.064456165,
                0.37233227,  -0.029272817, -0.14202797,  -0.19001164, -0.14040065,  -0.086184166,  -0.055572886, -0.037098125,
                -0.19098204, 0.042411234,  0.13309607,   0.25797543,  0.12128903,   -0.0031724379, -0.052356552, -0.015278536,
                0.18007585,  -0.015875015, -0.072213516, -0.1093349,  -0.067181803, -0.037507929,  -0.01656457,  -0.010761828},
               {0, 0},
               {0, 0},
               {0, 0},
               {-0.45367038, 0.055485617, -0.0018307567, 0.3739478, 0.34738499, -0.032439083, -0.064412445, 0.075738825}});
    check_all(slopes(d, "BlockLSTMV2", "BlockLSTMGradV2", second, true),
              {{-0.023611106, 0.18666697, 0.20957239, -0.39760134, -0.17489284, -0.1243429, 0.19143745, 0.11660039, 0.47626513,
                -0.039407577, 0.021650273, -0.23126714, 0, 0, 0, 0, 0, 0},
               {-0.47623602, 0.11398351, 0.19963999, 0.37184346},
               {-0.10570174, 0.0027822771, -0.40254512, -0.61940098},
               {0.24595983,  -0.098635636, 0.18910241,   0.068185821,   -0.033914074, 0.34807822,  0.036968578,  0.029707655,
                -0.39584732, 0.076752685,  -0.066174053, -0.093490049,  -0.52995896,  -0.33923173, -0.048375849, 0.018873153,
                -0.28642973, 0.055009216,  -0.092579141, -0.08631441,   -0.022881627, -0.21381456, -0.036839191, -0.022089468,
                0.24516557,  -0.022366758, 0.26282927,   -0.0051285517, 0.13908608,   0.22011514,  0.033599243,  -0.026155502,
                -0.14127816, 0.027197435,  -0.05290952,  -0.03651908,   -0.053473394, -0.1146214,  -0.018213492, -0.005176696},
               {0.49248409, -0.016732085},
               {0.01870591, 0.11865165},
               {0.039724074, -0.0012105312},
               {0.28612036, -0.054563086, 0.47976738, -0.013386566, -0.20565253, 0.35021526, 0.045369051, 0.00045546517}});
    check_all(slopes(d, "BlockLSTMV2", "BlockLSTMGradV2", second_plain, true),
              {{-0.029695874, 0.16057512, 0.22937235, -0.39870471, -0.14861669, -0.15790883, 0.16665359, 0.12523289, 0.46690506,
                -0.042409729, 0.016935451, -0.2259188, 0, 0, 0, 0, 0, 0},
               {-0.38605133, 0.16890673, 0.3369056, 0.37057617},
               {-0.12231293, -0.048516259, -0.37315845, -0.58974427},
               {0.23737977,  -0.095264077, 0.21007852,   0.071117595,  -0.016402021, 0.30152765,   0.048948396,  0.03834803,
                -0.39165181, 0.081413507,  -0.097351521, -0.092293009, -0.5158093,   -0.29427651,  -0.072950378, 0.03280481,
                -0.27465954, 0.053369578,  -0.10724805,  -0.091886751, -0.032117754, -0.15923029,  -0.044637471, -0.032291193,
                0.24605043,  -0.03061655,  0.26821831,   -0.011237022, 0.14861721,   0.22994074,   0.043206211,  -0.032196864,
                -0.13048899, 0.028204102,  -0.06362433,  -0.037367746, -0.038882677, -0.093526311, -0.022472192, -0.0098525677},
               {0, 0},
               {0, 0},
               {0, 0},
               {0.28708062, -0.059253454, 0.48409393, -0.018441509, -0.16595903, 0.35414475, 0.051425636, 0.0089469012}});
  }
}

TEST_CASE("the second version of a sequence has its columns in another order, and no bias of its own") {
  const std::vector<number_list> wanted{
      {0.23934935, 0.20181322, 0.53898323, 0.62245935, 0.55332202, 0.25118798, 0.3428463, 0.24917984},
      {-0.33646965, -0.48300248, 0.60000002, 0.025745779, 0.050587803, -0.32449988, 0.60000002, -0.15678781},
      {0.58130312, 0.46101677, 0.1710612, 0.61138201, 0.74823493, 0.26856726, 0.74037611, 0.43491632},
      {0.53720146, 0.20934516, 0.89181107, 0.031830799, 0.28521153, 0.17938818, 0.30509987, 0.30154648},
      {0.71932757, -0.10894094, 0.88330835, -0.44974059, 0.54641986, -0.77544004, 0.91530597, -0.6741519},
      {-0.32432202, -0.44864497, 0.53704959, 0.025740091, 0.050544698, -0.31357005, 0.53704959, -0.15551558},
      {-0.17422625, -0.093921654, 0.47894678, 0.00081932766, 0.014415931, -0.056250762, 0.16385376, -0.046895176}};
  const auto made = run_node("BlockLSTMV2", operands(dtype::float32, true), {}, {{"use_peephole", true}, {"cell_clip", 0.6f}});
  REQUIRE(made.size() == 7);
  for (std::size_t k = 0; k < made.size(); ++k) check_near(first(list_of(made[k]), 8), wanted[k], 1e-5);
}

TEST_CASE("the gradient of a step of a GRU has TensorFlow's values") {
  const number_list gate_weights = {0.75,  -0.625, 0.125, 0.625, -0.25,  -0.625, 0,    -0.875, -0.625, 0.75,
                                    0.375, 0.75,   0.75,  0.75,  -0.375, 0,      0.25, -0.5,   0.875,  -1};
  const number_list fresh_weights = {0.75, 0.25, -0.5, 0.5, -0.125, 0.75, 1, -0.5, -0.125, -0.625}, gate_bias = {0.375, 0.25, 0.75, 0.625},
                    fresh_bias = {1, 1};
  for (const dtype d : {dtype::float32, dtype::float64}) {
    std::vector<tensor_value> in{tensor_of(d, {2, 3}, first(x, 6)),   tensor_of(d, {2, 2}, hidden), tensor_of(d, {5, 4}, gate_weights),
                                 tensor_of(d, {5, 2}, fresh_weights), tensor_of(d, {4}, gate_bias), tensor_of(d, {2}, fresh_bias)};
    const auto made = run_node("GRUBlockCell", in, {}, {});
    in.insert(in.end(), made.begin(), made.end() - 1);
    in.push_back(tensor_of(d, {2, 2}, first(hidden_slopes, 4)));
    check_all(run_node("GRUBlockCellGrad", in, {}, {}),
              {{0.02041254, -0.013429972, -0.010031093, -0.009399619, 0.046859752, -0.0017951876},
               {0.27966985, -0.011178767, 0.52073121, 0.35368574},
               {0.024853628, 0, 0.0055276211, 0.062846266},
               {0.0041922582, -7.1849638e-05, -0.01133424, 0, -0.0014316944, 0.003638624, -0.092319652, -0.022990454}});
  }
}

TEST_CASE("gradients of cells, against differences") {
  const std::vector<extents> of_step{{2, 3}, {2, 2}, {2, 2}, {5, 8}, {2}, {2}, {2}, {8}};
  std::vector<extents> of_sequence = of_step;
  of_sequence[0] = {3, 2, 3};
  // The gradient passes cells that are clipped, so that these are not.
  const attribute_map looks{{"use_peephole", true}, {"cell_clip", -1.0f}, {"forget_bias", 0.5f}};
  check_gradient(of_step, [&](const std::vector<output>& in) { return node_of("LSTMBlockCell", in, looks, {1, 6}); });
  check_gradient(of_step, [&](const std::vector<output>& in) { return node_of("LSTMBlockCell", in, looks, {6}); });
  check_gradient(of_sequence, [&](const std::vector<output>& in) { return node_of("BlockLSTM", in, looks, {1, 6}); });
  const attribute_map second{{"use_peephole", true}};
  check_gradient(of_sequence, [&](const std::vector<output>& in) { return node_of("BlockLSTMV2", in, second, {1, 6}); });
  check_gradient({{2, 3}, {2, 2}, {5, 4}, {5, 2}, {4}, {2}},
                 [&](const std::vector<output>& in) { return node_of("GRUBlockCell", in, {}, {3}); });
}

TEST_CASE("gradients of cells without elements, and what is refused") {
  std::vector<tensor_value> in;
  for (const extents& of : {extents{0, 3}, {0, 2}, {0, 2}, {5, 8}, {2}, {2}, {2}, {8}})
    in.push_back(float_tensor(of, number_list(static_cast<std::size_t>(count_of(of)))));
  for (int k = 0; k < 8; ++k) in.push_back(float_tensor({0, 2}, {}));
  const auto none = run_node("LSTMBlockCellGrad", in, {}, {{"use_peephole", true}});
  CHECK(none[1].extent() == shape{2, {0, 8}});
  CHECK(list_of(none[2]) == number_list{0, 0});
  const auto message = [&](std::size_t k, const tensor_value& v) {
    auto some = in;
    some[k] = v;
    return leat_test::message_of<error>([&] { run_node("LSTMBlockCellGrad", some, {}, {{"use_peephole", true}}); });
  };
  CHECK(leat_test::says(message(8, float_tensor({1, 2}, {1, 2})), "i has the shape [1,2], where [0,2] is expected"));
  CHECK(leat_test::says(message(15, float_tensor({2}, {1, 2})), "h_grad has the shape [2], where [0,2] is expected"));
  CHECK(leat_test::says(message(3, float_tensor({5, 7}, number_list(35))), "w has the shape [5,7], where [5,8] is expected"));
  CHECK(leat_test::says(message(0, float_tensor({3}, {1, 2, 3})), "x must be a matrix"));
  auto sequence = operands(dtype::float32, true, 4);
  for (int k = 0; k < 9; ++k) sequence.push_back(float_tensor({3, 2, 2}, number_list(12)));
  CHECK(leat_test::says(leat_test::message_of<error>([&] {
                          run_node("BlockLSTMGrad", sequence, {}, {{"use_peephole", false}});
                        }),
                        "seq_len_max must be between 0 and 3, not 4"));
  sequence[0] = tensor_of(dtype::int64, {}, {-9e18});
  CHECK(leat_test::says(leat_test::message_of<error>([&] {
                          run_node("BlockLSTMGradV2", sequence, {}, {{"use_peephole", false}});
                        }),
                        "must be between"));
  sequence[0] = tensor_of(dtype::int64, {}, {0});
  CHECK(list_of(run_node("BlockLSTMGrad", sequence, {}, {{"use_peephole", false}})[0]) == number_list(18));
  graph g;
  const auto scope = g.as_default();
  std::vector<output> places;
  for (int k = 0; k < 8; ++k) places.push_back(placeholder(dtype::float32, shape::unknown()));
  for (const auto& [type, k, words] :
       {std::tuple("LSTMBlockCell", 0, "only cs and h pass one"), {"LSTMBlockCell", 5, "only cs and h pass one"}}) {
    const output gate = node_of(type, places, {}, {k});
    CHECK(leat_test::says(leat_test::message_of<unimplemented>([&] { static_cast<void>(gradients({gate}, {places[0]})); }), words));
  }
  const output y = node_of("LSTMBlockCell", places, {}, {6});
  CHECK(leat_test::says(leat_test::message_of<unimplemented>([&] { static_cast<void>(gradients({y}, {places[0]})); }),
                        "input_size from `x` must be statically inferred."));
}
