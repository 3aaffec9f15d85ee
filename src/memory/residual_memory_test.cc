#include "resmem/residual_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "fixtures/every_memory.h"
#include "fixtures/small_memory.h"
#include "kernels/number_codec.h"
#include "memory/memory_parts.h"
#include "memory/residuals/residual.h"
#include "resmem_program/reopen_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

// The residual as defined, before any storage.
std::vector<float> TrueResidual(const RowData& data, const MemoryDescription& description,
                                int64_t row) {
  std::vector<float> residual(static_cast<size_t>(data.outputs));
  const float* const base = data.logits.data() + row * data.outputs;
  if (description.task == Task::kClassification) {
    ClassificationResidual(base, data.outputs, data.labels[static_cast<size_t>(row)],
                           description.parameters.temperature, residual.data());
  } else {
    for (int64_t i = 0; i < data.outputs; ++i) {
      residual[static_cast<size_t>(i)] =
          data.targets[static_cast<size_t>(row * data.outputs + i)] - base[i];
    }
  }
  return residual;
}

TEST(ResidualMemory, EveryFormAndTypeGivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(41, 7, 10);
  for (const MemoryDescription& description : EveryDescription(7, 10)) {
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description);
    Write(path, description, data.view(description));
    const ResidualMemory memory = Open(path);
    ASSERT_EQ(memory.rows(), 41);
    EXPECT_EQ(memory.capacity(), 41);
    EXPECT_EQ(memory.segments(), 1);
    EXPECT_TRUE(memory.Verify().ok());
    const float temperature = description.parameters.temperature;
    std::vector<float> key(7), residual(10), scratch(10);
    for (int64_t row = 0; row < 41; ++row) {
      const auto r = static_cast<size_t>(row);
      EXPECT_EQ(memory.id(row), data.ids[r]);
      EXPECT_EQ(memory.FindId(data.ids[r]), row);
      EXPECT_EQ(memory.source(row), description.has_sources ? data.sources[r] : "");
      memory.DecodeKey(row, key);
      const float tolerance = description.key_type == KeyType::kFloat32   ? 0.0f
                              : description.key_type == KeyType::kFloat16 ? 2e-3f
                              : description.key_type == KeyType::kInt4    ? 0.6f
                                                                          : 0.02f;
      for (size_t d = 0; d < 7; ++d) EXPECT_NEAR(key[d], data.keys[r * 7 + d], tolerance);
      if (description.task == Task::kClassification) {
        EXPECT_EQ(memory.label(row), data.labels[r]);
      } else {
        EXPECT_TRUE(
            std::ranges::equal(memory.target(row), std::span(data.targets).subspan(r * 10, 10)));
      }
      if (description.form == ResidualForm::kLogits) {
        EXPECT_TRUE(
            std::ranges::equal(memory.logits(row), std::span(data.logits).subspan(r * 10, 10)));
      }
      const std::vector<float> truth = TrueResidual(data, description, row);
      memory.Residual(row, temperature, residual);
      const bool packed = description.form == ResidualForm::kPacked;
      int kept = 0;
      for (size_t c = 0; c < 10; ++c) {
        const bool dropped =
            (packed || description.form == ResidualForm::kSparse) && residual[c] == 0;
        if (dropped) continue;
        ++kept;
        const float error = packed ? 0.036f * std::abs(truth[c]) : 0;
        EXPECT_NEAR(residual[c], truth[c], description.half_residuals ? 2e-3f : error);
      }
      EXPECT_EQ(kept, packed || description.form == ResidualForm::kSparse ? 3 : 10);
      // AddResidual is the same numbers, weighted.
      std::vector<float> sum(10, 0.25f);
      memory.AddResidual(row, temperature, 0.5f, scratch, sum);
      for (size_t c = 0; c < 10; ++c) EXPECT_EQ(sum[c], 0.25f + 0.5f * residual[c]);
    }
    EXPECT_FALSE(memory.FindId(9999).has_value());
    // A key finds itself first.
    memory.DecodeKey(5, key);
    Neighbors neighbors;
    ASSERT_TRUE(memory.index().Search(MatrixView(key.data(), 1, 7), {}, &neighbors).ok());
    EXPECT_EQ(neighbors.rows[0], 5);
    EXPECT_EQ(neighbors.distances[0], 0.0f);
  }
}

