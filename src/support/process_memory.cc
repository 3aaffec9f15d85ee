#include "support/process_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace resmem {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

int64_t LimitIn(const std::string& file) {
  int64_t bytes = 0;
  return std::ifstream(file) >> bytes && bytes > 0 ? bytes : kNoLimit;  // "max" is no number
}

// The least limit of the group at `path` and of those around it.  A container may see its own group
// as the root, and the path as the host names it: then only the root is there.
int64_t LeastLimit(const std::string& groups, std::string path, const std::string& name) {
  int64_t least = LimitIn(groups + "/" + name);
  while (path.size() > 1) {
    least = std::min(least, LimitIn(groups + path + "/" + name));
    path.resize(path.rfind('/'));
  }
  return least;
}

}  // namespace

int64_t MemoryOfControlGroups(const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup";
  int64_t least = kNoLimit;
  std::ifstream file(root + "/proc/self/cgroup");
  // Lines such as 0::/user.slice (version 2) or 9:memory:/docker/1f (version 1).
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, LeastLimit(groups, path, "memory.max"));
    } else if (controllers == "memory") {
      least = std::min(least, LeastLimit(groups + "/memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

int64_t ProcessMemory() {
  static const int64_t bytes = [] {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const int64_t machine = pages > 0 && page > 0 ? pages * page : int64_t{8} << 30;
    return std::min(machine, MemoryOfControlGroups(""));
  }();
  return bytes;
}

}  // namespace resmem
