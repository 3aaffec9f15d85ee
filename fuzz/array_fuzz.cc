// libFuzzer's entry for the readers of arrays: the first byte chooses the name that the rest is
// read under, the rest is the file.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/test_seeds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<resmem::Seed> kSeeds = resmem::Seeds();
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)resmem::ReadEverything(kSeeds[data[0] % kSeeds.size()].name, content).ok();
  return 0;
}
