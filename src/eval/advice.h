// A diagnosis in plain sentences.
#ifndef RESMEM_EVAL_ADVICE_H_
#define RESMEM_EVAL_ADVICE_H_

#include <string>
#include <vector>

#include "resmem/diagnosis.h"

namespace resmem {

// Sets `judged`, `worse` and `verdict`.  `given`: rows were, be it that none could be judged.
void SetVerdict(const ResidualMemory& memory, bool given, Diagnosis* diagnosis);

// What to do; after SetVerdict().
std::vector<std::string> Advice(const ResidualMemory& memory, const Diagnosis& diagnosis);

}  // namespace resmem

#endif  // RESMEM_EVAL_ADVICE_H_
