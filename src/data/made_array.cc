#include "data/made_array.h"

#include <cstring>
#include <memory>
#include <utility>

#include "data/array_storage.h"

namespace resmem {
namespace {

template <typename T>
Array MakeNumbers(std::string name, ElementType type, std::span<const T> values, int64_t columns) {
  auto storage = std::make_unique<Array::Storage>();
  Layout& layout = storage->layout;
  layout.type = type;
  layout.item_bytes = sizeof(T);
  layout.shape = {static_cast<int64_t>(values.size()) / columns};
  if (columns > 1) layout.shape.push_back(columns);
  layout.strides = DenseStrides(layout.shape, sizeof(T), Order::kC);
  std::unique_ptr<std::byte[]> memory(new std::byte[values.size_bytes()]);
  if (!values.empty()) std::memcpy(memory.get(), values.data(), values.size_bytes());
  storage->bytes = std::make_shared<const FileBytes>(std::move(memory), values.size_bytes());
  storage->name = std::move(name);
  return Array(std::move(storage));
}

}  // namespace

Array MakeArray(std::string name, std::span<const float> values, int64_t columns) {
  return MakeNumbers(std::move(name), ElementType::kFloat32, values, columns);
}

Array MakeArray(std::string name, std::span<const int64_t> values) {
  return MakeNumbers(std::move(name), ElementType::kInt64, values, 1);
}

Array MakeArray(std::string name, std::vector<std::string> texts) {
  auto storage = std::make_unique<Array::Storage>();
  storage->layout.type = ElementType::kText;
  storage->layout.shape = {static_cast<int64_t>(texts.size())};
  storage->layout.strides = {0};
  storage->text = std::move(texts);
  storage->name = std::move(name);
  return Array(std::move(storage));
}

}  // namespace resmem
