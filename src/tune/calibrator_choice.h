// Which calibrator makes the best probabilities of ResMem's scores.
#ifndef RESMEM_TUNE_CALIBRATOR_CHOICE_H_
#define RESMEM_TUNE_CALIBRATOR_CHOICE_H_

#include <string>

#include "tune/validation_rows.h"

namespace resmem {

struct CalibratorChoice {
  std::string name;
  float temperature = 1;
  double nll = 0;
};

// Lowest NLL over every calibrator of the table at each of its temperatures; the first among
// equals.  Where rows x classes is large, evenly spread rows stand for all.
Result<CalibratorChoice> ChooseCalibrator(const Predictor& predictor, const ValidationRows& rows,
                                          const Parameters& parameters, int threads);

}  // namespace resmem

#endif  // RESMEM_TUNE_CALIBRATOR_CHOICE_H_
