#include <leat/proto/data_type.hpp>

#include <doctest/doctest.h>

using namespace leat;

TEST_CASE("every number that has a name is found by it, references too") {
  int named = 0;
  for (int i = -10; i < 300; ++i) {
    const auto d = static_cast<data_type>(i);
    const auto found = data_type_by_name(name_of_data_type(d));
    if (is_known(d)) {
      ++named;
      CHECK(found == d);
    } else {
      CHECK_FALSE(found.has_value());
      CHECK(name_of_data_type(d) == std::to_string(i));
    }
  }
  CHECK(named == 34 + 33);
}

TEST_CASE("names are TensorFlow's") {
  CHECK(name_of_data_type(data_type::float32) == "DT_FLOAT");
  CHECK(name_of_data_type(data_type::boolean) == "DT_BOOL");
  CHECK(name_of_data_type(data_type::uint64) == "DT_UINT64");
  CHECK(name_of_data_type(data_type::float4_e2m1fn) == "DT_FLOAT4_E2M1FN");
  CHECK(name_of_data_type(reference_to(data_type::int32)) == "DT_INT32_REF");
  CHECK(static_cast<int>(*data_type_by_name("DT_HALF_REF")) == 119);
  for (auto wrong : {"", "FLOAT", "DT_", "DT_FLOATX", "dt_float", "DT_INVALID_REF", "DT_FLOAT_REF_REF"})
    CHECK_FALSE(data_type_by_name(wrong).has_value());
}

TEST_CASE("references lead to their elements and back") {
  CHECK(base_of(data_type::float32) == data_type::float32);
  CHECK(base_of(reference_to(data_type::string)) == data_type::string);
  CHECK(reference_to(reference_to(data_type::string)) == reference_to(data_type::string));
  CHECK(reference_to(data_type::invalid) == data_type::invalid);
  CHECK_FALSE(is_reference(data_type::invalid));
  CHECK_FALSE(is_reference(static_cast<data_type>(100)));
}

TEST_CASE("the library's own six are among them") {
  for (auto d : {dtype::float32, dtype::float64, dtype::int32, dtype::uint8, dtype::int64, dtype::boolean}) {
    CHECK(to_dtype(to_data_type(d)) == d);
    CHECK(content_size_of(to_data_type(d)) == size_of(d));
  }
  CHECK(to_dtype(data_type::half) == dtype::invalid);
  CHECK(to_dtype(reference_to(data_type::float32)) == dtype::invalid);
  CHECK(content_size_of(data_type::string) == 0);
  CHECK(content_size_of(reference_to(data_type::float32)) == 0);
  CHECK(content_size_of(static_cast<data_type>(1000)) == 0);
}
