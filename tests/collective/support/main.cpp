// doctest's main for programs that mpirun starts: the ranks' communicator lives as long as the tests, and all ranks run the same ones.
#define DOCTEST_CONFIG_IMPLEMENT
#include <leat/collective/communicator.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int argc, char** argv) {
  try {
    leat::collective::communicator_options options{.timeout = std::chrono::seconds(60)};
    if (const char* most = std::getenv("LEAT_TEST_DIRECT_RANKS")) options.direct_ranks = std::atoi(most);
    const leat::collective::communicator ranks(options);
    return doctest::Context(argc, argv).run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
