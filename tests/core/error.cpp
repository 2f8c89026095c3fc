#include <leat/core/error.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <leat/core/early.hpp>
#include <leat/core/memory.hpp>

#include <cstdint>
#include <string>

using namespace leat;

namespace {

struct filled_table {
  int size;
  filled_table();
};
// The table stands first, and is filled before it is made.
extern int early_size;
filled_table::filled_table() : size(early_size) {}
const filled_table late_table;
int early_size = 0;
LEAT_EARLY const detail::filled_early early_filling{[] { early_size = 3; }};

}  // namespace

TEST_CASE_TEMPLATE("each is caught as itself, as an error of the library and as a runtime_error", E, invalid_argument, failed_precondition,
                   not_found, already_exists, out_of_range, data_loss, unimplemented) {
  CHECK_THROWS_WITH_AS(throw E("which"), "which", E);
  CHECK_THROWS_AS(throw E("which"), error);
  CHECK_THROWS_AS(throw E("which"), std::runtime_error);
}

#if defined(__GNUC__) && !defined(__APPLE__)
TEST_CASE("what is filled early is full for the global objects before it") { CHECK(late_table.size == 3); }
#endif

TEST_CASE("a meter counts bytes up to its limit, and what is given back can be taken again") {
  memory_meter* const meter = memory_meter::make(100);
  meter->take(60);
  CHECK(meter->used() == 60);
  CHECK(leat_test::says(leat_test::message_of<resource_exhausted>([&] { meter->take(41); }),
                        "an array of 41 bytes: of the limit of 100 bytes (memory_limit_in_bytes) 60 are taken"));
  CHECK(meter->used() == 60);  // nothing of what did not fit
  meter->take(40);
  CHECK(meter->used() == meter->limit());
  meter->give(100);
  CHECK(meter->used() == 0);
  meter->let_go();
}

TEST_CASE("bytes are taken from the meter in scope, and given back there") {
  memory_meter* const meter = memory_meter::make(100);
  metered_bytes held, free;
  free.take(1000);  // no meter, no limit
  {
    const memory_scope scope(meter);
    held.take(70);
    CHECK_THROWS_AS(free.take(31), resource_exhausted);
    held.take(90);  // in place of the 70
    CHECK(meter->used() == 90);
    const memory_scope none(nullptr);
    free.take(1000);
  }
  CHECK(memory_meter::current() == nullptr);
  CHECK(meter->used() == 90);
  held.give_back();
  CHECK(meter->used() == 0);
  held.give_back();  // has nothing any more
  CHECK(meter->used() == 0);
  meter->let_go();
}

TEST_CASE("memory is aligned to 64 bytes, and what the system does not have is resource_exhausted") {
  void* const memory = allocate_aligned(10);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
  ::operator delete(memory, std::align_val_t{64});
}
