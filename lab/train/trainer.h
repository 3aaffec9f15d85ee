// One training run in its folder:
//
//   recipe.json            what was asked
//   split.npy              each row of the data: 0 learned from, 1 held out, 2 left out
//   log.jsonl              a line an epoch
//   checkpoint-NNNN        the state after epoch NNNN; the newest two are kept
//   last.onnx last.json    the network as it is now
//   best.onnx best.json    the best on the held-out rows, if there are any
//   epoch-NNNN.onnx .json  the epochs that the recipe asks to keep
//
// Started again in the same folder it goes on from the newest sound checkpoint, and every number
// comes out as if it had never stopped.
#ifndef RESMEM_LAB_TRAIN_TRAINER_H_
#define RESMEM_LAB_TRAIN_TRAINER_H_

#include <functional>
#include <string>

#include "recipe/train_recipe.h"
#include "resmem/status.h"

namespace resmem::train {

struct EpochReport {
  int64_t epoch = 0, epochs = 0;
  double rate = 0;                                      // of the last step
  double loss = 0;                                      // mean over the epoch's batches
  double train_accuracy = 0;                            // on the augmented batches, while learning
  double validation_accuracy = -1, test_accuracy = -1;  // -1: not looked at
  double rows_per_second = 0;
  double seconds = 0;  // of training since the run began
  Precision precision = Precision::kFloat32;
};

struct TrainObserver {
  std::function<void(const std::string& note)> note;
  // Between steps; a false answer stops the run, to be resumed from the last checkpoint.
  std::function<bool(int64_t epoch, int64_t step, int64_t steps_per_epoch, double loss)> step;
  std::function<void(const EpochReport&)> epoch;
};

// Errors: those of the recipe and the data; kBadData where the loss is no longer finite (the last
// good checkpoint stays); kCancelled; kIo, kResourceExhausted (a full disk: the same).
Status Train(const std::string& folder, const TrainObserver& observer);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TRAINER_H_
