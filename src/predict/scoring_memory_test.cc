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

// What Tune() would store.
Blend SomeBlend(const Parameters& parameters) {
  Blend blend;
  blend.parameters = parameters;
  blend.coefficients = {{{0.7f, 0.1f}, {0.3f}, {-0.2f}, {1.0f}}};
  for (int i = 0; i <= 100; ++i) blend.distances.push_back(0.1f * static_cast<float>(i));
  return blend;
}

// Of scoring `queries` of the data by this method.
int64_t AllocatedBy(const ResidualMemory& memory, const RowData& data, Method method,
                    int64_t queries) {
  const Predictor predictor(memory);
  PredictOptions options = predictor.OptionsOf(method);
  options.parameters.k = 130;  // more than the sum takes up at once
  options.threads = 1;
  const MatrixView keys(data.keys.data(), queries, kDim);
  const MatrixView logits(data.logits.data(), queries, kOutputs);
  std::vector<float> scores(static_cast<size_t>(queries * kOutputs));
  Neighbors neighbors;
  EXPECT_TRUE(predictor.FindNeighbors(keys, options.parameters.k, {}, 1, nullptr, &neighbors).ok());
  const int64_t before = allocations;
  EXPECT_TRUE(predictor.Score(keys, logits, neighbors, options, scores).ok());
  return allocations - before;
}

TEST(ScoringMemory, NothingIsAllocatedForAQuery) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, kOutputs);
  for (MemoryDescription description : EveryDescription(kDim, kOutputs)) {
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description);
    Write(path, description, data.view(description));
    description.answer = Method::kBlend;
    description.blend = SomeBlend(description.parameters);
    ASSERT_TRUE(UpdateDescription(path, description).ok());
    const ResidualMemory memory = Open(path);
    for (const Method method : {Method::kResMem, Method::kBlend}) {
      SCOPED_TRACE(MethodName(method));
      AllocatedBy(memory, data, method, 1);  // room for residuals that are kept
      const int64_t for_one = AllocatedBy(memory, data, method, 1);
      EXPECT_GT(for_one, 0);  // they are counted
      EXPECT_EQ(AllocatedBy(memory, data, method, kQueries), for_one);
    }
  }
}

}  // namespace
}  // namespace resmem
