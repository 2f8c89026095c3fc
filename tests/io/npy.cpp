#include <leat/io/npy.hpp>

#include "support/check.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace leat;
using namespace std::string_literals;

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

TEST_CASE("other dtypes, orders of bytes and of axes are converted where a dtype holds each value") {
  const auto header = [](const std::string& type, const std::string& order, const std::string& sizes) {
    return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + sizes + "), }";
  };
  const auto read = [&](const std::string& type, const std::string& elements, std::size_t count) {
    return io::read_npy(npy(header(type, "False", std::to_string(count) + "L,"), elements));  // as NumPy wrote sizes under Python 2
  };
  CHECK(read("<f8", raw<double>({0, 1, 2}), 3) == make_tensor_proto(std::vector<double>{0, 1, 2}, {3}));
  CHECK(read("<f2", raw<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff, 0xfc00, 0x8000, 0x0400}), 7) ==
        make_tensor_proto(std::vector<float>{1, -2, 0x1p-24f, 65504, -std::numeric_limits<float>::infinity(), -0.0f, 0x1p-14f}, {7}));
  CHECK(read("|i1", "\x80\x7f", 2) == make_tensor_proto(std::vector<std::int32_t>{-128, 127}, {2}));
  CHECK(read("<i2", raw<std::int16_t>({-32768, 7}), 2) == make_tensor_proto(std::vector<std::int32_t>{-32768, 7}, {2}));
  CHECK(read("<u2", raw<std::uint16_t>({65535, 7}), 2) == make_tensor_proto(std::vector<std::int32_t>{65535, 7}, {2}));
  CHECK(read("<u4", raw<std::uint32_t>({4294967295, 7}), 2) == make_tensor_proto(std::vector<std::int64_t>{4294967295, 7}, {2}));
  CHECK(read("<u8", raw<std::uint64_t>({INT64_MAX, 7}), 2) == make_tensor_proto(std::vector<std::int64_t>{INT64_MAX, 7}, {2}));
  CHECK(read(">f4", "\x3f\x80\0\0\xc0\0\0\0"s, 2) == make_tensor_proto(std::vector<float>{1, -2}, {2}));
  CHECK(read(">i8", "\xff\xff\xff\xff\xff\xff\xff\xfe"s, 1) == make_tensor_proto(std::vector<std::int64_t>{-2}, {1}));
  CHECK(read(">u2", "\1\2\3\4", 2) == make_tensor_proto(std::vector<std::int32_t>{258, 772}, {2}));
  CHECK(read(">f2", "\x3c\0\xc0\0"s, 2) == make_tensor_proto(std::vector<float>{1, -2}, {2}));
  CHECK(read(">b1", "\1\0"s, 2) == make_tensor_proto(std::vector<bool>{true, false}, {2}));
  CHECK(read("<i1", "", 0) == make_tensor_proto(std::vector<std::int32_t>{}, {0}));
  CHECK(io::read_npy(npy(header("<f4", "True", "2, 3"), raw<float>({1, 4, 2, 5, 3, 6}))) ==
        make_tensor_proto(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
  CHECK(io::read_npy(npy(header("|i1", "True", "2, 3"), "\1\4\2\5\3\6")) ==
        make_tensor_proto(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, {2, 3}));
  // Larger than a block, with axes between.
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{67, 35}, {5, 3, 4, 6}, {33, 1, 40}, {1, 9, 1}}) {
    std::int64_t count = 1;
    std::string shape;
    for (const auto size : sizes) count *= size, shape += std::to_string(size) + ", ";
    std::vector<std::int64_t> by_column(static_cast<std::size_t>(count)), by_row(by_column.size());
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t at = 0, rest = k, stride = 1;  // where the element of this number, row by row, stands column by column
      for (std::size_t axis = sizes.size(); axis-- > 0;) {
        stride = 1;
        for (std::size_t before = 0; before < axis; ++before) stride *= sizes[before];
        at += rest % sizes[axis] * stride;
        rest /= sizes[axis];
      }
      by_row[static_cast<std::size_t>(k)] = by_column[static_cast<std::size_t>(at)] = k;
    }
    tensor_shape_proto extent;
    for (const auto size : sizes) extent.dims.push_back({size, {}});
    CHECK(io::read_npy(npy(header("<i8", "True", shape), raw(by_column))) == make_tensor_proto(by_row, extent));
  }
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

TEST_CASE("texts that Python 2 wrote") {
  const auto made = io::read_npy(npy("{u'descr': u'<f4', u'fortran_order': False, u'shape': (2L,), }", raw<float>({1, 2})));
  CHECK(made.bytes == raw<float>({1, 2}));
  CHECK(problem<data_loss>(npy("{uu'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "1234")).find("text in quotes") !=
        std::string::npos);
}

TEST_CASE("what is wrong is told") {
  const auto header = [](const std::string& type, const std::string& order, const std::string& sizes) {
    return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + sizes + "), }";
  };
  CHECK(problem<data_loss>("PK\3\4") == "not a NPY file");
  for (const char* other : {"<c32", "<U1", "|S3", "|O", "<M8[D]", "<V8", "<f3", "<u", "", "<f24"})
    CHECK(problem<unimplemented>(npy(header(other, "False", "2,"), "1234")).find("\" is none of float16") != std::string::npos);
  CHECK(problem<unimplemented>(npy(header("<f16", "False", "1,"), std::string(16, 'x'))).find("long double") != std::string::npos);
  CHECK(problem<unimplemented>(npy(header("<V2", "False", "2,"), "1234")).find("bfloat16") != std::string::npos);
  CHECK(problem<out_of_range>(npy(header("<u8", "False", "2,"), raw<std::uint64_t>({1, 18446744073709551615u}))) ==
        "element 1 of uint64 is 18446744073709551615, which int64 does not hold");
  CHECK(problem<data_loss>(npy(header("<f2", "False", "3,"), "1234")) == "NPY: 4 bytes of elements, which is not shape [3] of \"<f2\"");
  CHECK(problem<data_loss>(npy(header("<f4", "False", "3LL,"), "")).find("lacks a comma") != std::string::npos);
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
