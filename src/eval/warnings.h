// What a reader of an evaluation must be told, in plain sentences.
#ifndef RESMEM_EVAL_WARNINGS_H_
#define RESMEM_EVAL_WARNINGS_H_

#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

// Below this mean residual mass the base has memorized its training rows.
inline constexpr double kMemorizedMass = 0.05;

// Its rows are tokens: advice then names the options of resmem lm.
bool IsOfTokens(const ResidualMemory& memory);

std::vector<std::string> EvaluationWarnings(const ResidualMemory& memory,
                                            const Evaluation& evaluation, int64_t validation_rows);

// Which rivals are shown to be better than the answer that is judged, in accuracy or NLL.
std::vector<std::string> BetterRivals(const Evaluation& evaluation);

// Where the rows show harm, or no help; else empty.
std::string EffectWarning(const Evaluation& evaluation);
// "(95 % interval of the gain: -5.55 to +0.87 points)"
std::string EffectRange(const Evaluation& evaluation);

}  // namespace resmem

#endif  // RESMEM_EVAL_WARNINGS_H_
