// Weighted sums of rows that lie anywhere in memory: the residuals of a query's neighbors.
//
// The same bits on every instruction set: for each place row after row, product and sum rounded one
// by one.  Arrays need no alignment and must not overlap.
#ifndef RESMEM_KERNELS_ROW_SUMS_H_
#define RESMEM_KERNELS_ROW_SUMS_H_

#include <cstdint>

namespace resmem {

// sum[i] += weights[j] * rows[j][i] for j = 0 .. count - 1 in order, 0 <= i < n.  While some rows
// are added, the next are fetched.
void AddRows(const float* weights, const float* const* rows, int64_t count, int64_t n, float* sum);
// The same where the rows are halves, as their bits.
void AddHalfRows(const float* weights, const uint16_t* const* rows, int64_t count, int64_t n,
                 float* sum);

// sum[places[j]] += weight * values[j], 0 <= j < count.  No place may come twice; those that are
// not below n are left out.
void AddEntries(float weight, const float* values, const uint16_t* places, int64_t count, int64_t n,
                float* sum);
void AddEntries(float weight, const float* values, const uint32_t* places, int64_t count, int64_t n,
                float* sum);

// scores[i] += sum[i] * scale, then sum[i] = 0: quick where most of `sum` is 0 already.  No score
// may be a negative zero, which could keep its sign or lose it.
void MoveScaled(float scale, int64_t n, float* sum, float* scores);

}  // namespace resmem

#endif  // RESMEM_KERNELS_ROW_SUMS_H_
