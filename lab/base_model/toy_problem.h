// For tests: two-dimensional clouds around the corners of a square, opposite corners of one
// class: no linear model can tell the classes apart, one hidden layer can.
#ifndef RESMEM_LAB_BASE_MODEL_TOY_PROBLEM_H_
#define RESMEM_LAB_BASE_MODEL_TOY_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "resmem/matrix_view.h"
#include "support/random.h"

namespace resmem {

struct ToyProblem {
  std::vector<float> inputs;
  std::vector<int32_t> labels;
  MatrixView view() const { return {inputs.data(), static_cast<int64_t>(inputs.size() / 2), 2}; }
};

inline ToyProblem MakeToyProblem(int64_t rows, uint64_t seed) {
  ToyProblem problem;
  Random random(seed);
  for (int64_t row = 0; row < rows; ++row) {
    const bool right = random.Below(2) == 1, up = random.Below(2) == 1;
    // Units apart in size, as in a table.
    problem.inputs.push_back(static_cast<float>(1000 * ((right ? 1 : -1) + 0.2 * random.Normal())));
    problem.inputs.push_back(static_cast<float>(0.01 * ((up ? 1 : -1) + 0.2 * random.Normal())));
    problem.labels.push_back(right == up ? 1 : 0);
  }
  return problem;
}

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_TOY_PROBLEM_H_
