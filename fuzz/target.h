// A fuzz target as a list of what it reads: the first byte of an input chooses one, the rest is its
// input, in memory of its exact size.
#ifndef RESMEM_FUZZ_TARGET_H_
#define RESMEM_FUZZ_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem {

struct Kind {
  std::string name;
  std::string sound;  // an input that is read without an error
  Status (*read)(std::string_view input);
};
std::vector<Kind> Kinds();  // of the target

// Ends the process where it is false.
void Require(bool sound);
// Where it is an error: one with a sentence, and none of a bug of ours.
void Expect(const Status& status);

}  // namespace resmem

#endif  // RESMEM_FUZZ_TARGET_H_
