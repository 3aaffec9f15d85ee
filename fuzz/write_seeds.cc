// Beside libFuzzer's own main(): with WRITE_SEEDS=FOLDER in the environment the target writes its
// sound inputs there and ends.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "data/test_seeds.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("WRITE_SEEDS");
  if (folder == nullptr) return 0;
  const std::vector<resmem::Seed> seeds = resmem::Seeds();
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::string(folder) + "/seed-" + std::to_string(i), std::ios::binary);
    file << static_cast<char>(i) << seeds[i].bytes;
    if (!file.flush()) std::_Exit(1);
  }
  std::_Exit(0);
}
