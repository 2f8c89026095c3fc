#include <leat/cluster/attendance.hpp>

#include <doctest/doctest.h>

using leat::cluster::attendance;

TEST_CASE("tasks have ended when each has come and has said goodbye") {
  attendance of;
  CHECK(of.is_for_nobody());
  of.await("worker", 0);
  of.await("worker", 1);
  CHECK_FALSE(of.is_for_nobody());
  CHECK_FALSE(of.have_all_ended());
  of.came(1, "worker", 0);
  CHECK_FALSE(of.left(7, true));  // somebody else
  CHECK(of.left(1, true));
  CHECK_FALSE(of.left(1, true));  // once
  CHECK_FALSE(of.have_all_ended());  // worker 1 has not been here
  of.came(2, "worker", 1);
  of.came(3, "worker", 1);
  CHECK_FALSE(of.left(2, true));  // it has another connection
  CHECK(of.left(3, true));
  CHECK(of.have_all_ended());
}

TEST_CASE("a task that was killed is waited for until it comes back and ends") {
  attendance of;
  of.await("worker", 0);
  of.came(1, "worker", 0);
  CHECK_FALSE(of.left(1, false));
  CHECK_FALSE(of.have_all_ended());
  of.came(2, "worker", 0);
  CHECK(of.left(2, true));
  CHECK(of.have_all_ended());
  of.came(3, "worker", 0);  // started once more
  CHECK_FALSE(of.have_all_ended());
}

TEST_CASE("tasks that nobody waits for count for nothing") {
  attendance of;
  of.await("worker", 0);
  of.came(1, "worker", 1);
  of.came(2, "ps", 0);
  CHECK_FALSE(of.left(1, true));
  CHECK_FALSE(of.left(2, true));
  CHECK_FALSE(of.have_all_ended());
}
