// What our own programs that have graphs at run time share.
#include <leat/separate.hpp>
