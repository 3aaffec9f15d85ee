#ifndef RESMEM_REPORT_CHART_RELIABILITY_H_
#define RESMEM_REPORT_CHART_RELIABILITY_H_

#include <string_view>

#include "report/html.h"
#include "resmem/evaluation.h"

namespace resmem {

// A bin of fewer answers than this says little: it is drawn hollow.
inline constexpr int64_t kFewAnswers = 10;

// For each bin of confidence how often the answer was right, against the diagonal where
// confidence equals accuracy; below it how many answers each bin holds.
Html DrawReliability(std::string_view title, const Calibration& calibration,
                     std::string_view style);

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_RELIABILITY_H_
