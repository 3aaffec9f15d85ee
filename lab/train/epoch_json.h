// The line of log.jsonl for an epoch.
#ifndef RESMEM_LAB_TRAIN_EPOCH_JSON_H_
#define RESMEM_LAB_TRAIN_EPOCH_JSON_H_

#include "support/json.h"
#include "train/trainer.h"

namespace resmem::train {

inline Json EpochJson(const EpochReport& report) {
  Json json = {{"epoch", report.epoch},
               {"epochs", report.epochs},
               {"rate", report.rate},
               {"loss", report.loss},
               {"train_accuracy", report.train_accuracy}};
  if (report.validation_accuracy >= 0) json["validation_accuracy"] = report.validation_accuracy;
  if (report.test_accuracy >= 0) json["test_accuracy"] = report.test_accuracy;
  json["rows_per_second"] = report.rows_per_second;
  json["seconds"] = report.seconds;
  json["precision"] = NameOf(report.precision);
  return json;
}

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_EPOCH_JSON_H_
