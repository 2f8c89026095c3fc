#pragma once
#include <leat/passes/gradient.hpp>
