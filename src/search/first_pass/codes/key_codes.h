// 8-bit codes of the keys, for a first pass that reads a quarter of their bytes.  Key - origin is
// near scale * code, and each row's distance from that is known.  Immutable once made.
#ifndef RESMEM_SEARCH_FIRST_PASS_CODES_KEY_CODES_H_
#define RESMEM_SEARCH_FIRST_PASS_CODES_KEY_CODES_H_

#include <cstdint>
#include <vector>

#include "search/first_pass/codes/code_scan_kernel.h"
#include "search/first_pass/key_geometry.h"
#include "search/key_store.h"

namespace resmem {

// What is known of a row beside its codes, as CodedRows wants it.
struct RowCode {
  float scale, norm, error;
};

// Makes codes, row by row; for one thread.
class RowEncoder {
 public:
  explicit RowEncoder(const std::vector<float>& origin)
      : origin_(origin), shifted_(origin.size()), decoded_(origin.size()), zero_(origin.size()) {}

  RowCode Encode(const float* key, int8_t* codes);
  // Of a key that has codes already.
  RowCode Describe(const float* key, const int8_t* codes, float scale);
  // Of a row that is never to be found.
  RowCode Hidden(int8_t* codes);

 private:
  void Shift(const float* key);
  RowCode DescribeShifted(const int8_t* codes, float scale);

  const std::vector<float>& origin_;
  std::vector<float> shifted_, decoded_;
  const std::vector<float> zero_;
};

class KeyCodes {
 public:
  // Whether codes are worth making, and the bound on their error holds.
  static bool Apply(const KeyStore& keys, const KeyGeometry& geometry);

  // What they take; requires Apply().
  static int64_t Bytes(const KeyStore& keys);

  // Requires Apply().  Reads every key once.
  static KeyCodes Make(const KeyStore& keys, const KeyGeometry& geometry);

  // The point that codes are relative to: the center; zero where int8 keys are their own codes.
  const std::vector<float>& origin() const { return origin_; }

  // Rows [begin, begin + rows) with rows <= count: as many as lie together, at least one.
  struct Piece {
    CodedRows coded;
    int64_t rows;
  };
  Piece Rows(int64_t begin, int64_t count) const;

 private:
  // Rows from `begin` to the next run's, one after another: a block of int8 keys, or all rows.
  struct Run {
    const int8_t* codes;
    int64_t begin;
  };

  KeyCodes() = default;
  void Encode(const KeyStore& keys, int64_t begin, int64_t count);

  int64_t dim_ = 0;
  std::vector<float> origin_;
  std::vector<int8_t> made_;  // empty where the keys are int8
  std::vector<Run> runs_;     // ascending; the last one is empty and begins at the number of rows
  std::vector<float> scales_, norms_, errors_;
};

// A query in the same form, with more bits: its own error hardly counts.
class QueryCode {
 public:
  QueryCode(const float* query, const std::vector<float>& origin);

  // Whether the bound on the error of distances holds; nothing else may be asked otherwise.
  bool bounded() const { return bounded_; }
  CodedQuery coded() const { return {codes_.data(), norm_, 2 * scale_}; }
  float error() const { return error_; }  // as CodeBound wants it

  // The query as 256 * upper stands for it, of codes that were halved: fewer bits, another error.
  // Of a query so far from the origin that its bound would not hold, one that finds every row.
  struct Rough {
    float norm, double_scale, error;
  };
  Rough UpperHalf(const int8_t* upper) const;

 private:
  bool bounded_ = false;
  std::vector<int16_t> codes_;
  std::vector<float> shifted_;  // query - origin
  float scale_ = 0, norm_ = 0, error_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_CODES_KEY_CODES_H_
