// Gradients of complex numbers and Fourier transforms, recorded from TensorFlow 2.21. The loss of a complex result y is the sum of its real
// parts plus twice that of its imaginary ones, the loss of a real one half the sum of its squares.

#include <leat/named/gradients/complex.hpp>

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gradient_complex_tests {

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using number = std::complex<double>;
using numbers = std::vector<number>;

namespace {

// Results and gradients as real numbers, the parts of complex ones after each other.
struct recorded {
  const char* name;
  std::vector<double> result;
  std::vector<std::vector<double>> slopes;
};
const std::vector<recorded> all_recorded{
    {"exp", {-1.13120438376, 2.471726672, 0.029258619901, 0.00747095221781, 0.890807904293, -1.38735111133, 0.778800783071, 0},
     {{3.81224896025, -4.73413543952, 0.0442005243367, 0.0510462875843, -1.88389431837, 3.16896691992, 0.778800783071,
     1.55760156614}}},
    {"log", {0.804718956217, 1.10714871779, 1.25530750325, 3.0702851888, 0.111571775657, -1.10714871779, -1.38629436112,
     3.14159265359}, {{-0.6, 0.8, -0.324873096447, -0.548223350254, 2, 0, -4, -8}}},
    {"sin", {3.16577851322, 1.95960104142, 0.361802416257, -0.236560493367, 0.739792264456, -1.03133607425, -0.247403959255, 0},
     {{-4.07107259128, 7.11734381319, -1.14309802243, -1.84313522564, 2.48102358717, 2.14493984818, 0.968912421711, 1.93782484342}}},
    {"cos", {2.03272300702, -3.05189779915, -0.965873694742, -0.0886121638441, 1.3541806567, 0.563421465231, 0.968912421711, 0},
     {{-7.08498059606, -4.37195598501, 0.111318570477, -0.960165325881, 1.32287988405, -2.51092060317, 0.247403959255,
     0.494807918509}}},
    {"tanh", {1.16673625724, -0.243458201186, -0.998400395023, 0.000872961101835, 1.04283072834, -0.806877412163, -0.244918662404, 0},
     {{0.834204443548, -1.17210621736, 0.0066836721147, 0.00465169714028, 3.92930146792, -0.555762658262, 0.940014848806,
     1.88002969761}}},
    {"sigmoid", {1.02141536417, 0.403438706082, 0.0284780748865, 0.00705186601379, 0.656210346251, -0.252250351349, 0.437823499114,
     0}, {{-0.700547751841, 0.702495894845, 0.0410172407054, 0.0487833870261, 0.446845026385, 0.499648905507, 0.246134082738,
     0.492268165475}}},
    {"square", {-3, 4, 12.1875, -1.75, -0.75, -1, 0.0625, 0}, {{10, 0, -6, -14.5, -3, 4, -0.5, -1}}},
    {"sqrt", {1.27201964951, 0.786151377757, 0.0667727935036, 1.8720199267, 0.899453719974, -0.555892970251, 0, 0.5},
     {{-0.0671453437513, 0.744653273133, -0.52398886007, 0.285781252818, 0.899453719974, 0.555892970251, -2, 1}}},
    {"rsqrt", {0.568864481006, -0.351577584254, 0.0190294582263, -0.533503589183, 0.804495864191, 0.497205787879, 0, -2},
     {{0.311290378003, -0.122072517126, -0.143148483008, 0.0918766781628, -0.804495864191, 0.497205787879, -8, 4}}},
    {"reciprocal", {0.2, -0.4, -0.284263959391, -0.0203045685279, 0.4, 0.8, -4, 0}, {{0.44, 0.08, -0.103481151279, -0.149243732124,
     -0.8, 1.6, -16, -32}}},
    {"conj", {1, -2, -3.5, -0.25, 0.5, 1, -0.25, 0}, {{1, -2, 1, -2, 1, -2, 1, -2}}},
    {"abs", {2.2360679775, 3.5089172119, 1.11803398875, 0.25}, {{1, 2, -3.5, 0.25, 0.5, -1, -0.25, 0}}},
    {"angle", {1.10714871779, 3.0702851888, -1.10714871779, 3.14159265359}, {{-0.442859487118, 0.221429743559, -0.0623408160163,
     -0.872771424229, -0.885718974235, -0.442859487118, 0, -12.5663706144}}},
    {"real", {1, -3.5, 0.5, -0.25}, {{1, 0, -3.5, 0, 0.5, 0, -0.25, 0}}},
    {"imag", {2, 0.25, -1, 0}, {{0, 2, 0, 0.25, 0, -1, 0, 0}}},
    {"tan", {0.0338128260799, 1.01479361615, -0.349177116714, 0.276953223491, 0.195577310066, -0.842966204846, -0.255341921221, 0},
     {{0.108589384035, -0.125951632428, 0.658398658661, 2.28385459776, -0.33180178958, 0.985047049042, 1.06519949673,
     2.13039899347}}},
    {"sinh", {-0.489056259041, 1.40311925062, -16.0283570667, 4.10018243965, 0.281548995135, -0.948864531437, -0.252612316808, 0},
     {{1.49506671805, -2.35290367081, 7.87219271175, 36.2079428607, -0.267714250627, 1.65700439821, 1.03141309988, 2.06282619976}}},
    {"cosh", {-0.642148124716, 1.06860742138, 16.0576156866, -4.09271148743, 0.609258909158, -0.438486579893, 1.03141309988, 0},
     {{2.3171822422, -2.3812317687, -7.82799218742, -36.1568965731, -1.61618006774, 1.51196252171, -0.252612316808,
     -0.505224633616}}},
    {"atan", {1.33897252229, 0.402359478109, -1.29373768997, 0.0187881805948, 0.907887494961, -0.708303336014, -0.244978663127, 0},
     {{-0.5, 0, 0.0942942280102, 0.139145789648, 2.11764705882, -0.470588235294, 0.941176470588, 1.88235294118}}},
    {"expm1", {-2.13120438376, 2.471726672, -0.970741380099, 0.00747095221781, -0.109192095707, -1.38735111133, -0.221199216929, 0},
     {{3.81224896025, -4.73413543952, 0.0442005243367, 0.0510462875843, -1.88389431837, 3.16896691992, 0.778800783071,
     1.55760156614}}},
    {"log1p", {1.03972077084, 0.785398163397, 0.921265897301, 3.0419240011, 0.589327498171, -0.588002603548, -0.287682072452, 0},
     {{-0.25, 0.75, -0.475247524752, -0.752475247525, 1.07692307692, 0.615384615385, 1.33333333333, 2.66666666667}}},
    {"negative", {-1, -2, 3.5, -0.25, -0.5, 1, 0.25, 0}, {{-1, -2, -1, -2, -1, -2, -1, -2}}},
    {"multiply", {2.5, 0, -7.5, -6.5, 0, 1.25, -0.75, 0}, {{-1.5, 2, 6, 2, 0, -2.5, 3, 6}, {5, 0, -3, -7.25, -1.5, 2, -0.25, -0.5}}},
    {"divide", {-1.2, 1.6, -0.8125, 0.9375, -0.8, 0.6, -0.0833333333333, 0}, {{2, 0, -0.25, 0.75, -1.6, -1.2, 0.333333333333,
     0.666666666667}, {2.4, 3.2, -0.90625, 0.375, -0.56, -1.92, 0.0277777777778, 0.0555555555556}}},
    {"add", {1.5, 1, -1.5, 2.25, -0.5, -0.5, 2.75, 0}, {{1, 2, 1, 2, 1, 2, 1, 2}, {1, 2, 1, 2, 1, 2, 1, 2}}},
    {"subtract", {0.5, 3, -5.5, -1.75, 1.5, -1.5, -3.25, 0}, {{1, 2, 1, 2, 1, 2, 1, 2}, {-1, -2, -1, -2, -1, -2, -1, -2}}},
    {"pow", {4.38256505986, -1.12439747736, -0.0189706607862, 0.0185279471503, 0.617111797393, 1.42819751909, -0.015625,
     5.740531871e-18}, {{-4.59594207038, -2.11335023707, 0.0248499896509, 0.0408275734461, -2.66242111387, 2.23928324078, 0.1875,
     0.375}, {12.6662630505, 5.59588948943, -0.150674230053, -0.126413121326, 0.602303306974, 3.82404662408, -0.0765139210322,
     0.0924090839973}}},
    {"divide_no_nan", {-1.2, 1.6, -0.8125, 0.9375, -0.8, 0.6, -0.0833333333333, 0}, {{2, 0, -0.25, 0.75, -1.6, -1.2, 0.333333333333,
     0.666666666667}, {2.4, 3.2, -0.90625, 0.375, -0.56, -1.92, 0.0277777777778, 0.0555555555556}}},
    {"mul_broadcast", {2.5, 0, -7.5, -6.5, -0.75, -1, -0.5, -0.5}, {{-1.5, 2, 6, 2, -1.5, 2, 6, 2}, {3.5, 2, -3.25, -7.75}}},
    {"matmul 00", {0.328125, 0.5, 1.03125, 0.40625, 0.71875, 2.03125, 0.203125, -0.625}, {{-1.25, -0.625, 2, 1.5, -0.75, -0.25, -1.25,
     -0.625, 2, 1.5, -0.75, -0.25}, {-3.25, -1.5, -3.25, -1.5, 2.75, 4.25, 2.75, 4.25, 0, 0.625, 0, 0.625}}},
    {"matmul 10", {0.328125, 0.5, 1.03125, 0.40625, 0.71875, 2.03125, 0.203125, -0.625}, {{-1.25, -0.625, -1.25, -0.625, 2, 1.5, 2,
     1.5, -0.75, -0.25, -0.75, -0.25}, {-3.25, -1.5, -3.25, -1.5, 2.75, 4.25, 2.75, 4.25, 0, 0.625, 0, 0.625}}},
    {"matmul 01", {0.328125, 0.5, 1.03125, 0.40625, 0.71875, 2.03125, 0.203125, -0.625}, {{-1.25, -0.625, 2, 1.5, -0.75, -0.25, -1.25,
     -0.625, 2, 1.5, -0.75, -0.25}, {-3.25, -1.5, 2.75, 4.25, 0, 0.625, -3.25, -1.5, 2.75, 4.25, 0, 0.625}}},
    {"matmul 11", {0.328125, 0.5, 1.03125, 0.40625, 0.71875, 2.03125, 0.203125, -0.625}, {{-1.25, -0.625, -1.25, -0.625, 2, 1.5, 2,
     1.5, -0.75, -0.25, -0.75, -0.25}, {-3.25, -1.5, 2.75, 4.25, 0, 0.625, -3.25, -1.5, 2.75, 4.25, 0, 0.625}}},
    {"bmm 10", {1.421875, 2.0625, 0.09375, -1.46875, 0.90625, 0.21875, 0.921875, -0.0625}, {{-1.25, 0.625, -1.25, 0.625, 2, -1.5, 2,
     -1.5, -0.75, 0.25, -0.75, 0.25}, {0.75, -3.5, 0.75, -3.5, 1.75, 4.75, 1.75, 4.75, 0.5, 0.375, 0.5, 0.375}}},
    {"bmm 01", {1.421875, -2.0625, 0.09375, 1.46875, 0.90625, -0.21875, 0.921875, 0.0625}, {{0.25, -1.375, 0, 2.5, 0.25, -0.75, 0.25,
     -1.375, 0, 2.5, 0.25, -0.75}, {-3.25, 1.5, 2.75, -4.25, 0, -0.625, -3.25, 1.5, 2.75, -4.25, 0, -0.625}}},
    {"bmm 11", {0.328125, -0.5, 1.03125, -0.40625, 0.71875, -2.03125, 0.203125, 0.625}, {{0.25, 1.375, 0.25, 1.375, 0, -2.5, 0, -2.5,
     0.25, 0.75, 0.25, 0.75}, {0.75, 3.5, 1.75, -4.75, 0.5, -0.375, 0.75, 3.5, 1.75, -4.75, 0.5, -0.375}}},
    {"complex", {-0.5, 0.25, 1.25, -0.75, 0.25, 0.25, -0.75, -0.75}, {{1, 1, 1, 1}, {4, 4}}},
    {"sum", {1, 0, 0.25, -0.875}, {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}}},
    {"mean", {-0.625, -0.5, 1.125, 0.125, 0.125, -0.0625}, {{0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1}}},
    {"prod", {0.33203125, -0.5859375, -0.421875, 0.4921875}, {{1.875, -0.15625, -0.671875, 1, -2.1875, -0.46875, -1.3125, 1.125,
     0.84375, -1.125, -1.78125, -0.75}}},
    {"cumsum", {-0.5, -0.625, 0.75, -0.625, 1, 0, -0.75, -0.375, 0.25, -0.125, 0.25, -0.875}, {{3, 6, 2, 4, 1, 2, 3, 6, 2, 4, 1, 2}}},
    {"cumprod", {0.5, -0.625, 1.125, -1.40625, 2.28515625, -1.0546875, 0.25, -0.375, 0.59375, -0.6875, 0.078125, -1.1328125}, {{3.25,
     13.53125, 3.703125, 1.9375, 3.9375, 0.84375, 7.1875, 9.375, 2.09375, -0.5, 1.96875, 0.5}}},
    {"transpose", {-0.5, 0.625, -0.75, 0.375, 1.25, 0, 1, -0.25, 0.25, -0.625, 0, 0.75}, {{1, -2, 1, -2, 1, -2, 1, -2, 1, -2, 1,
     -2}}},
    {"cast_cr", {-0.5, 1.25, 0.25, -0.75, 1, 0}, {{-0.5, 0, 1.25, 0, 0.25, 0, -0.75, 0, 1, 0, 0, 0}}},
    {"cast_rc", {-0.5, 0, 1.25, 0, 0.25, 0, -0.75, 0, 1, 0, 0, 0}, {{1, 1, 1, 1, 1, 1}}},
    {"cast_cc", {-0.5, -0.625, 1.25, 0, 0.25, 0.625, -0.75, -0.375, 1, 0.25, 0, -0.75}, {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}}},
    {"segsum", {-0.75, -0.375, 1, 0.25, 0, -0.75, -0.5, -0.625, 1.25, 0, 0.25, 0.625, 0, 0, 0, 0, 0, 0}, {{1, 2, 1, 2, 1, 2, 1, 2, 1,
     2, 1, 2}}},
    {"gather", {-0.75, -0.375, 1, 0.25, 0, -0.75, -0.75, -0.375, 1, 0.25, 0, -0.75, -0.5, -0.625, 1.25, 0, 0.25, 0.625}, {{1, 2, 1, 2,
     1, 2, 2, 4, 2, 4, 2, 4}}},
    {"bias", {-0.75, -0.75, 0, 0.5, 0.75, 0.125, -1, -0.5, -0.25, 0.75, 0.5, -1.25}, {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, {2, 4, 2,
     4, 2, 4}}},
    {"pad", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.5, -0.625, 1.25, 0, 0.25, 0.625, 0, 0, 0, 0, -0.75, -0.375, 1, 0.25, 0, -0.75, 0, 0, 0,
     0}, {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}}},
    {"slice", {1.25, 0, 0.25, 0.625, 1, 0.25, 0, -0.75}, {{0, 0, 1, 2, 1, 2, 0, 0, 1, 2, 1, 2}}},
    {"fft 2", {0.75, -0.625, -1.75, -0.625}, {{2, 4, 0, 0}}},
    {"ifft 2", {0.375, -0.3125, -0.875, -0.3125}, {{1, 2, 0, 0}}},
    {"rfft 2", {0.75, 0, -1.75, 0}, {{2, 0}}},
    {"irfft 2", {0.375, -0.875}, {{-0.25, 0, 0.625, 0}}},
    {"rfft 5", {1.25, 0, 0.599796734531, -0.825549381366, -2.47479673453, 0.804110203222}, {{3, -2.57768353718, 1.22654252801,
     -0.226542528005, 3.57768353718}}},
    {"irfft 5", {0.5, -0.173339515323, -0.235842668676, -0.711370926824, 0.120553110823}, {{-0.1, 0, 0.5, 0, 0.1, 0.25}}},
    {"fft 6", {1.25, -0.875, 1.22427857926, -1.49551270189, -2.17524047358, -2.79455080757, 0.25, 1.375, -2.82475952642,
     0.669550807569, -0.724278579257, -0.629487298108}, {{6, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
    {"ifft 6", {0.208333333333, -0.145833333333, -0.120713096543, -0.104914549685, -0.470793254403, 0.111591801261, 0.0416666666667,
     0.229166666667, -0.36254007893, -0.465758467928, 0.204046429876, -0.249252116982}, {{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
    {"rfft 6", {1.25, 0, 0.25, -0.433012701892, -2.5, -1.73205080757, 0.25, 0}, {{4, -3.46410161514, 1, 0, 1, 3.46410161514}}},
    {"irfft 6", {0.291666666667, 0.0279113742116, -0.277911374212, -0.291666666667, -0.638755292455, 0.388755292455},
     {{-0.0833333333333, 0, 0.416666666667, 0, 0.0833333333333, 0.208333333333, -0.125, 0}}},
    {"rfft 7", {0.25, 0, -0.625, -1.24355627014, -0.625, -3.45332196195, -0.625, 0.925343303921}, {{4, -3.88128626753, 0.981574618808,
     -0.753960337663, 1.75396033766, 0.0184253811925, 4.88128626753}}},
    {"irfft 7", {0.142857142857, 0.200810036233, -0.355148629941, -0.0569157972387, -0.545054450731, -0.342571790525, 0.456023489344},
     {{-0.0714285714286, 0, 0.357142857143, 7.93016446161e-18, 0.0714285714286, 0.178571428571, -0.214285714286, -0.107142857143}}},
    {"fft2d 3x4", {-0.5, -0.375, 0, -2.625, 0.5, 1.125, 1, -1.625, 0.408493649054, -2.32355715851, 0.84479128115, -4.53677857926,
     -1.375, 2.38156986041, -0.78020871885, -1.85136114156, 0.841506350946, 1.57355715851, -1.96979128115, -2.58822142074, -1.375,
     -2.38156986041, -3.59479128115, 5.72636114156}, {{12, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
    {"ifft2d 3x4", {-0.0416666666667, -0.03125, 0.0833333333333, -0.135416666667, 0.0416666666667, 0.09375, 0, -0.21875,
     0.0701255292455, 0.13112976321, -0.299565940096, 0.477196761796, -0.114583333333, -0.198464155034, -0.164149273429,
     -0.215685118395, 0.0340411374212, -0.19362976321, -0.0650173932375, -0.15428009513, -0.114583333333, 0.198464155034,
     0.0703992734291, -0.378064881605}, {{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
    {"rfft2d 3x4", {-0.5, 0, 0.5, -0.5, 0.5, 0, 0.625, -1.94855715851, -1.375, -5.13156986041, -1.375, 2.38156986041, 0.625,
     1.94855715851, -1.375, -0.368430139593, -1.375, -2.38156986041}, {{9, -6, 3, 6, -8.881784197e-16, 0, -8.881784197e-16, 0,
     -1.33226762955e-15, 0, -1.33226762955e-15, 0}}},
    {"irfft2d 3x4", {0.3125, -0.3125, -0.6875, -0.0625, 0.197168783649, 0.0264156081756, 0, -0.0264156081756, 0.0528312163513,
     0.0985843918244, 0, -0.0985843918244}, {{-0.0416666666667, 0, 0.208333333333, 4.62592926927e-18, 0.0208333333333, 0,
     -0.0729166666667, -0.0104166666667, 0.166666666667, 0.0416666666667, -0.0104166666667, -0.0104166666667, -0.0729166666667,
     0.0104166666667, 0.125, 0.0833333333333, -0.0104166666667, 0.0104166666667}}},
    {"rfft2d 2x5", {-0.5, 0, -0.5, -1.65109876273, -0.5, 1.60822040644, 3, 0, 1.69959346906, 0, -4.44959346906, 0}, {{6,
     -5.15536707435, 2.45308505601, -0.453085056011, 7.15536707435, -1.11022302463e-16, -1.11022302463e-16, -1.11022302463e-16,
     -1.11022302463e-16, -1.11022302463e-16}}},
    {"irfft2d 2x5", {0.375, -0.0592513967575, -0.526772473272, -0.420441122228, 0.00646499225742, 0.125, -0.114088118566,
     0.290929804596, -0.290929804596, 0.114088118566}, {{-0.05, 0, 0.25, 0, 0.05, 0.125, -0.075, 0, 0.2, 0.05, -1.11022302463e-17,
     -0.15}}},
    {"rfft2d 4x6", {0.75, 0, 2.375, 0.649519052838, -0.375, -4.54663336987, -1.75, 0, 0.5, 2.25, -2.38156986041, 1.375,
     -7.88156986041, 4.125, 0, -2.75, 3.25, 0, -1.375, -2.38156986041, 1.375, -2.38156986041, 2.75, 0, 0.5, -2.25, 2.38156986041,
     -1.375, -3.11843013959, -4.125, 0, 2.75}, {{16, -13.8564064606, 4, 0, 4, 13.8564064606, -2.22044604925e-16, 0,
     -2.22044604925e-16, 0, -2.22044604925e-16, 0, -4.4408920985e-16, 0, -4.4408920985e-16, 0, -4.4408920985e-16, 0,
     -2.22044604925e-16, 0, -2.22044604925e-16, 0, -2.22044604925e-16, 0}}},
    {"irfft2d 4x6", {0.0208333333333, 0.09375, 0.295005292455, -0.0625, -0.0658386257884, 0.09375, 0.197916666667, 0.16870992107,
     -0.114583333333, -0.229166666667, -0.114583333333, 0.0604567455968, -0.0625, -0.331089684279, -0.34375, 0.229166666667, -0.34375,
     0.101923017613, 0.135416666667, 0.0965411374212, -0.114583333333, -0.229166666667, -0.114583333333, 0.132625529246},
     {{-0.0208333333333, 0, 0.104166666667, 0, 0.0208333333333, 0.0520833333333, -0.03125, 0, 0.046875, -0.00260416666667,
     -3.46944695195e-18, -0.0625, -0.0833333333333, -0.0104166666667, 0.0364583333333, -0.00260416666667, -0.0104166666667, 0,
     -0.104166666667, 0.0104166666667, 0.0416666666667, 0.0625, -0.0208333333333, 0, 0.046875, 0.00260416666667, 0.0208333333333,
     -0.0520833333333, -0.0625, -4.62592926927e-18, 0.0364583333333, 0.00260416666667}}},
    {"fft3d", {-0.5, -0.375, 0.5, 1.125, 0.891746824527, 2.41057621135, -6.90729128115, -2.4375, 1.10825317547, -2.78557621135,
     -4.09270871885, -2.4375, 3, -1.375, 0, 1.625, 1.40729128115, -0.8125, 1.40729128115, -0.8125, -1.40729128115, -0.8125,
     -1.40729128115, -0.8125}, {{12, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
    {"ifft3d", {-0.0416666666667, -0.03125, 0.0416666666667, 0.09375, 0.0923544312894, -0.232131350946, -0.341059059904, -0.203125,
     0.0743122353772, 0.200881350946, -0.575607606762, -0.203125, 0.25, -0.114583333333, 0, 0.135416666667, -0.117274273429,
     -0.0677083333333, -0.117274273429, -0.0677083333333, 0.117274273429, -0.0677083333333, 0.117274273429, -0.0677083333333}, {{1, 2,
     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
    {"power", {43.6875}, {{-196.59375, 546.09375, 65.53125, -152.90625, 327.65625, 109.21875, -371.34375, 371.34375, -21.84375,
     -480.5625, 240.28125, -218.4375, 502.40625, 43.6875, -196.59375, 305.8125}}},
    {"power32", {30.9375}, {{-100.546882629, 278.4375, 61.8750152588, -154.687515259, 224.296890259, 7.73436546326, -208.828140259,
     185.625015259, -30.9375, -247.5, 131.484405518, -85.0781555176, 293.90625, 77.3437347412}}},
    {"filter", {-0.534962567297, -0.129460450315, 0.506002718092, -0.965831817461, -0.861665150794, 0.517167267776, -0.446767994347,
     0.310556942922, 1.06329438476, -0.291265877365, 0.164723609589, 1.07445893444}, {{-0.161343154599, -0.40934328691,
     0.690823644379, 0.291781845401, 0.444206556113, 0.0934728998423, -0.202321205602, -0.149160333687, 0.646824098486,
     0.132276637068, 0.0505600612226, -0.326215261715, -0.65031883298, -0.12614016191, 0.118872693534, 0.363396428735,
     -0.366991360554, -0.0549646001577, -0.74495358809, -0.0775457503533, 0.275122693534, 0.415479762068, -0.506731605444,
     -0.0514756783812}, {-0.852864583333, -0.370442708333, 0.335026017572, 0.0674153525359, -0.476499097915, -2.19857196354,
     -0.0260416666667, 0.05859375, 1.605921075, 2.51106345313, -0.167599842452, 0.0244466025359}}},
};

// The recorded inputs of a shape: multiples of 1/4 and of 1/8.
tensor_value wave(const shape& extent, int seed, dtype type) {
  numbers all;
  for (std::int64_t j = 0; j < extent.elements(); ++j)
    all.emplace_back(0.25 * static_cast<double>((7 * j + 3 * seed) % 11 - 5), 0.125 * static_cast<double>((5 * j + seed) % 13 - 6));
  if (type == complex128_dtype) return {extent, all};
  if (type == dtype::float32) {
    std::vector<float> reals;
    for (const number& z : all) reals.push_back(static_cast<float>(z.real()));
    return {extent, reals};
  }
  std::vector<double> reals;
  for (const number& z : all) reals.push_back(z.real());
  return {extent, reals};
}
tensor_value turned(const tensor_value& v) {
  shape extent;
  extent.push(v.extent()[1]);
  extent.push(v.extent()[0]);
  numbers all;
  for (std::int64_t i = 0; i < extent[0]; ++i)
    for (std::int64_t j = 0; j < extent[1]; ++j) all.push_back(v.values<number>()[static_cast<std::size_t>(j * extent[0] + i)]);
  return {extent, all};
}
tensor_value batched(const tensor_value& v) {
  shape extent;
  extent.push(1);
  for (int k = 0; k < v.extent().rank; ++k) extent.push(v.extent()[k]);
  return v.reshaped(extent);
}

std::vector<double> parts_of(const tensor_value& v) {
  std::vector<double> all;
  if (v.type() == dtype::float32)
    for (const float x : v.values<float>()) all.push_back(static_cast<double>(x));
  else if (v.type() == dtype::float64) all = v.as<std::vector<double>>();
  else if (v.type() == complex64_dtype)
    for (const auto& z : v.values<std::complex<float>>()) all.insert(all.end(), {static_cast<double>(z.real()), static_cast<double>(z.imag())});
  else
    for (const number& z : v.values<number>()) all.insert(all.end(), {z.real(), z.imag()});
  return all;
}
bool is_close(const std::vector<double>& got, const std::vector<double>& wanted, double error) {
  if (got.size() != wanted.size()) return false;
  double most = 1;
  for (const double w : wanted) most = std::max(most, std::abs(w));
  for (std::size_t k = 0; k < got.size(); ++k)
    if (!(std::abs(got[k] - wanted[k]) <= error * most)) {
      MESSAGE("number ", k, " is ", got[k], ", recorded ", wanted[k]);
      return false;
    }
  return true;
}

output loss_of(const output& y) {
  if (is_complex(y.type())) return reduce_sum(real(y), all_axes) + reduce_sum(imag(y), all_axes) * 2.0;
  return reduce_sum(square(y) * 0.5, all_axes);
}

using function = std::function<output(const std::vector<output>&)>;

// Compares result and gradients, with shapes that are known while the graph is built and with shapes that are not.
void check(const std::string& name, const function& f, const std::vector<tensor_value>& inputs) {
  INFO(name);
  const recorded* its = nullptr;
  for (const recorded& r : all_recorded)
    if (r.name == name) its = &r;
  REQUIRE(its != nullptr);
  const double error = name == "cast_cc" || name == "power32" ? 1e-6 : 1e-10;
  for (const bool is_known : {true, false}) {
    INFO((is_known ? "shapes known" : "shapes unknown"));
    graph g;
    const default_graph_scope here(g);
    std::vector<output> xs;
    for (const tensor_value& v : inputs) {
      shape extent = v.extent();
      if (!is_known)
        for (int k = 0; k < extent.rank; ++k) extent.dim[k] = unknown_dimension;
      xs.push_back(placeholder(v.type(), shape_value(extent)));
    }
    const output y = f(xs);
    std::vector<output> fetched{y};
    for (const output& slope : gradients({loss_of(y)}, xs)) {
      REQUIRE(static_cast<bool>(slope));
      fetched.push_back(slope);
    }
    std::vector<feed_item> feeds;
    for (std::size_t k = 0; k < xs.size(); ++k) feeds.emplace_back(xs[k], inputs[k]);
    graph_session session(g);
    const auto got = session.run(fetched, feed_list(feeds));
    CHECK(is_close(parts_of(got[0]), its->result, error));
    REQUIRE(its->slopes.size() == xs.size());
    for (std::size_t k = 0; k < xs.size(); ++k) {
      CHECK(got[k + 1].type() == inputs[k].type());
      CHECK(got[k + 1].extent() == inputs[k].extent());
      CHECK(is_close(parts_of(got[k + 1]), its->slopes[k], error));
    }
  }
}

const tensor_value z{numbers{{1, 2}, {-3.5, 0.25}, {0.5, -1}, {-0.25, 0}}}, w{numbers{{0.5, -1}, {2, 2}, {-1, 0.5}, {3, 0}}};
const tensor_value a = wave(shape(2, {2, 3}), 1, complex128_dtype), b = wave(shape(2, {3, 2}), 2, complex128_dtype);

}  // namespace

TEST_CASE("gradients of functions of complex numbers") {
  const auto one = [](const char* name, output (*f)(const output&)) {
    check(name, [f](const std::vector<output>& x) { return f(x[0]); }, {z});
  };
  one("exp", [](const output& x) { return exp(x); });
  one("log", [](const output& x) { return log(x); });
  one("sin", [](const output& x) { return sin(x); });
  one("cos", [](const output& x) { return cos(x); });
  one("tan", [](const output& x) { return tan(x); });
  one("sinh", [](const output& x) { return sinh(x); });
  one("cosh", [](const output& x) { return cosh(x); });
  one("atan", [](const output& x) { return atan(x); });
  one("tanh", [](const output& x) { return tanh(x); });
  one("sigmoid", [](const output& x) { return sigmoid(x); });
  one("expm1", [](const output& x) { return expm1(x); });
  one("log1p", [](const output& x) { return log1p(x); });
  one("square", [](const output& x) { return square(x); });
  one("sqrt", [](const output& x) { return sqrt(x); });
  one("rsqrt", [](const output& x) { return rsqrt(x); });
  one("reciprocal", [](const output& x) { return reciprocal(x); });
  one("negative", [](const output& x) { return -x; });
  one("conj", [](const output& x) { return conj(x); });
  one("abs", [](const output& x) { return abs(x); });
  one("angle", [](const output& x) { return angle(x); });
  one("real", [](const output& x) { return real(x); });
  one("imag", [](const output& x) { return imag(x); });
}

TEST_CASE("gradients of arithmetic of complex numbers") {
  const auto two = [](const char* name, output (*f)(const output&, const output&), const tensor_value& x, const tensor_value& y) {
    check(name, [f](const std::vector<output>& given) { return f(given[0], given[1]); }, {x, y});
  };
  two("add", [](const output& x, const output& y) { return x + y; }, z, w);
  two("subtract", [](const output& x, const output& y) { return x - y; }, z, w);
  two("multiply", [](const output& x, const output& y) { return x * y; }, z, w);
  two("divide", [](const output& x, const output& y) { return x / y; }, z, w);
  two("divide_no_nan", [](const output& x, const output& y) { return div_no_nan(x, y); }, z, w);
  two("pow", [](const output& x, const output& y) { return pow(x, y); }, z, w);
  two("mul_broadcast", [](const output& x, const output& y) { return x * y; }, z.reshaped(shape(2, {2, 2})),
      tensor_value(numbers{{0.5, -1}, {2, 2}}));
  two("complex", [](const output& x, const output& y) { return complex(x, y); }, wave(shape(2, {2, 2}), 1, dtype::float64),
      wave(shape(1, {2}), 2, dtype::float64));
  two("bias", [](const output& x, const output& y) { return call_operator(x.owner(), "BiasAdd", {x, y}).result(); }, a,
      wave(shape(1, {3}), 5, complex128_dtype));
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const std::string flags = std::string(ta ? "1" : "0") + (tb ? "1" : "0");
      const tensor_value x = ta ? turned(a) : a, y = tb ? turned(b) : b;
      check("matmul " + flags, [=](const std::vector<output>& in) { return matmul(in[0], in[1], {.transpose_a = ta, .transpose_b = tb}); },
            {x, y});
      if (ta || tb)
        check("bmm " + flags,
              [=](const std::vector<output>& in) {
                return call_operator(in[0].owner(), "BatchMatMulV2", {in[0], in[1]}, {{"adj_x", ta}, {"adj_y", tb}}).result();
              },
              {batched(x), batched(y)});
    }
}

TEST_CASE("gradients of sums, products, conversions and movements of complex numbers") {
  const auto one = [](const char* name, const function& f, const tensor_value& x) { check(name, f, {x}); };
  one("sum", [](const std::vector<output>& x) { return reduce_sum(x[0], 1); }, a);
  one("mean", [](const std::vector<output>& x) { return reduce_mean(x[0], 0); }, a);
  one("cumsum", [](const std::vector<output>& x) { return cumsum(x[0], 1); }, a);
  one("transpose", [](const std::vector<output>& x) { return conjugate_transpose(x[0], {1, 0}); }, a);
  one("cast_cr", [](const std::vector<output>& x) { return cast(x[0], dtype::float64); }, a);
  one("cast_rc", [](const std::vector<output>& x) { return cast(x[0], complex128_dtype); }, wave(shape(2, {2, 3}), 1, dtype::float64));
  one("cast_cc", [](const std::vector<output>& x) { return cast(x[0], complex64_dtype); }, a);
  one("segsum", [](const std::vector<output>& x) { return unsorted_segment_sum(x[0], {1, 0}, 3); }, a);
  one("gather", [](const std::vector<output>& x) { return gather(x[0], {1, 1, 0}); }, a);
  one("pad", [](const std::vector<output>& x) { return pad(x[0], {{1, 0}, {0, 2}}); }, a);
  one("slice", [](const std::vector<output>& x) { return index(x[0], {along::all(), along::from(1)}); }, a);
}

TEST_CASE("gradients of Fourier transforms") {
  const auto line = [](std::int64_t n, dtype type) { return wave(shape(1, {n}), 1, type); };
  for (const std::int64_t n : {2, 6}) {
    check("fft " + std::to_string(n), [](const std::vector<output>& x) { return fft(x[0]); }, {line(n, complex128_dtype)});
    check("ifft " + std::to_string(n), [](const std::vector<output>& x) { return ifft(x[0]); }, {line(n, complex128_dtype)});
  }
  for (const std::int64_t n : {2, 5, 6, 7}) {
    check("rfft " + std::to_string(n), [](const std::vector<output>& x) { return rfft(x[0]); }, {line(n, dtype::float64)});
    check("irfft " + std::to_string(n), [n](const std::vector<output>& x) { return irfft(x[0], static_cast<std::int32_t>(n)); },
          {line(n / 2 + 1, complex128_dtype)});
  }
  const tensor_value image = wave(shape(2, {3, 4}), 1, complex128_dtype);
  check("fft2d 3x4", [](const std::vector<output>& x) { return fft2d(x[0]); }, {image});
  check("ifft2d 3x4", [](const std::vector<output>& x) { return ifft2d(x[0]); }, {image});
  const std::vector<std::pair<std::int32_t, std::int32_t>> sizes{{3, 4}, {2, 5}, {4, 6}};
  for (const auto& [rows, columns] : sizes) {
    const std::string its = std::to_string(rows) + "x" + std::to_string(columns);
    check("rfft2d " + its, [](const std::vector<output>& x) { return rfft2d(x[0]); }, {wave(shape(2, {rows, columns}), 1, dtype::float64)});
    check("irfft2d " + its, [rows = rows, columns = columns](const std::vector<output>& x) { return irfft2d(x[0], {rows, columns}); },
          {wave(shape(2, {rows, columns / 2 + 1}), 1, complex128_dtype)});
  }
  const tensor_value volume = wave(shape(3, {2, 3, 2}), 1, complex128_dtype);
  check("fft3d", [](const std::vector<output>& x) { return fft3d(x[0]); }, {volume});
  check("ifft3d", [](const std::vector<output>& x) { return ifft3d(x[0]); }, {volume});
}

TEST_CASE("gradients through spectra and filters") {
  const function power = [](const std::vector<output>& x) { return reduce_sum(square(abs(rfft(x[0]))), all_axes); };
  check("power", power, {wave(shape(2, {2, 8}), 1, dtype::float64)});
  check("power32", power, {wave(shape(2, {2, 7}), 1, dtype::float32)});
  check("filter", [](const std::vector<output>& x) { return real(ifft(fft(x[0]) * x[1])); },
        {wave(shape(2, {2, 6}), 1, complex128_dtype), wave(shape(1, {6}), 4, complex128_dtype)});
}

TEST_CASE("gradients of complex numbers have TensorFlow's nodes, and refuse what they do not know") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(dtype::float64, {8}, "x0");
  const output y = reduce_sum(square(abs(rfft(x))), all_axes);
  gradients({y}, {x});
  const auto type_of = [&](const char* name) { return get_operation_by_name(g, name).type(); };
  CHECK(type_of("rfft") == "RFFT");
  CHECK(type_of("Abs") == "ComplexAbs");
  CHECK(type_of("gradients/Abs_grad/zeros_like") == "Const");
  CHECK(type_of("gradients/Abs_grad/Complex_1") == "Complex");
  CHECK(type_of("gradients/Abs_grad/div_no_nan") == "DivNoNan");
  CHECK(type_of("gradients/rfft_grad/strided_slice_4") == "StridedSlice");
  CHECK(type_of("gradients/rfft_grad/mod_1") == "FloorMod");
  CHECK(type_of("gradients/rfft_grad/sub_1") == "Sub");
  CHECK(type_of("gradients/rfft_grad/mul_2") == "Mul");
  CHECK(type_of("gradients/rfft_grad/Cast_2") == "Cast");
  CHECK(type_of("gradients/rfft_grad/irfft") == "IRFFT");
  CHECK(type_of("gradients/rfft_grad/Real") == "Real");
  CHECK(type_of("gradients/rfft_grad/mul_4") == "Mul");

  const output c = placeholder(complex128_dtype, {2}, "c");
  const output product = c * c;
  const output slope = gradients({product}, {c}, {.grad_ys = {c}})[0];
  CHECK(slope.type() == complex128_dtype);
  CHECK(type_of("gradients_1/mul_grad/Conj") == "Conj");
  CHECK(type_of("gradients_1/mul_grad/Conj_1") == "Conj");
  CHECK(says(message_of<invalid_argument>([&] { gradients({product}, {c}); }), "Gradients of complex tensors must set grad_ys"));
  CHECK(says(message_of<unimplemented>([&] {
               gradients({real(call_operator(g, "Xlogy", {c, c}).result())}, {c});
             }),
             "Xlogy", "not known for complex numbers"));
  const output v = placeholder(dtype::float32, {2, 2, 2}, "v");
  CHECK(says(message_of<unimplemented>([&] { gradients({abs(rfft3d(v))}, {v}); }), "RFFT3D"));
}

}  // namespace gradient_complex_tests
