// The Python dictionary in a .npy header.
#ifndef RESMEM_DATA_FORMATS_NUMPY_NPY_HEADER_H_
#define RESMEM_DATA_FORMATS_NUMPY_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace resmem {

struct NpyDictionary {
  std::string descriptor;   // of a plain array
  bool structured = false;  // the descriptor is a list of fields, which is not read further
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Only what NumPy writes: the three keys once each, in any order.  Gives what is wrong with the
// text, or nothing.  Where `structured` is set the rest is not looked at.
std::string ParseNpyDictionary(std::string_view text, NpyDictionary* dictionary);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_NUMPY_NPY_HEADER_H_
