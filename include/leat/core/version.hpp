#pragma once
// The library's version, also read by CMakeLists.txt. Objects, or a compiled runtime, of different versions cannot be linked together.

#define LEAT_VERSION_MAJOR 0
#define LEAT_VERSION_MINOR 1
#define LEAT_VERSION_PATCH 0

#define LEAT_TEXT_OF_(...) #__VA_ARGS__
#define LEAT_TEXT_OF(...) LEAT_TEXT_OF_(__VA_ARGS__)
#define LEAT_VERSION_TEXT LEAT_TEXT_OF(LEAT_VERSION_MAJOR) "_" LEAT_TEXT_OF(LEAT_VERSION_MINOR) "_" LEAT_TEXT_OF(LEAT_VERSION_PATCH)
