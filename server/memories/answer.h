// What a memory answers to rows of keys and logits, with what the metrics want to know.
#ifndef RESMEM_SERVER_MEMORIES_ANSWER_H_
#define RESMEM_SERVER_MEMORIES_ANSWER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memories/memory_model.h"
#include "protocol/infer.h"
#include "resmem/predictor.h"

namespace resmem::serve {

struct RowSet;
class RowImages;
class ShardSet;

// What lies beside a memory; null what is not there.
struct BesideMemory {
  std::shared_ptr<const MemoryModel> model;  // also null without an ONNX Runtime
  std::shared_ptr<const RowSet> validation;
  std::shared_ptr<const RowImages> images;
  std::shared_ptr<const ShardSet> shards;
};

// One state of a memory; its readers keep it.
struct MemoryState {
  MemoryState(ResidualMemory memory_in, BesideMemory beside, int64_t number_in)
      : memory(std::move(memory_in)),
        predictor(memory),
        model(std::move(beside.model)),
        validation(std::move(beside.validation)),
        images(std::move(beside.images)),
        shards(std::move(beside.shards)),
        number(number_in) {}

  const ResidualMemory memory;
  const Predictor predictor;
  const std::shared_ptr<const MemoryModel> model;
  const std::shared_ptr<const RowSet> validation;
  const std::shared_ptr<const RowImages> images;
  // Of a gateway, which has no rows of its own: the memory is empty and says how to answer.
  const std::shared_ptr<const ShardSet> shards;
  const int64_t number;  // counts the states of this process from 1

  const MemoryDescription& description() const { return memory.description(); }
  int64_t rows() const;  // that answers are made of
  bool classifies() const { return description().task == Task::kClassification; }
  bool tells_distances() const { return predictor.DistanceNeighbors() > 0; }
  bool has_class_names() const {
    return !description().class_names.empty() || (model && model->tokenizer() != nullptr);
  }
  // The class's name, or the token's text; "" where there are no names.
  std::string ClassName(int64_t class_number) const;
  // None where no class is named so.
  std::optional<int32_t> FindClass(std::string_view name) const;

  // The same state with only the rows whose tags match (resmem/row_filter.h).  Kept for the next
  // who asks so.  Errors: kInvalidArgument (the conditions), kUnsupported (of a gateway).
  Result<std::shared_ptr<const MemoryState>> Part(const std::string& where) const;

  // kCorrupt once somebody met a file of the memory that is damaged; the first such error, which is
  // logged, too.  `met`: what an answer failed with.
  Status damage() const;
  void NoteDamage(const Status& met) const;

 private:
  mutable std::mutex damage_mutex_;
  mutable Status damage_;
  mutable std::mutex parts_mutex_;
  mutable std::map<std::string, std::shared_ptr<const MemoryState>> parts_;
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
  std::vector<float> percentile;                     // Predictor::DistancePercentiles
  Neighbors neighbors;
  std::vector<int64_t> missing;  // shards that did not answer, counted from 1
};
Result<Answers> Answer(const MemoryState& state, MatrixView keys, MatrixView logits,
                       const PredictOptions& options);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_ANSWER_H_
