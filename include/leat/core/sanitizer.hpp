#pragma once
// Defines LEAT_ADDRESS_SANITIZER or LEAT_THREAD_SANITIZER if the source is compiled with that sanitizer: g++ indicates a sanitizer by a
// macro of its own, clang by a feature.

#if defined(__SANITIZE_ADDRESS__)
#define LEAT_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define LEAT_THREAD_SANITIZER
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(LEAT_ADDRESS_SANITIZER)
#define LEAT_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer) && !defined(LEAT_THREAD_SANITIZER)
#define LEAT_THREAD_SANITIZER
#endif
#endif
