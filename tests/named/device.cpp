#include <leat/named/graph/device.hpp>

#include <leat/core/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("numbers are read as Python reads them, and types as TensorFlow writes them") {
  const std::vector<std::pair<const char*, const char*>> canonical{{"/task:-1", "/task:-1"},
                                                                   {"/task:+1", "/task:1"},
                                                                   {"/task: 1 ", "/task:1"},
                                                                   {"/task:1_0", "/task:10"},
                                                                   {"/task:-0", "/task:0"},
                                                                   {"/replica:-2/gpu:-1", "/replica:-2/device:GPU:-1"},
                                                                   {"/task:99999999999999", "/task:99999999999999"},
                                                                   {"/device:gpu:0", "/device:GPU:0"},
                                                                   {"/device:tpu:0", "/device:tpu:0"},
                                                                   {"/tpu:0", "/device:TPU:0"},
                                                                   {"/Gpu", "/device:GPU:*"}};
  for (const auto& [text, whole] : canonical) {
    INFO(text);
    CHECK(parse_device(text).text() == whole);
    CHECK(parse_device(whole).text() == whole);
  }
}

TEST_CASE("what is no device is refused with its text") {
  for (const char* text : {"/task:", "/task:-", "/task:--1", "/task:- 1", "/task:_1", "/task:1_", "/task:1__0", "/task:1.5", "/task:0x1",
                           "/task:9999999999999999999999", "/device:GPU:x", "/device:GPU:", "/device:GPU:0:1", "/cpu:0:1", "/gpu: *", "/job",
                           "/replica", "/job:a:b", "/XLA_GPU:0"}) {
    INFO(text);
    CHECK_THROWS_AS(static_cast<void>(parse_device(text)), invalid_argument);
  }
}
