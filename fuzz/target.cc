#include "fuzz/target.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "data/test_seeds.h"

namespace resmem {

std::vector<Seed> Seeds() {
  std::vector<Seed> seeds;
  for (const Kind& kind : Kinds()) {
    const Status status = kind.read(kind.sound);
    if (!status.ok()) {
      std::fprintf(stderr, "%s: %s\n", kind.name.c_str(), status.message().c_str());
      std::abort();
    }
    seeds.push_back({kind.name, kind.sound, false});
  }
  return seeds;
}

void Require(bool sound) {
  if (!sound) std::abort();
}

void Expect(const Status& status) {
  if (status.ok()) return;
  if (!status.message().empty() && status.code() != ErrorCode::kInternal) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::abort();
}

}  // namespace resmem

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<resmem::Kind> kKinds = resmem::Kinds();
  if (size == 0) return 0;
  const std::vector<char> input(data + 1, data + size);
  resmem::Expect(kKinds[data[0] % kKinds.size()].read({input.data(), input.size()}));
  return 0;
}
