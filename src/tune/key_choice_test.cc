#include "tune/key_choice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixtures/small_memory.h"
#include "tune/key_candidates.h"

namespace resmem {
namespace {

using fixtures::MakeProblem;
using fixtures::Open;
using fixtures::Problem;
using fixtures::TemporaryFolder;
using fixtures::Write;

const std::vector<KeyTransform> kAll = {KeyTransform::kNone, KeyTransform::kUnit,
                                        KeyTransform::kWhiten};

// What tells classes apart lies in two dimensions; in the others rows of one class differ far more.
Problem MakeStretched(int64_t rows, uint64_t seed) {
  Problem problem = MakeProblem(rows, 8, 6, seed);
  Random noise(seed, 7);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    for (size_t d = 2; d < 8; ++d) {
      problem.keys[row * 8 + d] = static_cast<float>(20 * noise.Normal());
    }
  }
  return problem;
}

Result<Tuning> TuneKeys(const ResidualMemory& memory, const Problem& rows,
                        const std::vector<KeyTransform>& transforms, int threads = 0) {
  TuneOptions options;
  options.key_transforms = transforms;
  options.threads = threads;
  const Predictor predictor(memory);
  return Tune(predictor, ReadRows(rows.view()), options);
}

std::vector<float> Scores(const std::string& path, const Problem& rows) {
  const ResidualMemory memory = Open(path);
  const Predictor predictor(memory);
  std::vector<float> scores(rows.logits.size());
  const Status status =
      predictor.Predict(rows.view().keys, rows.view().logits, predictor.DefaultOptions(), scores);
  EXPECT_TRUE(status.ok()) << status.message();
  return scores;
}

double MeanNll(const std::vector<float>& scores, const Problem& rows) {
  double sum = 0;
  for (int64_t row = 0; row < rows.rows; ++row) {
    const auto label = static_cast<int64_t>(rows.labels[static_cast<size_t>(row)]);
    sum -= std::log(std::max(scores[static_cast<size_t>(row * rows.classes + label)], 1e-30f));
  }
  return sum / static_cast<double>(rows.rows);
}

TEST(KeyChoice, NoiseWithinClassesIsWhitenedAndUndoIsExact) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const Problem train = MakeStretched(500, 1), validation = MakeStretched(400, 2),
                test = MakeStretched(400, 3);
  Write(path, fixtures::Describe(train, Parameters()), train.view());
  const std::vector<float> before = Scores(path, test);
  const MemoryDescription description = Open(path).description();
  const Result<Tuning> tuning = TuneKeys(Open(path), validation, kAll);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_EQ(tuning->keys.former, KeyTransform::kNone);
  EXPECT_EQ(tuning->keys.chosen, KeyTransform::kWhiten);
  EXPECT_EQ(tuning->keys.reason, "");
  EXPECT_GT(tuning->keys.interval.low, 0);
  ASSERT_EQ(tuning->keys.trials.size(), 3u);
  EXPECT_EQ(tuning->keys.trials[0].transform, KeyTransform::kNone);
  EXPECT_GT(tuning->keys.trials[0].nll, tuning->keys.trials[2].nll + 0.1);
  ASSERT_TRUE(tuning->blend.has_value());
  EXPECT_TRUE(tuning->blend->adopted);

  ASSERT_TRUE(UpdateDescription(path, ApplyTuning(description, *tuning)).ok());
  EXPECT_EQ(Open(path).description().key_transform, KeyTransform::kWhiten);
  // What cross-validation promised holds on rows that nobody has seen.
  EXPECT_NEAR(MeanNll(Scores(path, test), test), tuning->blend->nll, 0.15);

  const Result<MemoryDescription> former = UndoTuning(Open(path).description());
  ASSERT_TRUE(former.ok());
  EXPECT_EQ(former->key_transform, KeyTransform::kNone);
  ASSERT_TRUE(UpdateDescription(path, *former).ok());
  EXPECT_EQ(Scores(path, test), before);
}

TEST(KeyChoice, WhereNothingIsGainedTheMemorysOwnKeysStay) {
  const TemporaryFolder folder;
  const Problem train = MakeProblem(250, 8, 6, 1), validation = MakeProblem(150, 8, 6, 2);
  for (const KeyTransform own : {KeyTransform::kNone, KeyTransform::kWhiten}) {
    MemoryDescription description = fixtures::Describe(train, Parameters());
    description.key_transform = own;
    Write(folder / KeyTransformName(own), description, train.view());
    const ResidualMemory memory = Open(folder / KeyTransformName(own));
    const Result<Tuning> tuning = TuneKeys(memory, validation, kAll);
    ASSERT_TRUE(tuning.ok());
    EXPECT_EQ(tuning->keys.chosen, own);
    EXPECT_NE(tuning->keys.reason, "");
    // The same as if there had been no choice.
    const Result<Tuning> alone = TuneKeys(memory, validation, {});
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(tuning->blend->blend, alone->blend->blend);
    EXPECT_EQ(tuning->blend->nll, alone->blend->nll);
    EXPECT_EQ(tuning->chosen, alone->chosen);
  }
}

