// A process that memory_kill_test kills.
//   kill_child <operation> <path> <call>   runs one operation, SIGKILL at that call
//   kill_child loop <path>                 append, delete, compact, again, until killed
#include <cstdlib>
#include <string>

#include "corrupt/memory_operations.h"
#include "fixtures/faulty_file_system.h"

int main(int argc, char** argv) {
  using namespace resmem;
  if (argc < 3) return 2;
  const std::string name = argv[1], path = argv[2];
  if (name == "loop") {
    while (true) {
      if (!AppendRows(FileSystem::Posix(), path).ok()) return 3;
      if (!DeleteAppended(FileSystem::Posix(), path).ok()) return 4;
      if (!CompactMemory(path).ok()) return 5;
    }
  }
  fixtures::FaultyFileSystem files(fixtures::FaultyFileSystem::Fault::kKill, std::atoll(argv[3]));
  for (const Operation& operation : EveryOperationOnDisk()) {
    if (operation.name == name) return operation.run(files, path).ok() ? 0 : 1;
  }
  return 2;
}
