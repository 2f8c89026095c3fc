#include <leat/named/graph/device.hpp>

#include <leat/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace leat;

TEST_CASE("a device's name has parts, and inner ones take precedence") {
  const auto spec = parse_device("/job:ps/task:3/gpu:1");
  CHECK(spec.job == "ps");
  CHECK(spec.task == 3);
  CHECK_FALSE(spec.replica.has_value());
  CHECK(spec.type == "GPU");
  CHECK(spec.index == 1);
  CHECK(spec.text() == "/job:ps/task:3/device:GPU:1");
  CHECK(parse_device(spec.text()) == spec);
  CHECK(merge_devices("/job:ps/task:3/gpu:1", "/task:0/cpu:*") == "/job:ps/task:0/device:CPU:1");
  CHECK(merge_devices("/job:ps", "") == "/job:ps");
}

TEST_CASE("what is no device is refused with its text") {
  for (const char* text :
       {"/task:-1", "/task:", "/task:99999999999999", "/device:GPU:x", "/device:GPU:0:1", "/cpu:0:1", "/job", "/replica", "/job:a:b"}) {
    INFO(text);
    CHECK_THROWS_AS(static_cast<void>(parse_device(text)), invalid_argument);
  }
}
