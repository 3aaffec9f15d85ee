#include "fashion_data.h"

#include "resmem/data/array.h"

namespace resmem::examples {
namespace {

Result<Images> Load(const std::string& folder, const std::string& name, int64_t begin,
                    int64_t end) {
  RESMEM_ASSIGN_OR_RETURN(const Array pixels,
                          OpenArray({folder + "/" + name + "-images-idx3-ubyte.gz", {}, {}}));
  RESMEM_ASSIGN_OR_RETURN(const Array labels,
                          OpenArray({folder + "/" + name + "-labels-idx1-ubyte.gz", {}, {}}));
  if (pixels.rows() < end || labels.rows() < end) {
    return Status(ErrorCode::kBadData, folder + ": fewer rows than Fashion-MNIST has");
  }
  const int64_t count = end - begin;
  Images images;
  images.columns = pixels.columns();
  images.pixels.resize(static_cast<size_t>(count * images.columns));
  RESMEM_RETURN_IF_ERROR(pixels.ReadFloats(begin, count, images.pixels));
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  RESMEM_RETURN_IF_ERROR(labels.ReadIntegers(begin, count, numbers));
  images.labels.assign(numbers.begin(), numbers.end());
  return images;
}

}  // namespace

Result<FashionMnist> LoadFashionMnist(const std::string& folder) {
  FashionMnist data;
  RESMEM_ASSIGN_OR_RETURN(data.train, Load(folder, "train", 0, 50000));
  RESMEM_ASSIGN_OR_RETURN(data.validation, Load(folder, "train", 50000, 60000));
  RESMEM_ASSIGN_OR_RETURN(data.test, Load(folder, "t10k", 0, 10000));
  return data;
}

}  // namespace resmem::examples
