// Fashion-MNIST in memory, cut into training, validation and test rows.
#ifndef RESMEM_LAB_FASHION_MNIST_FASHION_DATA_H_
#define RESMEM_LAB_FASHION_MNIST_FASHION_DATA_H_

#include <string>
#include <vector>

#include "resmem/matrix_view.h"
#include "resmem/status.h"

namespace resmem::examples {

struct Images {
  int64_t columns = 0;
  std::vector<float> pixels;
  std::vector<int32_t> labels;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  MatrixView view() const { return {pixels.data(), rows(), columns}; }
};

struct FashionMnist {
  Images train;       // the first 50,000 of the training file
  Images validation;  // its last 10,000
  Images test;
};

// `folder`: with the four .gz files of the Debian package dataset-fashion-mnist.
Result<FashionMnist> LoadFashionMnist(const std::string& folder);

}  // namespace resmem::examples

#endif  // RESMEM_LAB_FASHION_MNIST_FASHION_DATA_H_
