// Intervals for rows that come in documents: tokens of one document are not independent, so whole
// documents are resampled, not rows.
#ifndef RESMEM_LM_DOCUMENT_INTERVALS_H_
#define RESMEM_LM_DOCUMENT_INTERVALS_H_

#include <cstdint>
#include <span>

#include "resmem/evaluation.h"

namespace resmem {

struct DocumentIntervals {
  int64_t documents = 0;
  Interval base_accuracy, resmem_accuracy, gain;  // 95 %, of shares of all rows
  double p_value = 1;  // of no gain: twice the share of draws on the other side of 0
};

// Percentile bootstrap: `draws` times as many documents as there are, with replacement.
// `documents`: the slices of an Evaluation whose rows are marked with their document.
DocumentIntervals BootstrapDocuments(std::span<const GroupResult> documents, int64_t draws = 2000,
                                     uint64_t seed = 1);

// Of the mean loss of all rows, left less right, which are sums by document; 95 %, drawn alike.
Interval BootstrapLosses(std::span<const GroupResult> documents, std::span<const double> left,
                         std::span<const double> right, int64_t draws = 2000, uint64_t seed = 1);

// Replaces the intervals and p-values that treat rows as independent, of every method, of the gain
// and of every pair, and with them the rivals that are better.  Needs slices; without them nothing
// changes.
void UseDocumentIntervals(Evaluation* evaluation);

}  // namespace resmem

#endif  // RESMEM_LM_DOCUMENT_INTERVALS_H_
