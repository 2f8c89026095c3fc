#include <leat/separate/sessions.hpp>
