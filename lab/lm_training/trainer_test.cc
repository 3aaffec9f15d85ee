// Runs of a tiny language model on tiny texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "lm_training/lm_training.h"
#include "lm_training/onnx_export.h"
#include "lm_training/reference_model.h"
#include "lm_training/training_windows.h"
#include "resmem/models/onnx_model.h"
#include "support/random.h"

namespace resmem {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kVocabulary = 50;

class LmTrainerTest : public testing::Test {
 protected:
  LmTrainerTest() {
    WriteTokens("train.tokens", 1, 24);
    WriteTokens("valid.tokens", 2, 4);
  }

  // Documents that count up from somewhere, in steps of one or of three: the next token follows
  // from the two before.
  void WriteTokens(const char* name, uint64_t seed, int64_t documents,
                   const std::string& tokenizer = "counting") const {
    auto writer = TokenSetWriter::Create(folder_ / name, kVocabulary, 1);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    Random random(seed);
    for (int64_t d = 0; d < documents; ++d) {
      std::vector<int32_t> ids(5 + random.Below(60));
      const int32_t step = random.Below(2) == 0 ? 1 : 3;
      auto id = static_cast<int32_t>(random.Below(48));
      for (int32_t& each : ids) each = 2 + (id += step) % 48;
      ASSERT_TRUE(writer->Add(ids, "").ok());
    }
    ASSERT_TRUE(writer->Finish(tokenizer, {}).ok());
  }

  LmRecipe Recipe() const {
    LmRecipe recipe;
    recipe.network = "t5-d32-l2-h1-f64";
    recipe.tokens = folder_ / "train.tokens";
    recipe.validation = folder_ / "valid.tokens";
    recipe.context = 24;
    recipe.passes = 2;
    recipe.batch = 8;
    recipe.peak_rate = 0.01;
    recipe.warmup_steps = 5;
    recipe.dropout = 0.1;
    recipe.evaluate_every = 5;
    recipe.checkpoint_every = 3;
    recipe.threads = 1;
    return recipe;
  }
  std::string Folder(const char* name, const LmRecipe& recipe) const {
    fs::create_directories(folder_ / name);
    EXPECT_TRUE(WriteLmRecipe((folder_ / name) + "/recipe.json", recipe).ok());
    return folder_ / name;
  }
  // Stops after `stop` steps; -1: never.
  Status Train(const std::string& folder, int64_t stop = -1) {
    reports_.clear();
    notes_.clear();
    LmObserver observer;
    observer.note = [&](const std::string& note) { notes_.push_back(note); };
    observer.step = [&](int64_t step, int64_t, double, double) { return step != stop; };
    observer.report = [&](const LmReport& report) { reports_.push_back(report); };
    return TrainLanguageModel(folder, observer);
  }
  // The lines of a log without the times, which differ.
  static std::vector<std::string> LogLines(const std::string& folder) {
    std::vector<std::string> lines;
    std::istringstream log(fixtures::ReadBytes(folder + "/log.jsonl"));
    for (std::string line; std::getline(log, line);) {
      lines.push_back(line.substr(0, line.find("\"tokens_per_second\"")));
    }
    return lines;
  }

  const fixtures::TemporaryFolder folder_;
  std::vector<LmReport> reports_;
  std::vector<std::string> notes_;
};

TEST_F(LmTrainerTest, LearnsAndLeavesTheFilesOfARun) {
  LmRecipe recipe = Recipe();
  recipe.passes = 40;
  recipe.evaluate_every = 50;
  recipe.dropout = 0;
  const std::string folder = Folder("run", recipe);
  const Status status = Train(folder);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_GE(reports_.size(), 3u);
  EXPECT_LT(reports_.front().loss, std::log(48));
  EXPECT_LT(reports_.back().loss, std::min(0.7, 0.5 * reports_.front().loss));
  EXPECT_LT(reports_.back().validation_loss, 1.2);
  EXPECT_GT(reports_.back().validation_accuracy, 0.7);
  EXPECT_EQ(reports_.back().step, reports_.back().steps);
  for (const char* name : {"last.onnx", "last.json", "best.onnx", "best.json", "log.jsonl"}) {
    EXPECT_TRUE(fs::exists(folder + "/" + name)) << name;
  }
  const auto manifest = ReadModelManifest(folder + "/last.onnx");
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->context, 24);
  EXPECT_EQ(manifest->tokenizer, "counting");
  EXPECT_EQ(manifest->classes, 128);
  EXPECT_EQ(std::ssize(LogLines(folder)), std::ssize(reports_));
}

