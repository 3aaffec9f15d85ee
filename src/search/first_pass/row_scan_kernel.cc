#include "search/first_pass/row_scan_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/first_pass/row_scan_kernel.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using V = hn::Vec<Floats>;

HWY_INLINE V AddSquare(const float* a, const float* b, V sum) {
  const Floats d;
  const V difference = hn::Sub(hn::LoadU(d, a), hn::LoadU(d, b));
  return hn::MulAdd(difference, difference, sum);
}

HWY_INLINE float ApproximateSquaredDistance(const float* query, const float* key, int64_t dim) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  V sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * step <= dim; i += 4 * step) {
    sum0 = AddSquare(query + i, key + i, sum0);
    sum1 = AddSquare(query + i + step, key + i + step, sum1);
    sum2 = AddSquare(query + i + 2 * step, key + i + 2 * step, sum2);
    sum3 = AddSquare(query + i + 3 * step, key + i + 3 * step, sum3);
  }
  for (; i + step <= dim; i += step) sum0 = AddSquare(query + i, key + i, sum0);
  if (i < dim && dim >= step) {
    // The last vector ends with the row; its lanes that were summed already count as zero.
    const int64_t last = dim - step;
    const V difference = hn::Sub(hn::LoadU(d, query + last), hn::LoadU(d, key + last));
    const V rest = hn::IfThenZeroElse(hn::FirstN(d, static_cast<size_t>(i - last)), difference);
    sum1 = hn::MulAdd(rest, rest, sum1);
    i = dim;
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; i < dim; ++i) sum += (query[i] - key[i]) * (query[i] - key[i]);
  return sum;
}

int64_t ScanRows(const float* query, const float* keys, int64_t rows, int64_t dim, float threshold,
                 RowBelow* out) {
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const float value = ApproximateSquaredDistance(query, keys + row * dim, dim);
    out[count] = {value, static_cast<int32_t>(row)};
    count += value <= threshold ? 1 : 0;
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(ScanRows);

int64_t ScanRows(const float* query, const float* keys, int64_t rows, int64_t dim, float threshold,
                 RowBelow* out) {
  return RESMEM_DISPATCH(ScanRows)(query, keys, rows, dim, threshold, out);
}

}  // namespace resmem
#endif  // HWY_ONCE
