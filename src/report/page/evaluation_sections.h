// Sections about one evaluation, each from its part of the document.
#ifndef RESMEM_REPORT_PAGE_EVALUATION_SECTIONS_H_
#define RESMEM_REPORT_PAGE_EVALUATION_SECTIONS_H_

#include <string_view>

#include "report/html.h"
#include "report/node.h"

namespace resmem {

// Fixed, harmed and unchanged in proportion.
Html GainParts(const Node& gain);
// Every method with its interval; kNN-LM also as a curve over lambda.
Html MethodComparison(const Node& document);
// Classes or slices, sorted by gain; `one` is the word for a single one.
Html GroupTable(const Node& groups, std::string_view one);
// Classes that are taken for each other; the whole matrix where there are few of them.
Html ConfusionSection(const Node& confusions, const Node& classes);
// `by_calibrator`: the judged probabilities were made from scores, as ResMem's are.
Html CalibrationSection(const Node& calibration, bool by_calibrator);
Html CoarseSection(const Node& coarse);
// Regression: errors of all methods, and their distribution.
Html ErrorSection(const Node& regression);
// Regression: how often intervals hold the true value.
Html IntervalSection(const Node& intervals);

}  // namespace resmem

#endif  // RESMEM_REPORT_PAGE_EVALUATION_SECTIONS_H_
