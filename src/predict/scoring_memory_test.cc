// What scoring allocates does not grow with the queries: nothing is allocated for one.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "fixtures/every_memory.h"
#include "resmem/predictor.h"

namespace {

std::atomic<int64_t> allocations{0};

// Not inlined: the compiler would call `free` a mistake beside `new`.
[[gnu::noinline]] void Release(void* place) noexcept {
  std::free(place);
}

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  void* const place = std::malloc(size);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}
// The sanitizers' own would not come by the one above, as the standard library's does.
void* operator new[](size_t size) {
  return operator new(size);
}
void operator delete(void* place) noexcept {
  Release(place);
}
void operator delete(void* place, size_t) noexcept {
  Release(place);
}
void operator delete[](void* place) noexcept {
  Release(place);
}
void operator delete[](void* place, size_t) noexcept {
  Release(place);
}

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

constexpr int64_t kDim = 3, kOutputs = 37, kRows = 200, kQueries = 100;

TEST(ScoringMemory, NothingIsAllocatedForAQuery) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, kOutputs);
  for (const MemoryDescription& description : EveryDescription(kDim, kOutputs)) {
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description);
    Write(path, description, data.view(description));
    const ResidualMemory memory = Open(path);
    const Predictor predictor(memory);
    PredictOptions options = predictor.DefaultOptions();
    options.parameters.k = 130;  // more than the sum takes up at once
    options.threads = 1;
    const MatrixView keys(data.keys.data(), kQueries, kDim);
    const MatrixView logits(data.logits.data(), kQueries, kOutputs);
    std::vector<float> scores(kQueries * kOutputs);
    const auto allocated = [&](int64_t queries) -> int64_t {
      Neighbors neighbors;
      EXPECT_TRUE(predictor
                      .FindNeighbors(keys.Slice(0, queries), options.parameters.k, {}, 1, nullptr,
                                     &neighbors)
                      .ok());
      const int64_t before = allocations;
      EXPECT_TRUE(predictor
                      .Score(keys.Slice(0, queries), logits.Slice(0, queries), neighbors, options,
                             std::span(scores).first(static_cast<size_t>(queries * kOutputs)))
                      .ok());
      return allocations - before;
    };
    allocated(1);  // room for residuals that are kept
    const int64_t for_one = allocated(1);
    EXPECT_GT(for_one, 0);  // they are counted
    EXPECT_EQ(allocated(kQueries), for_one);
  }
}

}  // namespace
}  // namespace resmem