TEST_F(LmTrainerTest, AResumedRunEndsWithTheBytesOfAnUnbrokenOneOnAnyThreads) {
  for (const LmOptimizer optimizer : {LmOptimizer::kAdamW, LmOptimizer::kAdafactor}) {
    LmRecipe recipe = Recipe();
    recipe.optimizer = optimizer;
    const std::string name = NameOf(optimizer);
    const std::string whole = Folder((name + "-whole").c_str(), recipe);
    recipe.threads = 3;
    const std::string broken = Folder((name + "-broken").c_str(), recipe);
    ASSERT_TRUE(Train(whole).ok());
    EXPECT_EQ(Train(broken, 4).code(), ErrorCode::kCancelled);
    EXPECT_EQ(Train(broken, 7).code(), ErrorCode::kCancelled);
    ASSERT_TRUE(Train(broken).ok());
    for (const char* file : {"last.onnx", "best.onnx", "last.json"}) {
      EXPECT_EQ(fixtures::ReadBytes(whole + "/" + file), fixtures::ReadBytes(broken + "/" + file))
          << file;
    }
    EXPECT_EQ(LogLines(whole), LogLines(broken));
  }
}

TEST_F(LmTrainerTest, AKilledRunGoesOnFromItsLastSoundCheckpoint) {
  const std::string whole = Folder("whole", Recipe()), broken = Folder("broken", Recipe());
  ASSERT_TRUE(Train(whole).ok());
  ASSERT_EQ(Train(broken, 8).code(), ErrorCode::kCancelled);
  ASSERT_TRUE(fs::exists(broken + "/checkpoint-00000008"));
  ASSERT_FALSE(fs::exists(broken + "/checkpoint-00000005")) << "the newest two are kept";
  {
    std::fstream file(broken + "/checkpoint-00000008",
                      std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(5000);
    file.put('\x5a');
    file.put('\xa5');
  }
  ASSERT_TRUE(Train(broken).ok());
  ASSERT_FALSE(notes_.empty());
  EXPECT_NE(notes_[0].find("checkpoint-00000008"), std::string::npos) << notes_[0];
  EXPECT_NE(notes_[1].find("resumed after step 6"), std::string::npos) << notes_[1];
  EXPECT_EQ(fixtures::ReadBytes(whole + "/last.onnx"), fixtures::ReadBytes(broken + "/last.onnx"));
  EXPECT_EQ(LogLines(whole), LogLines(broken));
}

TEST_F(LmTrainerTest, TheCheckpointOfAnotherModelIsRefused) {
  ASSERT_EQ(Train(Folder("run", Recipe()), 3).code(), ErrorCode::kCancelled);
  LmRecipe other = Recipe();
  other.network = "t5-d64-l2-h1-f64";
  EXPECT_EQ(Train(Folder("run", other)).code(), ErrorCode::kMismatch);
}

TEST_F(LmTrainerTest, OtherTokensUnderTheSameNameAreRefused) {
  const std::string folder = Folder("run", Recipe());
  ASSERT_EQ(Train(folder, 3).code(), ErrorCode::kCancelled);
  WriteTokens("train.tokens", 3, 24);
  const Status status = Train(folder);
  EXPECT_EQ(status.code(), ErrorCode::kMismatch);
  EXPECT_NE(status.message().find("other tokens"), std::string::npos) << status.message();
}

TEST_F(LmTrainerTest, ADivergedRunKeepsItsLastGoodCheckpoint) {
  LmRecipe recipe = Recipe();
  recipe.peak_rate = 1000;
  recipe.warmup_steps = 0;
  recipe.most_gradient = 0;
  recipe.weight_decay = 1;
  recipe.passes = 100;
  recipe.checkpoint_every = 1;
  const std::string folder = Folder("run", recipe);
  const Status status = Train(folder);
  EXPECT_EQ(status.code(), ErrorCode::kBadData) << status.message();
  EXPECT_NE(status.message().find("--peak-rate"), std::string::npos) << status.message();
}

TEST_F(LmTrainerTest, TokensThatDoNotFitAreRefused) {
  LmRecipe recipe = Recipe();
  recipe.tokens = folder_ / "nowhere.tokens";
  EXPECT_EQ(Train(Folder("a", recipe)).code(), ErrorCode::kNotFound);
  recipe = Recipe();
  recipe.vocabulary = 32;
  EXPECT_EQ(Train(Folder("b", recipe)).code(), ErrorCode::kMismatch);
  WriteTokens("valid.tokens", 2, 4, "another");
  EXPECT_EQ(Train(Folder("c", Recipe())).code(), ErrorCode::kMismatch);
}

TEST_F(LmTrainerTest, AHostileRecipeIsRefused) {
  const std::string path = Folder("run", Recipe()) + "/recipe.json";
  const auto read = ReadLmRecipe(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, Recipe());
  const std::string text = fixtures::ReadBytes(path);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t place = changed.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    changed.replace(place, from.size(), to);
    fixtures::WriteBytes(path, changed);
    return Train(folder_ / "run").code();
  };
  EXPECT_EQ(with("\"batch\": 8", "\"batch\": 0"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with("\"batch\": 8", "\"batch\": 1e30"), ErrorCode::kBadData);
  EXPECT_EQ(with("\"batch\": 8", "\"batch\": \"eight\""), ErrorCode::kBadData);
  EXPECT_EQ(with("\"context\": 24", "\"context\": 999999999999"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with("t5-d32-l2-h1-f64", "t5-d65536-l1000-h99999-f65536"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with("t5-d32-l2-h1-f64", "t5-d65536-l1000-h64-f65536"), ErrorCode::kResourceExhausted);
  EXPECT_EQ(with("adafactor", "adam"), ErrorCode::kBadData);
  EXPECT_EQ(with("resmem_lm_recipe\": 1", "resmem_lm_recipe\": 2"), ErrorCode::kTooNew);
  EXPECT_EQ(with("{", std::string(100000, '[')), ErrorCode::kBadData);
}

TEST_F(LmTrainerTest, EveryTokenButADocumentsFirstIsPredictedOnce) {
  const auto tokens = TokenSet::Open(folder_ / "train.tokens");
  ASSERT_TRUE(tokens.ok());
  std::vector<int> predicted(static_cast<size_t>(tokens->size()));
  for (const TrainingWindow& window : CutWindows(*tokens, 24)) {
    EXPECT_LE(window.length, 24);
    EXPECT_EQ(tokens->DocumentAt(window.begin), tokens->DocumentAt(window.begin + window.length));
    for (int64_t i = 1; i <= window.length; ++i) {
      ++predicted[static_cast<size_t>(window.begin + i)];
    }
  }
  for (int64_t d = 0; d < tokens->documents(); ++d) {
    const TokenRange range = tokens->document(d);
    for (int64_t i = range.begin; i < range.end; ++i) {
      EXPECT_EQ(predicted[static_cast<size_t>(i)], i == range.begin ? 0 : 1) << d << ", " << i;
    }
  }
}

TEST_F(LmTrainerTest, TheExportedModelIsTheDefinition) {
  const LanguageModelShape shape{64, 3, 2, 96, 288};
  const ParameterLayout layout(shape, 0.5);
  const std::vector<float> values = FirstParameters(layout, 4);
  const std::string path = folder_ / "model.onnx";
  ASSERT_TRUE(ExportLanguageModel(path, shape, layout, values, 140).ok());
  ModelManifest manifest;
  manifest.input = kTokensInput;
  manifest.context = 140;
  manifest.embedding = kTokensEmbedding;
  manifest.logits = kTokensLogits;
  manifest.dim = shape.dim;
  manifest.classes = shape.vocabulary;
  ASSERT_TRUE(WriteModelManifest(path, manifest).ok());
  const auto model = OnnxModel::Open(path);
  if (model.status().code() == ErrorCode::kNotFound && std::getenv("CI") == nullptr) {
    GTEST_SKIP() << "ONNX Runtime is not here: ./setup installs it";
  }
  ASSERT_TRUE(model.ok()) << model.status().message();
  Random random(8);
  std::vector<int32_t> ids(140), few = {3, 7, 1};
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(288));
  const std::span<const int32_t> windows[] = {ids, few};
  const fixtures::ReferenceModel reference{shape, layout, values};
  const Status status = model->RunTokens(
      windows, [&](int64_t window, std::span<const float> keys, std::span<const float> logits) {
        const auto answer = reference.Run(windows[window]);
        for (size_t t = 0; t < windows[window].size(); ++t) {
          for (size_t i = 0; i < 64; ++i) EXPECT_NEAR(keys[t * 64 + i], answer.keys[t][i], 1e-4);
          for (size_t v = 0; v < 288; ++v) {
            EXPECT_NEAR(logits[t * 288 + v], answer.logits[t][v], 1e-4);
          }
        }
        return Status();
      });
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace resmem
