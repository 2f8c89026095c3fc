#pragma once
// The families of cases; each adds its own to the suite.

namespace bench {

class suite;

void linear(suite& cases);
void network(suite& cases);
void fused(suite& cases);
void reductions(suite& cases);
void softmax(suite& cases);
void matmul(suite& cases);
void tiny(suite& cases);
void slices(suite& cases);
void rows(suite& cases);

}  // namespace bench
