// What arrays must fulfil to be a dataset; each message gives file, place, value and range.
#ifndef RESMEM_DATA_DATASET_CHECKS_H_
#define RESMEM_DATA_DATASET_CHECKS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset_sources.h"

namespace resmem {

// Row counts agree, nothing is empty, labels and ids are vectors.
Status CheckShapes(const DatasetArrays& arrays, Task task);

// `values` are rows of `name` from row `begin`: all finite?
Status CheckFinite(const std::string& name, MatrixView values, int64_t begin);

// Class numbers 0 .. classes-1; any int32 from 0 where `classes` is 0, for unknown.
Status CheckLabels(const std::string& name, std::span<const int64_t> values, int64_t begin,
                   int64_t classes, std::vector<int32_t>* labels);

Status CheckIds(const std::string& name, std::span<const int64_t> values, int64_t begin,
                std::vector<uint64_t>* ids);

// Numbers 0, 1, 2 or the words train, validation (val), test.
Status ReadRoles(const Array& split, int64_t begin, int64_t count, std::vector<Role>* roles);

// Probabilities as their logarithms, into `buffer` where `view` then points; below `floor` they
// count as the floor.  One column becomes two classes.  kBadData where a row of finite numbers
// holds none.
Status TakeLogarithms(const std::string& name, float floor, int64_t begin,
                      std::vector<float>* buffer, MatrixView* view);

}  // namespace resmem

#endif  // RESMEM_DATA_DATASET_CHECKS_H_
