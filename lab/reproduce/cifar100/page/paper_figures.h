// What the paper reports for CIFAR-100 (section "Image classification", its analysis, table
// "joint" and the appendix), to stand beside our own.  Shares, seconds in milliseconds.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_PAGE_PAPER_FIGURES_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_PAGE_PAPER_FIGURES_H_

#include <cstdint>

namespace resmem::cli::reproduce::cifar100::paper {

inline constexpr double kBase = 0.5646, kResMem = 0.5966, kKnn = 0.5444;
inline constexpr double kTpr = 0.0589, kFpr = 0.0270, kGain = 0.0319;

// Over five seeds: mean and standard deviation.
inline constexpr int kSeeds = 5;
inline constexpr double kSeedsBase = 0.565, kSeedsBaseDeviation = 0.008;
inline constexpr double kSeedsResMem = 0.59, kSeedsResMemDeviation = 0.007;

struct Epoch {
  int64_t epoch;
  double base, resmem;
};
inline constexpr Epoch kEpochs[] = {{128, 0.340, 0.493},
                                    {160, 0.562, 0.602},
                                    {192, 0.556, 0.586},
                                    {224, 0.572, 0.592},
                                    {256, 0.566, 0.595}};

inline constexpr double kResNet8Milliseconds = 15.9, kResNet14Milliseconds = 26.2;
inline constexpr double kKnnMilliseconds = 4.8;

// With a batch of one image; of 50,000 keys on disk.
inline constexpr double kResNet8Bytes = 2.5e6, kResNet14Bytes = 4e6, kKeyBytes = 15e6;

// Not the paper's: what is published for this file, and what it gives on its training images.
inline constexpr char kPretrainedFile[] = "cifar100_resnet20.onnx";
inline constexpr double kPretrainedTest = 0.6883, kPretrainedTrain = 0.9342;

}  // namespace resmem::cli::reproduce::cifar100::paper

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_PAGE_PAPER_FIGURES_H_
