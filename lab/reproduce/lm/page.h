// The page docs/results/lm.md, section by section.
#ifndef RESMEM_LAB_REPRODUCE_LM_PAGE_H_
#define RESMEM_LAB_REPRODUCE_LM_PAGE_H_

#include <span>

#include "reproduce/lm/workspace.h"
#include "reproduce/page/page.h"

namespace resmem::cli::reproduce::lm {

// What the paper reports for C4 (its section "Language modeling" and the appendix on kNN-LM).
namespace paper {
inline constexpr double kSmallBase = 0.3801, kSmallResMem = 0.4087, kBaseModel = 0.4008;
inline constexpr double kTpr = 0.0537, kFpr = 0.0244, kGain = 0.0286;
inline constexpr double kLargeBase = 0.4476, kLargeResMem = 0.4555;
inline constexpr double kMemoryTokens = 1639e6;
struct Mixture {
  double lambda, accuracy;
};
inline constexpr Mixture kLargeKnnLm[] = {{0.0, 0.4476}, {0.2, 0.4488}, {0.4, 0.4483},
                                          {0.5, 0.4466}, {0.6, 0.4427}, {0.8, 0.4297},
                                          {1.0, 0.4095}};
}  // namespace paper

void WritePage(const Workspace& workspace, std::span<const Step> steps, Page* page);

// A sentence where a bootstrap of so few documents means little; else empty.
std::string FewDocuments(int64_t documents);

// What was measured and whether the memory helps, in a few sentences.
void AddAnswer(Page* page);
void AddSummary(const Workspace& workspace, Page* page);
void AddModel(Page* page);
void AddTexts(const Workspace& workspace, Page* page);
void AddMixtures(const Workspace& workspace, Page* page);
void AddTuning(Page* page);
void AddSizes(Page* page);
void AddApproximate(Page* page);
void AddCosts(const Workspace& workspace, Page* page);
void AddExamples(Page* page);

}  // namespace resmem::cli::reproduce::lm

#endif  // RESMEM_LAB_REPRODUCE_LM_PAGE_H_
