// What to do about what was measured, in plain sentences.
#ifndef RESMEM_EVAL_PRIVACY_ADVICE_H_
#define RESMEM_EVAL_PRIVACY_ADVICE_H_

#include <string>
#include <vector>

#include "resmem/privacy.h"

namespace resmem {

std::vector<std::string> AdviceOn(const PrivacyReport& report);

// The test of this method and clue; null where there is none.
const MembershipTest* FindTest(const PrivacyReport& report, Method method, Clue clue);

}  // namespace resmem

#endif  // RESMEM_EVAL_PRIVACY_ADVICE_H_