TEST(ResidualMemory, DescriptionComesBackWhole) {
  const TemporaryFolder folder;
  MemoryDescription written;
  written.dim = 2;
  written.outputs = 3;
  written.parameters = {7, 0.3f, 2.5f};
  written.tuned = true;
  written.cross_fitted = true;
  written.calibrator = "simplex";
  written.calibrator_temperature = 0.9f;
  written.fingerprint = {"0123", "avgpool"};
  written.class_names = {"a", "Ärger \"x\"\n", ""};
  written.seed = ~uint64_t{0};
  written.notes = {{"trace", "{\"k\":1}"}, {"", "empty name"}};
  Write(folder / "m", written, MakeRows(4, 2, 3).view(written));
  const ResidualMemory memory = Open(folder / "m");
  const MemoryDescription& read = memory.description();
  EXPECT_EQ(read.parameters.k, 7);
  EXPECT_EQ(read.parameters.sigma, 0.3f);
  EXPECT_EQ(read.parameters.temperature, 2.5f);
  EXPECT_TRUE(read.tuned);
  EXPECT_TRUE(read.cross_fitted);
  EXPECT_EQ(read.calibrator, "simplex");
  EXPECT_EQ(read.calibrator_temperature, 0.9f);
  EXPECT_EQ(read.fingerprint, written.fingerprint);
  EXPECT_EQ(read.class_names, written.class_names);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.notes, written.notes);
  EXPECT_FALSE(read.tool_version.empty());
  EXPECT_EQ(read.created.size(), std::string("2026-11-16T01:02:03Z").size());
}

TEST(ResidualMemory, WithoutRowsOpensAndFindsNothing) {
  const TemporaryFolder folder;
  MemoryDescription description;
  description.dim = 2;
  description.outputs = 3;
  Write(folder / "m", description, MakeRows(0, 2, 3).view(description));
  const ResidualMemory memory = Open(folder / "m");
  EXPECT_EQ(memory.rows(), 0);
  EXPECT_EQ(memory.segments(), 0);
  EXPECT_EQ(memory.MeanResidualMass(1), 0);
  const std::vector<float> query(2);
  Neighbors neighbors;
  ASSERT_TRUE(memory.index().Search(MatrixView(query.data(), 1, 2), {}, &neighbors).ok());
  EXPECT_EQ(neighbors.rows[0], -1);
}

TEST(ResidualMemory, MassIsTheMeanOfHalfTheResidualsAndTheSparseFormCountsWhatItDropped) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(3000, 2, 10);
  MemoryDescription description;
  description.dim = 2;
  description.outputs = 10;
  description.top = 3;
  double total = 0, kept = 0;
  for (int64_t row = 0; row < 3000; ++row) {
    const std::vector<float> residual = TrueResidual(data, description, row);
    std::vector<uint32_t> classes(3);
    std::vector<float> values(3);
    SelectTop(residual.data(), 10, 3, classes.data(), values.data());
    for (const float r : residual) total += std::abs(r);
    for (const float r : values) kept += std::abs(r);
  }
  for (const ResidualForm form :
       {ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse}) {
    description.form = form;
    const std::string path = folder / ResidualFormName(form);
    Write(path, description, data.view(description));
    const ResidualMemory memory = Open(path);
    EXPECT_NEAR(memory.MeanResidualMass(description.parameters.temperature), total / 2 / 3000,
                1e-6);
    EXPECT_NEAR(memory.dropped_mass(), form == ResidualForm::kSparse ? (total - kept) / total : 0,
                1e-6);
  }
}

TEST(ResidualMemory, WideClassesAreStoredAboveSixtyFiveThousandOutputs) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(2, 1, 70000);
  MemoryDescription description;
  description.dim = 1;
  description.outputs = 70000;
  description.form = ResidualForm::kSparse;
  description.top = 2;
  Write(folder / "m", description, data.view(description));
  const ResidualMemory memory = Open(folder / "m");
  std::vector<float> residual(70000);
  memory.Residual(1, description.parameters.temperature, residual);
  EXPECT_GT(residual[static_cast<size_t>(data.labels[1])], 0.9f);
  EXPECT_EQ(std::ranges::count_if(residual, [](float r) { return r != 0; }), 2);
}

