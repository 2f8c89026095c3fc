// A user's source that was told which of the two it is compiled with.
#include <leat/core/function_bodies.hpp>

#if defined(LEAT_SEPARATE_COMPILATION) && defined(EXPECTS_HEADERS_ALONE)
#error "leat::header_only brings the ready-made runtime"
#elif !defined(LEAT_SEPARATE_COMPILATION) && !defined(EXPECTS_HEADERS_ALONE)
#error "leat::leat does not bring the ready-made runtime"
#endif
