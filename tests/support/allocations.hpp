#pragma once
// Counts what asks the heap, for tests that are programs of their own: it replaces operator new and malloc.

#include <leat/core/sanitizer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <dlfcn.h>

namespace {
std::atomic<long> allocations{0};
}  // namespace

#if defined(LEAT_ADDRESS_SANITIZER) && defined(__clang__)
// clang's address sanitizer is part of the program, and starts after libraries that ask the heap: it counts itself.
#include <sanitizer/allocator_interface.h>
namespace {
[[maybe_unused]] const int counted_by_sanitizer =
    __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t) { ++allocations; }, [](const volatile void*) {});
}  // namespace
#else

// Every way to the heap counts: operator new in all its forms, and what lies below it.
namespace {
void* counted_or_null(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* counted(std::size_t size, std::size_t alignment) {
  if (void* p = counted_or_null(size, alignment)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, 16); }
void* operator new[](std::size_t size) { return counted(size, 16); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return counted(size, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size, 16); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size, 16); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(size, static_cast<std::size_t>(alignment));
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // where one of them is called in place and the other is not
#endif
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

// The sanitizers have a malloc of their own, which is left alone.
#if !defined(LEAT_ADDRESS_SANITIZER) && !defined(LEAT_THREAD_SANITIZER)
extern "C" void* malloc(std::size_t size) {
  static const auto next = reinterpret_cast<void* (*)(std::size_t)>(dlsym(RTLD_NEXT, "malloc"));
  ++allocations;
  return next(size);
}
#endif
#endif

namespace leat_test {

// How often the heap is asked while `step` runs, after two runs that warm it up.
template <class Step>
long count(Step step) {
  step();
  step();
  const long before = allocations.load();
  step();
  step();
  return allocations.load() - before;
}

}  // namespace leat_test
