// Arrays of values in memory, for readers that make them instead of finding them in a file.
#ifndef RESMEM_DATA_MADE_ARRAY_H_
#define RESMEM_DATA_MADE_ARRAY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "resmem/data/array.h"

namespace resmem {

// rows x columns; one column is a vector.
Array MakeArray(std::string name, std::span<const float> values, int64_t columns);
Array MakeArray(std::string name, std::span<const int64_t> values);
Array MakeArray(std::string name, std::vector<std::string> texts);

}  // namespace resmem

#endif  // RESMEM_DATA_MADE_ARRAY_H_
