#include <leat/separate/files.hpp>
