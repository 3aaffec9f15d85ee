// Intervals and tests for counts.  All two-sided at 95 %.
#ifndef RESMEM_EVAL_STATISTICS_H_
#define RESMEM_EVAL_STATISTICS_H_

#include <cstdint>
#include <span>

#include "resmem/evaluation.h"

namespace resmem {

// Wilson's score interval of `correct` / `total`; (0, 1) for no rows.
Interval WilsonInterval(int64_t correct, int64_t total);

// Interval of (fixed - harmed) / n for paired proportions: Newcombe's square-and-add of the two
// Wilson intervals with his corrected correlation (method 10 of Newcombe, Statistics in Medicine
// 17, 1998, 2635-2650; recommended by Fagerland, Lydersen and Laake, ibid. 33, 2014, 2850-2875).
// Unlike Wald's it keeps a width where no row changed and stays within [-1, 1].
Interval PairedInterval(int64_t fixed, int64_t harmed, int64_t both_right, int64_t both_wrong);

// McNemar's exact conditional test: min(1, 2 P(X <= min(fixed, harmed))) with X binomial of
// fixed + harmed fair coins.
double McNemarP(int64_t fixed, int64_t harmed);

// Half the width of the interval of a mean: Student's quantile times deviation / sqrt(count);
// infinite for fewer than two values.
double MeanHalfWidth(double deviation, int64_t count);

// Of the mean of values.  `slices`: which slice each is of, where those of one belong together;
// their sums count then, as so many independent draws (the ratio estimator of a cluster sample).
// None: each value is a draw.
Interval MeanInterval(std::span<const double> values, std::span<const int32_t> slices);

}  // namespace resmem

#endif  // RESMEM_EVAL_STATISTICS_H_
