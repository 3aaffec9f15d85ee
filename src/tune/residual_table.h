// Residuals of the memory rows that the validation rows refer to, at one temperature.
//
// Computed once a row where they fit kTableBytes; else once for each time a row is a neighbor.
#ifndef RESMEM_TUNE_RESIDUAL_TABLE_H_
#define RESMEM_TUNE_RESIDUAL_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/residual_memory.h"
#include "tune/validation_rows.h"

namespace resmem {

class ResidualTable {
 public:
  static constexpr int64_t kTableBytes = int64_t{512} << 20;

  // `stride` >= outputs: floats of a row, zeros after its outputs.
  ResidualTable(const ResidualMemory& memory, const ValidationRows& rows, int64_t stride,
                int64_t table_bytes = kTableBytes);

  // Computes the residuals at another temperature.
  void SetTemperature(float temperature, int threads);

  // Writes the residuals of `rows` one after the other, `stride` floats each.  The padding of
  // `out` must be zero already.  May be called from any number of threads.
  void Copy(std::span<const int64_t> rows, float* out) const;

 private:
  const ResidualMemory& memory_;
  const int64_t outputs_, stride_;
  float temperature_ = 1;
  std::vector<int64_t> referenced_;  // rows in the table; empty: no table
  std::vector<int32_t> position_;    // of a memory row in the table
  std::vector<float> values_;
};

}  // namespace resmem

#endif  // RESMEM_TUNE_RESIDUAL_TABLE_H_