// What two open memories answer to the same queries, bit for bit, and all that they store.
void ExpectSame(const ResidualMemory& a, const ResidualMemory& b) {
  ASSERT_EQ(a.capacity(), b.capacity());
  ASSERT_EQ(a.rows(), b.rows());
  const int64_t dim = a.description().dim;
  std::vector<float> keys(static_cast<size_t>(a.capacity() * dim)), other(keys.size());
  for (int64_t row = 0; row < a.capacity(); ++row) {
    EXPECT_EQ(a.id(row), b.id(row));
    EXPECT_EQ(a.deleted(row), b.deleted(row));
    EXPECT_EQ(a.label(row), b.label(row));
    EXPECT_TRUE(std::ranges::equal(a.logits(row), b.logits(row)));
    const auto at = static_cast<size_t>(row * dim), size = static_cast<size_t>(dim);
    a.DecodeKey(row, std::span(keys).subspan(at, size));
    b.DecodeKey(row, std::span(other).subspan(at, size));
  }
  EXPECT_EQ(keys, other);
  Neighbors near_a, near_b;
  const MatrixView queries(keys.data(), a.capacity(), dim);
  SearchOptions options;
  options.k = 5;
  ASSERT_TRUE(a.index().Search(queries, options, &near_a).ok());
  ASSERT_TRUE(b.index().Search(queries, options, &near_b).ok());
  EXPECT_EQ(near_a.rows, near_b.rows);
  EXPECT_EQ(near_a.distances, near_b.distances);
}

TEST(ReopenMemory, SharesWhatStayedAndAnswersAsAMemoryThatIsOpenedAnew) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.resmem";
  const fixtures::Problem problem = fixtures::MakeProblem(400, 8, 4, 1);
  const fixtures::Problem more = fixtures::MakeProblem(30, 8, 4, 2);
  Write(path, fixtures::Describe(problem, {}), problem.view());
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.5}).ok());
  std::optional<ResidualMemory> former(Open(path));
  const auto kept_residuals = [](const ResidualMemory& memory) {
    return MemoryParts::Cache(memory)->segments()[0];
  };
  const auto reopen = [&](bool shares) {
    Result<ResidualMemory> now = ReopenMemory(path, {.verify_blocks = false}, *former);
    ASSERT_TRUE(now.ok()) << now.status().message();
    EXPECT_EQ(now->logits(7).data() == former->logits(7).data(), shares);
    EXPECT_EQ(kept_residuals(*now) == kept_residuals(*former), shares);
    former.emplace(std::move(*now));  // the former one is gone, and what they shared is not
    ExpectSame(*former, Open(path));
  };
  Result<MemoryWriter> writer = MemoryWriter::Append(path, 30);
  ASSERT_TRUE(writer.ok() && writer->Add(more.view()).ok() && writer->Finish().ok());
  reopen(/*shares=*/true);
  ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{3, 410}).ok());
  reopen(/*shares=*/true);
  ASSERT_TRUE(CompactMemory(path).ok());
  reopen(/*shares=*/false);
  // Another memory at the same path, whose files have the same names and sizes.
  const fixtures::Problem other = fixtures::MakeProblem(428, 8, 4, 3);
  std::filesystem::remove_all(path);
  Write(path, fixtures::Describe(other, {}), other.view());
  reopen(/*shares=*/false);
}

TEST(ResidualMemory, NothingThereIsNotFound) {
  const TemporaryFolder folder;
  const Status status = ResidualMemory::Open(folder / "none").status();
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find("none"), std::string::npos);
  EXPECT_EQ(ResidualMemory::Open(folder / "").status().code(), ErrorCode::kNotFound);
}

TEST(CheckParameters, RefusesWhatCannotBeComputed) {
  EXPECT_TRUE(CheckParameters({}).ok());
  EXPECT_TRUE(CheckParameters({0, 1, 1}).ok());
  for (const Parameters& bad :
       {Parameters{-1, 1, 1}, Parameters{1, 0, 1}, Parameters{1, -1, 1}, Parameters{1, NAN, 1},
        Parameters{1, 1, 0}, Parameters{1, 1, INFINITY}}) {
    EXPECT_EQ(CheckParameters(bad).code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace resmem
