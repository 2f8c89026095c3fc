#pragma once
// How much memory this process holds, as Linux tells it.

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

namespace bench {

/// Bytes of a line of /proc/self/status: "VmRSS" for what is resident now, "VmHWM" for the most that ever was. 0 elsewhere.
inline std::size_t process_bytes(const std::string& what) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(what + ":")) continue;
    std::istringstream rest(line.substr(what.size() + 1));
    std::size_t kilobytes = 0;
    rest >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace bench
