// What a memory answers to rows of keys and logits, with what the metrics want to know.
#ifndef RESMEM_SERVER_MEMORIES_ANSWER_H_
#define RESMEM_SERVER_MEMORIES_ANSWER_H_

#include <cstdint>
#include <vector>

#include "protocol/infer.h"
#include "resmem/predictor.h"

namespace resmem::serve {

// One state of a memory; whoever reads it keeps it.
struct MemoryState {
  MemoryState(ResidualMemory memory_in, int64_t number_in)
      : memory(std::move(memory_in)), predictor(memory), number(number_in) {}

  const ResidualMemory memory;
  const Predictor predictor;
  const int64_t number;  // counts the states of this process from 1

  const MemoryDescription& description() const { return memory.description(); }
  bool classifies() const { return description().task == Task::kClassification; }
};

// Errors: kInvalidArgument, also where k is above `most_k`.
Result<PredictOptions> ChooseOptions(const MemoryState& state, const AnswerParameters& parameters,
                                     int64_t most_k);
// kBadData where the rows are not the memory's.
Status CheckQueries(const MemoryState& state, MatrixView keys, MatrixView logits);

struct Answers {
  int64_t rows = 0;
  std::vector<float> scores;                         // rows x outputs
  std::vector<float> probabilities;                  // classification; empty for nearest-class-mean
  std::vector<int64_t> prediction, base_prediction;  // classification
  std::vector<float> percentile;                     // Predictor::DistancePercentile
  Neighbors neighbors;
};
Result<Answers> Answer(const MemoryState& state, MatrixView keys, MatrixView logits,
                       const PredictOptions& options);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_ANSWER_H_
