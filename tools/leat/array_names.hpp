#pragma once
// File names of arrays, as `leat run --format npy` writes and `--variables FOLDER` reads them. A name belongs to one file whatever else
// is written: letters, digits, and most other characters stay; what file systems reserve becomes %XX, as in URLs; '/' makes folders.

#include <string>
#include <string_view>

namespace tool {

/// The file of an array: "scope/y" is scope/y.npy, "y:1" y%3A1.npy. Different names have different files, none of them outside of the
/// folder and none in place of another's folder.
std::string array_file(std::string_view name);

/// The name of the array in a file such as scope/y.npy, whose path within the folder is given. A % without a code stands for itself.
std::string array_name(std::string_view file);

}  // namespace tool
