#include <leat/named/graph/device.hpp>

#include "support/reference_json.hpp"

#include <leat/core/error.hpp>

#include <string>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

TEST_CASE("device names are read and merged as by TensorFlow") {
  const auto reference = reference_json("placement.json");
  if (!reference) return;
  for (const auto& row : (*reference)["device_strings"]) {
    const std::string text = row["text"];
    INFO(text);
    if (row.contains("error")) {
      CHECK_THROWS_AS(static_cast<void>(parse_device(text)), invalid_argument);
      continue;
    }
    const auto spec = parse_device(text);
    CHECK((spec.job ? json(*spec.job) : json()) == row["job"]);
    CHECK((spec.replica ? json(*spec.replica) : json()) == row["replica"]);
    CHECK((spec.task ? json(*spec.task) : json()) == row["task"]);
    CHECK((spec.type ? json(*spec.type) : json()) == row["device_type"]);
    CHECK((spec.index ? json(*spec.index) : json()) == row["device_index"]);
    CHECK(json(spec.text()) == row["canonical"]);
  }
  for (const auto& row : (*reference)["device_merges"])
    CHECK(json(merge_devices(row["outer"].get<std::string>(), row["inner"].get<std::string>())) == row["result"]);
}
