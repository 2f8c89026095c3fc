#include "environment.hpp"

#include <unistd.h>

#include <cstdlib>

namespace bench {
namespace {

const char* openblas_kernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && !__builtin_cpu_is("amd")) return "SkylakeX";
  if (__builtin_cpu_supports("avx2")) return "Haswell";
#endif
  return nullptr;
}

bool set_unless_set(const char* name, const char* value) {
  return value != nullptr && std::getenv(name) == nullptr && setenv(name, value, 1) == 0;
}

}  // namespace

void prepare_environment(char** arguments) {
  bool changed = set_unless_set("OPENBLAS_CORETYPE", openblas_kernels());
  changed |= set_unless_set("GOMP_SPINCOUNT", "20000");
  changed |= set_unless_set("OPENBLAS_THREAD_TIMEOUT", "20");
  if (changed) execv("/proc/self/exe", arguments);  // returns only if it failed; then we go on as we are
}

}  // namespace bench
