#pragma once
// What the parts of <leat/separate.hpp> have in common. A source that includes one of them compiles the bodies that it lists, and only
// these; of others it has declarations. It comes first, before any other header of the library.

#if defined(LEAT_SEPARATE_COMPILATION) && defined(LEAT_WITH_BODIES) && !defined(LEAT_SEPARATE_SOURCE)
#error "include <leat/separate.hpp> before the library's other headers"
#endif
#define LEAT_SEPARATE_SOURCE

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
// Each defined by the part of its name. The sessions refer to all of them, so that a linker takes the objects of all from a library: some
// do nothing but fill tables before the program begins.
bool link_leat_separate_graphs();
bool link_leat_separate_kernels();
bool link_leat_separate_files();
bool link_leat_separate_training();
bool link_leat_separate_cluster();
}  // namespace leat::detail
#endif
