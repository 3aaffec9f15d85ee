#include "resmem/lm/document_intervals.h"

#include <algorithm>
#include <vector>

#include "eval/warnings.h"
#include "support/random.h"

namespace resmem {
namespace {

Interval Middle95(std::vector<double>* values) {
  std::sort(values->begin(), values->end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values->size() - 1);
    return (*values)[static_cast<size_t>(place + 0.5)];
  };
  return {at(0.025), at(0.975)};
}

}  // namespace

DocumentIntervals BootstrapDocuments(std::span<const GroupResult> documents, int64_t draws,
                                     uint64_t seed) {
  DocumentIntervals intervals;
  intervals.documents = static_cast<int64_t>(documents.size());
  if (documents.empty() || draws < 1) return intervals;
  std::vector<double> base, resmem, gain;
  Random random(seed);
  for (int64_t d = 0; d < draws; ++d) {
    int64_t rows = 0, base_correct = 0, resmem_correct = 0;
    for (size_t i = 0; i < documents.size(); ++i) {
      const GroupResult& drawn = documents[random.Below(documents.size())];
      rows += drawn.total;
      base_correct += drawn.base_correct;
      resmem_correct += drawn.resmem_correct;
    }
    const auto share = [&](int64_t correct) {
      return static_cast<double>(correct) / static_cast<double>(std::max<int64_t>(rows, 1));
    };
    base.push_back(share(base_correct));
    resmem.push_back(share(resmem_correct));
    gain.push_back(share(resmem_correct - base_correct));
  }
  intervals.base_accuracy = Middle95(&base);
  intervals.resmem_accuracy = Middle95(&resmem);
  intervals.gain = Middle95(&gain);
  const auto below = std::upper_bound(gain.begin(), gain.end(), 0.0) - gain.begin();
  const auto above = gain.end() - std::lower_bound(gain.begin(), gain.end(), 0.0);
  // One more of each: a finite number of draws never shows that there is no chance.
  intervals.p_value = std::min(1.0, 2 * static_cast<double>(std::min(below, above) + 1) /
                                        static_cast<double>(gain.size() + 1));
  return intervals;
}

Interval BootstrapLosses(std::span<const GroupResult> documents, std::span<const double> left,
                         std::span<const double> right, int64_t draws, uint64_t seed) {
  std::vector<double> differences;
  Random random(seed);
  for (int64_t d = 0; d < draws && !documents.empty(); ++d) {
    int64_t rows = 0;
    double sum = 0;
    for (size_t i = 0; i < documents.size(); ++i) {
      const auto drawn = static_cast<size_t>(random.Below(documents.size()));
      rows += documents[drawn].total;
      sum += left[drawn] - right[drawn];
    }
    differences.push_back(sum / static_cast<double>(std::max<int64_t>(rows, 1)));
  }
  return differences.empty() ? Interval() : Middle95(&differences);
}

void UseDocumentIntervals(Evaluation* evaluation) {
  if (evaluation->slices.empty()) return;
  std::vector<GroupResult> documents = evaluation->slices;
  for (MethodResult& method : evaluation->methods) {
    for (size_t i = 0; i < documents.size(); ++i) {
      documents[i].resmem_correct = method.slice_correct[i];
    }
    const DocumentIntervals intervals = BootstrapDocuments(documents);
    method.accuracy.interval = intervals.resmem_accuracy;
    method.against_base.interval = intervals.gain;
    method.against_base.p_value = method.method == Method::kBase ? 1 : intervals.p_value;
  }
  evaluation->gain = evaluation->methods.back().against_base;
  for (MethodPair& pair : evaluation->pairs) {
    const MethodResult& left = evaluation->methods[pair.left];
    const MethodResult& right = evaluation->methods[pair.right];
    for (size_t i = 0; i < documents.size(); ++i) {
      documents[i].base_correct = left.slice_correct[i];
      documents[i].resmem_correct = right.slice_correct[i];
    }
    const DocumentIntervals intervals = BootstrapDocuments(documents);
    pair.gain.interval = intervals.gain;
    pair.gain.p_value = intervals.p_value;
    if (pair.nll) {
      pair.nll->interval = BootstrapLosses(documents, left.slice_nll, right.slice_nll);
    }
  }
  evaluation->better_rivals = BetterRivals(*evaluation);
}

}  // namespace resmem
