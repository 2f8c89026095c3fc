#pragma once
// The families of cases; each adds its own to the suite.

namespace bench {

class suite;

void derivatives(suite& cases);
void filters(suite& cases);
void bundle(suite& cases);
void mixture(suite& cases);
void loops(suite& cases);

}  // namespace bench