TEST(KeyChoice, ThreadsDoNotChangeIt) {
  const TemporaryFolder folder;
  const Problem train = MakeStretched(200, 1), validation = MakeStretched(120, 2);
  Write(folder / "m", fixtures::Describe(train, Parameters()), train.view());
  const Result<Tuning> one = TuneKeys(Open(folder / "m"), validation, kAll, 1);
  const Result<Tuning> three = TuneKeys(Open(folder / "m"), validation, kAll, 3);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->keys.chosen, three->keys.chosen);
  EXPECT_EQ(one->keys.gain, three->keys.gain);
  EXPECT_EQ(one->blend->blend, three->blend->blend);
}

TEST(KeyChoice, ASingleTransformIsTakenAndWithoutABlendOfSeveralTheOwn) {
  const TemporaryFolder folder;
  const Problem train = MakeProblem(300, 8, 6, 1), validation = MakeProblem(120, 8, 6, 2),
                few = MakeProblem(60, 8, 6, 2);
  Write(folder / "m", fixtures::Describe(train, Parameters()), train.view());
  const ResidualMemory memory = Open(folder / "m");
  const Result<Tuning> taken = TuneKeys(memory, validation, {KeyTransform::kUnit});
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken->keys.chosen, KeyTransform::kUnit);
  EXPECT_LT(taken->chosen.sigma, 2);  // in units of vectors of length 1
  const Result<Tuning> nothing = TuneKeys(memory, few, {KeyTransform::kUnit});
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->keys.chosen, KeyTransform::kNone);
  EXPECT_EQ(nothing->keys.reason, "nothing was fitted on other keys");
  const Result<Tuning> kept = TuneKeys(memory, few, kAll);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->keys.chosen, KeyTransform::kNone);
  EXPECT_NE(kept->keys.reason.find("60 held-out rows"), std::string::npos);
}

TEST(KeyChoice, ATransformThatCannotBeIsSaidAndLeftOut) {
  const TemporaryFolder folder;
  Problem train = MakeProblem(300, 8, 6, 1);
  for (int64_t row = 0; row < 300; ++row) {  // one key a class
    for (int64_t d = 0; d < 8; ++d) {
      train.keys[static_cast<size_t>(row * 8 + d)] =
          static_cast<float>((train.labels[static_cast<size_t>(row)] * 5 + d * 3) % 7);
    }
  }
  Write(folder / "m", fixtures::Describe(train, Parameters()), train.view());
  const Result<Tuning> tuning = TuneKeys(Open(folder / "m"), MakeProblem(120, 8, 6, 2), kAll);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_NE(tuning->keys.chosen, KeyTransform::kWhiten);
  EXPECT_NE(tuning->keys.trials[2].reason, "");
}

// Candidates are judged by the very neighbors that the memory will find.
TEST(KeyCandidates, AreTheNeighborsOfTheRewrittenMemory) {
  const TemporaryFolder folder;
  const Problem train = MakeStretched(150, 1), queries = MakeStretched(20, 2);
  for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
    for (const KeyTransform transform : kAll) {
      const std::string path =
          folder / (std::string(KeyTypeName(type)) + KeyTransformName(transform));
      MemoryDescription description = fixtures::Describe(train, Parameters());
      description.key_type = type;
      if (transform == KeyTransform::kNone) description.key_transform = KeyTransform::kWhiten;
      Write(path, description, train.view());
      ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{3, 77}).ok());
      ValidationRows rows;
      rows.rows = 20;
      rows.blocks.resize(1);
      rows.blocks[0].key_values = queries.keys;
      rows.blocks[0].dim = queries.dim;
      const ResidualMemory memory = Open(path);
      const Predictor predictor(memory);
      ASSERT_TRUE(
          predictor
              .FindNeighbors(queries.view().keys, 12, {}, 0, nullptr, &rows.blocks[0].neighbors)
              .ok());
      description.key_transform = transform;
      ASSERT_TRUE(UpdateDescription(path, description).ok());
      const ResidualMemory rewritten = Open(path);
      const Predictor again(rewritten);
      Neighbors expected;
      ASSERT_TRUE(again.FindNeighbors(queries.view().keys, 12, {}, 0, nullptr, &expected).ok());
      for (const int64_t limit : {int64_t{1} << 30, int64_t{2000}}) {  // pieces of 31 rows
        TuneOptions options;
        options.memory_limit = limit;
        const auto found = FindTransformedNeighbors(memory, transform, rows, options);
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_EQ((*found)[0].rows, expected.rows);
        EXPECT_EQ((*found)[0].distances, expected.distances);
      }
    }
  }
}

}  // namespace
}  // namespace resmem
