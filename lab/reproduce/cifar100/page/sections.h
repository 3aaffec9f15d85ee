// The sections of the page, in their order.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_PAGE_SECTIONS_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_PAGE_SECTIONS_H_

#include "reproduce/page/page.h"

namespace resmem::cli::reproduce::cifar100 {

// All of them.
void WritePage(std::span<const Step> steps, bool quick, Page* page);

// The answers that a memory can give, and whether the blend keeps what it promises.
void WritePredictorPage(std::span<const Step> steps, Page* page);

// What was measured and whether the paper's figure is met, in a few sentences.
void AddAnswer(Page* page);
void AddSummary(Page* page);
void AddPaperRun(Page* page);
void AddLongRun(Page* page);
void AddEpochs(Page* page);
void AddSeeds(Page* page);
void AddDepth(Page* page);
void AddSizes(Page* page);
void AddDeeperSizes(Page* page);
void AddSensitivity(Page* page);
void AddSuperclasses(Page* page);
void AddPooledSuperclasses(Page* page);
void AddExamples(Page* page);
void AddCalibration(Page* page);
void AddShift(Page* page);
void AddBlendShift(Page* page);
void AddShiftedAnswers(const char* step, const std::string& title, Page* page);
void AddLatency(Page* page);
void AddBytes(Page* page);
void AddPretrained(Page* page);
void AddDiagnosis(Page* page);

// Mean and standard deviation (with n - 1) of a value over several results.
struct Spread {
  int64_t count = 0;
  double mean = 0, deviation = 0;
};
Spread SpreadOf(std::span<const double> values);

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_PAGE_SECTIONS_H_
