// Weighted sums of rows that lie anywhere in memory: the residuals of a query's neighbors.
//
// The same bits on every instruction set: for each place row after row, product and sum rounded one
// by one.  Arrays need no alignment and must not overlap.
#ifndef RESMEM_MEMORY_RESIDUALS_ROW_SUMS_H_
#define RESMEM_MEMORY_RESIDUALS_ROW_SUMS_H_

#include <cstdint>

namespace resmem {

// sum[i] += weights[j] * rows[j][i] for j = 0 .. count - 1 in order, 0 <= i < n.  While some rows
// are added, the next are fetched.
void AddRows(const float* weights, const float* const* rows, int64_t count, int64_t n, float* sum);
// The same where the rows are halves, as their bits.
void AddHalfRows(const float* weights, const uint16_t* const* rows, int64_t count, int64_t n,
                 float* sum);

// sum[places[r][j]] += weights[r] * values[r][j] for r = 0 .. rows - 1 in order, 0 <= j < count. In
// a row no place may come twice; those that are not below n are left out.  Where `touched` is
// given, places whose sum was 0 are written there, which takes room for rows * count + 16; returns
// how many.
int64_t AddEntries(const float* weights, const float* const* values, const uint16_t* const* places,
                   int64_t rows, int64_t count, int64_t n, float* sum, uint32_t* touched);
int64_t AddEntries(const float* weights, const float* const* values, const uint32_t* const* places,
                   int64_t rows, int64_t count, int64_t n, float* sum, uint32_t* touched);
// The same where the values are halves, as their bits.
int64_t AddEntries(const float* weights, const uint16_t* const* values,
                   const uint16_t* const* places, int64_t rows, int64_t count, int64_t n,
                   float* sum, uint32_t* touched);
int64_t AddEntries(const float* weights, const uint16_t* const* values,
                   const uint32_t* const* places, int64_t rows, int64_t count, int64_t n,
                   float* sum, uint32_t* touched);

// Whether entries are added by the instructions for sixteen places (AVX-512).  AMD's processors
// are quicker without: 50 rows of 128 halves took 6.9 us by them and 3.7 four by four.
bool UsesScatter();
// For tests, as ScopedSimdLevel.
class ScopedScatter {
 public:
  explicit ScopedScatter(bool use);
  ~ScopedScatter();
  ScopedScatter(const ScopedScatter&) = delete;
  ScopedScatter& operator=(const ScopedScatter&) = delete;

 private:
  const bool previous_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_ROW_SUMS_H_
