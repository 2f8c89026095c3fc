// A library of CMake needs a source; this one only carries flags.
