// Makes a node whose kernel no other source compiles.

#include <leat/summary/named_summary.hpp>

leat::output summary_of(const leat::output& x);
leat::output summary_of(const leat::output& x) { return leat::summary::scalar("loss", x); }
