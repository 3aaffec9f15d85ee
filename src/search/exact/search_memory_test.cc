// Keys of 16 and 8 bits are scanned as they lie: no search makes a float32 copy of the memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "kernels/every_simd_level.h"
#include "search/search_test_data.h"

namespace {

std::atomic<int64_t> bytes_now{0}, bytes_most{0};

// `place`: of malloc or aligned_alloc.
void* Counted(void* place) {
  if (place == nullptr) throw std::bad_alloc();
  const int64_t now = bytes_now += static_cast<int64_t>(malloc_usable_size(place));
  int64_t most = bytes_most;
  while (now > most && !bytes_most.compare_exchange_weak(most, now)) {
  }
  return place;
}
void Release(void* place) noexcept {
  if (place != nullptr) bytes_now -= static_cast<int64_t>(malloc_usable_size(place));
  std::free(place);
}

}  // namespace

void* operator new(size_t size) {
  return Counted(std::malloc(size));
}
void* operator new(size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  return Counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
// Of arrays too: the sanitizers' own would not come by here, as the standard library's do.
void* operator new[](size_t size) {
  return operator new(size);
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
void operator delete(void* place) noexcept {
  Release(place);
}
void operator delete[](void* place) noexcept {
  Release(place);
}
void operator delete[](void* place, size_t) noexcept {
  Release(place);
}
void operator delete[](void* place, std::align_val_t) noexcept {
  Release(place);
}
void operator delete[](void* place, size_t, std::align_val_t) noexcept {
  Release(place);
}
void operator delete(void* place, size_t) noexcept {
  Release(place);
}
void operator delete(void* place, std::align_val_t) noexcept {
  Release(place);
}
void operator delete(void* place, size_t, std::align_val_t) noexcept {
  Release(place);
}

namespace resmem {
namespace {

// Enough rows that what each thread works in, some megabytes whatever their number, counts little.
constexpr int64_t kRows = 200000, kDim = 64, kQueries = 40;

// The most bytes that were in use beyond those before, over ten questions asked alone and a batch.
int64_t MostBytesOfSearches(const StoredKeys& keys, const std::vector<float>& queries) {
  const int64_t before = bytes_now;
  bytes_most = before;
  const auto index = MakeExactIndex(kDim, {keys.block()});
  SearchOptions options;
  options.k = 10;
  options.threads = 2;
  Neighbors found;
  const MatrixView all(queries.data(), kQueries, kDim);
  for (int64_t q = 0; q < 10; ++q) {
    EXPECT_TRUE((*index)->Search(all.Slice(q, 1), options, &found).ok());
  }
  EXPECT_TRUE((*index)->Search(all, options, &found).ok());
  return bytes_most - before;
}

TEST(SearchMemory, NarrowKeysAreNotCopiedAsFloats) {
  Random random(1);
  const std::vector<float> values = NormalFloats(kRows * kDim, 0, 1, &random);
  const std::vector<float> queries = NormalFloats(kQueries * kDim, 0, 1, &random);
  const int64_t copy = kRows * kDim * static_cast<int64_t>(sizeof(float));
  const StoredKeys halves(values, kDim, KeyType::kFloat16), bytes(values, kDim, KeyType::kInt8),
      nibbles(values, kDim, KeyType::kInt4);
  const ScopedSimdLevel level(SimdNamesAvailable().front());
  const int64_t of_halves = MostBytesOfSearches(halves, queries);
  const int64_t of_bytes = MostBytesOfSearches(bytes, queries);
  EXPECT_GT(of_halves, kRows * kDim);  // codes of 8 bits were made
  EXPECT_LT(of_halves, copy / 2);
  EXPECT_LT(of_bytes, copy / 4);                               // which are their own codes
  EXPECT_LT(MostBytesOfSearches(nibbles, queries), copy / 2);  // 8-bit codes, as of halves
}

}  // namespace
}  // namespace resmem
