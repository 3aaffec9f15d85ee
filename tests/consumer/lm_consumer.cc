// The dearest component, which stands on all others.
#include <cstdio>

#include "resmem/lm/text_report.h"

int main() {
  const auto set = resmem::TokenSet::Open("there is none");
  std::printf("%s\n", set.status().message().c_str());
  return set.status().code() == resmem::ErrorCode::kNotFound ? 0 : 1;
}
