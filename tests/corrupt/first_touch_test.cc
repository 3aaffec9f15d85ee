// A memory that was opened without reading its blocks, with one bit flipped in any byte of any
// file: every question is answered as by the sound memory, or with kCorrupt.  Never another number.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"
#include "resmem/evaluation.h"
#include "resmem/predictor.h"
#include "support/file_system.h"

namespace resmem {
namespace {

using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::WriteBytes;

constexpr OpenOptions kQuick{.verify_blocks = false};

std::vector<std::string> FilesOf(const std::string& path) {
  return FileSystem::Posix().List(path).value();
}

// All that can be asked, and the first error on the way.
struct Answers {
  std::vector<double> numbers;
  Status status;

  template <typename Values>
  void Add(const Values& values) {
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  void Note(const Status& next) {
    if (status.ok()) status = next;
  }
};

void AskPredictor(const ResidualMemory& memory, const RowData& queries, Answers* answers) {
  const Predictor predictor(memory);
  PredictOptions options = predictor.DefaultOptions();
  options.parameters.k = 3;
  options.threads = 1;
  const Rows rows = queries.view(memory.description());
  std::vector<float> scores(queries.logits.size());
  const Status status = predictor.Predict(rows.keys, rows.logits, options, scores);
  answers->Note(status);
  if (status.ok()) answers->Add(scores);
  const auto explanation =
      Explain(predictor, rows.keys.row_span(0), rows.logits.row_span(0), options);
  answers->Note(explanation.status());
  if (!explanation.ok()) return;
  answers->Add(explanation->score);
  for (const Explanation::Line& line : explanation->lines) answers->Add(line.contribution);
}

// Functions without a Status: NaN for what is broken, and damage() tells why.
void AskRows(const ResidualMemory& memory, Answers* answers) {
  const MemoryDescription& description = memory.description();
  const float temperature = description.parameters.temperature;
  const auto outputs = static_cast<size_t>(description.outputs);
  std::vector<float> key(static_cast<size_t>(description.dim)), residual(outputs), scratch(outputs),
      sum(outputs);
  std::vector<float> given;
  const auto add = [&](const auto& values) {
    given.insert(given.end(), values.begin(), values.end());
  };
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    memory.DecodeKey(row, key);
    add(key);
    memory.Residual(row, temperature, residual);
    add(residual);
    memory.AddResidual(row, temperature, 1, scratch, sum);
    if (description.form == ResidualForm::kLogits) add(memory.logits(row));
    if (description.task == Task::kRegression) add(memory.target(row));
    given.push_back(static_cast<float>(memory.id(row)));
    given.push_back(static_cast<float>(memory.source(row).size()));
  }
  add(sum);
  given.push_back(static_cast<float>(memory.dropped_mass()));
  given.push_back(static_cast<float>(memory.MeanResidualMass(temperature)));
  const bool broken =
      std::any_of(given.begin(), given.end(), [](float x) { return std::isnan(x); });
  EXPECT_EQ(broken, !memory.damage().ok());
  answers->Note(memory.damage());
  if (!broken) answers->Add(given);
}

Answers Ask(const std::string& path, const RowData& queries) {
  Answers answers;
  const auto memory = ResidualMemory::Open(path, kQuick);
  answers.Note(memory.status());
  if (!memory.ok()) return answers;
  AskPredictor(*memory, queries, &answers);
  AskRows(*memory, &answers);
  return answers;
}

// Flips a bit of every `step`-th byte.  Gives the number of flips that no question met.
int64_t FlipEveryByte(const std::string& path, const RowData& queries, size_t step) {
  const Answers sound = Ask(path, queries);
  EXPECT_TRUE(sound.status.ok()) << sound.status.message();
  int64_t unseen = 0;
  for (const std::string& name : FilesOf(path)) {
    if (name == "LOCK") continue;
    const std::string good = ReadBytes(path + "/" + name);
    for (size_t i = 0; i < good.size(); i += step) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      WriteBytes(path + "/" + name, bytes);
      const Answers answers = Ask(path, queries);
      if (answers.status.ok()) {
        ++unseen;
        EXPECT_EQ(answers.numbers, sound.numbers) << name << ", byte " << i;
      } else {
        EXPECT_EQ(answers.status.code(), ErrorCode::kCorrupt) << answers.status.message();
        EXPECT_NE(answers.status.message().find(name), std::string::npos)
            << answers.status.message();
      }
    }
    WriteBytes(path + "/" + name, good);
  }
  return unseen;
}

TEST(FirstTouch, AFlippedBitOfAMemoryOfAnyFormIsAnErrorAndNeverAnotherNumber) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const MemoryDescription& description : EveryDescription(3, 4)) {
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description);
    fixtures::Write(path, description, MakeRows(9, 3, 4).view(description));
    // Every block is small, and some question reads each.
    EXPECT_EQ(FlipEveryByte(path, MakeRows(2, 3, 4, 5), 3), 0);
  }
}

TEST(FirstTouch, AFlippedBitOfAnIndexIsAnErrorAndNeverAnotherNumber) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const int bits : {8, 4, 2}) {
    const std::string path = folder / std::to_string(bits);
    const RowData data = MakeRows(3000, 6, 4);
    MemoryDescription description = Small();
    description.dim = 6;
    description.parameters.k = 3;
    fixtures::Write(path, description, data.view(description));
    ASSERT_TRUE(IndexMemory(path, {.recall = 0.5, .code_bits = bits}).ok());
    ASSERT_TRUE(fixtures::Open(path).index().Approximate(3));
    FlipEveryByte(path, MakeRows(2, 6, 4, 5), 9973);
  }
}

TEST(FirstTouch, OnlyBlocksThatAreReadAreChecked) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  MemoryDescription description = Small();
  description.outputs = 300;
  description.form = ResidualForm::kDense;
  const RowData data = MakeRows(2000, 3, 300);
  fixtures::Write(path, description, data.view(description));
  const std::string file = path + "/segment-000001.resmem";
  std::string bytes = ReadBytes(file);
  ASSERT_GT(bytes.size(), size_t{2} << 20);
  bytes[bytes.size() - 4096] = static_cast<char>(bytes[bytes.size() - 4096] ^ 64);
  WriteBytes(file, bytes);

  const auto memory = ResidualMemory::Open(path, kQuick);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  const float temperature = description.parameters.temperature;
  std::vector<float> residual(300);
  memory->Residual(0, temperature, residual);
  EXPECT_TRUE(memory->damage().ok());
  EXPECT_TRUE(std::isfinite(residual[0]));
  memory->Residual(1999, temperature, residual);
  EXPECT_EQ(memory->damage().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(std::isnan(residual[0]));
  // A question whose neighbor lies there is refused; one whose neighbor does not is answered.
  const Predictor predictor(*memory);
  PredictOptions options = predictor.DefaultOptions();
  options.parameters.k = 1;
  const Rows rows = data.view(description);
  std::vector<float> scores(300);
  EXPECT_TRUE(
      predictor.Predict(rows.keys.Slice(0, 1), rows.logits.Slice(0, 1), options, scores).ok());
  const Status refused =
      predictor.Predict(rows.keys.Slice(1999, 1), rows.logits.Slice(1999, 1), options, scores);
  EXPECT_EQ(refused.code(), ErrorCode::kCorrupt);
  EXPECT_NE(refused.message().find("residuals"), std::string::npos) << refused.message();
}

}  // namespace
}  // namespace resmem
