#include <leat/io/npy.hpp>

#include "support/check.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;

namespace {

std::string npy(std::string header, const std::string& elements, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + elements;
}
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class Error>
std::string problem(const std::string& bytes) {
  try {
    io::read_npy(bytes);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("what numpy writes is read") {
  const auto t = io::read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", raw<float>({1, 2, 3, 4, 5, 6.5f})));
  CHECK(t == make_tensor_proto(std::vector<float>{1, 2, 3, 4, 5, 6.5f}, {2, 3}));
  CHECK(io::read_npy(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", raw<std::int64_t>({-7}), 2)) ==
        make_tensor_proto(std::int64_t{-7}));
  CHECK(io::read_npy(npy("{'descr':'|u1','fortran_order':True,'shape':(1,)}", "\xff", 3)) ==
        make_tensor_proto(std::vector<std::uint8_t>{255}, {1}));
  CHECK(io::read_npy(npy("{'shape': (0, 3), 'fortran_order': False, 'descr': '<f8'}", "")) ==
        make_tensor_proto(std::vector<double>{}, {0, 3}));
}

TEST_CASE("what is written is read again") {
  const std::vector<tensor_proto> all{make_tensor_proto(std::vector<float>{1, -2}, {2}),
                                      make_tensor_proto(std::vector<double>{1, -2, 0.1, 4}, {2, 1, 2}),
                                      make_tensor_proto(std::vector<std::int32_t>{1, -2, 3}, {1, 3}),
                                      make_tensor_proto(std::int64_t{5}),
                                      make_tensor_proto(std::uint8_t{200}),
                                      make_tensor_proto(std::vector<bool>{true, false, true}, {3}),
                                      make_tensor_proto(std::vector<float>{}, {2, 0})};
  for (const auto& t : all) {
    const auto bytes = io::write_npy(t);
    CHECK(io::read_npy(bytes) == t);
    CHECK((bytes.size() - static_cast<std::size_t>(*element_count(t.shape) * content_size_of(t.dtype))) % 64 == 0);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) CHECK_THROWS_AS(io::read_npy(bytes.substr(0, cut)), data_loss);
  }
  CHECK(io::write_npy(all[0]).find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") == 10);
  CHECK_THROWS_AS(io::write_npy(make_tensor_proto("text")), invalid_argument);
}

TEST_CASE("what is wrong is told") {
  const auto header = [](const std::string& type, const std::string& order, const std::string& sizes) {
    return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + sizes + "), }";
  };
  CHECK(problem<data_loss>("PK\3\4") == "not a NPY file");
  CHECK(problem<unimplemented>(npy(header(">f4", "False", "2,"), raw<float>({1, 2}))).find("big endian") != std::string::npos);
  CHECK(problem<unimplemented>(npy(header("<f2", "False", "2,"), "1234")).find("\"<f2\" is none of float32") != std::string::npos);
  CHECK(problem<unimplemented>(npy(header("<f4", "True", "2, 1"), raw<float>({1, 2}))).find("columns first") != std::string::npos);
  CHECK(problem<unimplemented>(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "1234")).find("several fields") !=
        std::string::npos);
  CHECK(problem<unimplemented>(npy("{}", "", 4)).find("version 4") != std::string::npos);
  CHECK(problem<data_loss>(npy(header("<f4", "False", "3,"), raw<float>({1, 2}))) ==
        "NPY: 8 bytes of elements, which is not shape [3] of DT_FLOAT");
  CHECK(problem<data_loss>(npy(header("<f4", "False", "99999999999999999999"), "")).find("beyond 2^63") != std::string::npos);
  CHECK(problem<data_loss>(npy(header("<f4", "False", "4294967296, 4294967296"), "")).find("more than 2^63 elements") != std::string::npos);
  CHECK(problem<data_loss>(npy(header("<f4", "False", "-1,"), "")).find("no list of sizes") != std::string::npos);
  CHECK(problem<data_loss>(npy(header("<f4", "Maybe", "1,"), "1234")).find("neither True nor False") != std::string::npos);
  CHECK(problem<data_loss>(npy(header("|b1", "False", "1,"), "\2")).find("neither 0 nor 1") != std::string::npos);
  CHECK(problem<data_loss>(npy("{'descr': '<f4', 'descr': '<f4'}", "")).find("once each") != std::string::npos);
  CHECK(problem<data_loss>(npy("{'descr': '<f4'}", "")).find("lacks descr, fortran_order or shape") != std::string::npos);
  CHECK(problem<data_loss>(npy("{'descr': '<f4", "")).find("cut off") != std::string::npos);
  CHECK(problem<data_loss>(npy(header("<f4", "False", "1,") + "x", "1234")).find("behind its end") != std::string::npos);
  CHECK(problem<data_loss>(npy("{'descr\xff': '<f4'}", "")).find("the key \"descr\\xff\"") != std::string::npos);
}
