// The grid of a tuning document, checked: its points are as many as its axes say.
#ifndef RESMEM_REPORT_PAGE_TUNING_GRID_H_
#define RESMEM_REPORT_PAGE_TUNING_GRID_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "report/node.h"

namespace resmem {

struct TuningGrid {
  std::array<std::vector<double>, 3> axes;  // k, sigma, temperature; ascending
  // Indices of the choice; where that is the base alone (k = 0), of the best point.
  std::array<size_t, 3> chosen = {};
  bool base_chosen = false;
  std::vector<double> values;  // k fastest; accuracy, or mean squared error
  std::string measure;         // what the values are
  bool classification = true;
  double base = 0;  // the base alone, in the same measure

  double At(const std::array<size_t, 3>& at) const {
    return values[at[0] + axes[0].size() * (at[1] + axes[1].size() * at[2])];
  }
};

// Nothing where the document is wrong; it then knows why.
std::optional<TuningGrid> ReadTuningGrid(const Node& document);

}  // namespace resmem

#endif  // RESMEM_REPORT_PAGE_TUNING_GRID_H_
