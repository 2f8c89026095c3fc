#pragma once
// Common definitions of the parts of <leat/separate.hpp>. A source that includes one part compiles the bodies that this part lists, and
// only these; it has declarations of the others. The part must be included before any other header of the library.

#if defined(LEAT_SEPARATE_COMPILATION) && defined(LEAT_WITH_BODIES) && !defined(LEAT_SEPARATE_SOURCE)
#error "include <leat/separate.hpp> before the library's other headers"
#endif
#define LEAT_SEPARATE_SOURCE

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
// Each function is defined by the part of that name. The sessions refer to all of them, so that a linker takes every part's object from a
// library: some of these objects do nothing but fill tables before main.
bool link_leat_separate_graphs();
bool link_leat_separate_kernels();
bool link_leat_separate_files();
bool link_leat_separate_training();
bool link_leat_separate_cluster();
}  // namespace leat::detail
#endif
