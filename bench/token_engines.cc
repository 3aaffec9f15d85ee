// What the two engines of a language model cost, and how far their answers lie apart and from the
// definition in double precision, on real text.
//
//   bench_token_engines MODEL.onnx TOKENS [FILE.md]
//
// MODEL.onnx: of resmem lm train.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "lm_training/reference_model.h"
#include "measurement.h"
#include "resmem/lm/token_model.h"
#include "resmem/lm/token_set.h"
#include "resmem/lm/token_windows.h"
#include "timing.h"
#include "transformer/onnx_import.h"

namespace resmem::bench {
namespace {

constexpr int64_t kWindows = 24;           // compared between the engines
constexpr int64_t kReferenceTokens = 128;  // of the first window: the definition takes its time
constexpr int kRepeats = 3;

struct Answers {
  std::vector<float> keys, logits;
};

// `a` against `b`, of the same shape.
struct Difference {
  double relative = 0;  // root mean square of the difference / of b
  double largest = 0;
};
Difference Compare(std::span<const float> a, std::span<const float> b) {
  double squares = 0, size = 0;
  Difference difference;
  for (size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    squares += distance * distance;
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    difference.largest = std::max(difference.largest, distance);
  }
  difference.relative = std::sqrt(squares / size);
  return difference;
}

double SameBest(const Answers& a, const Answers& b, int64_t classes) {
  const int64_t rows = std::ssize(a.logits) / classes;
  int64_t same = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const auto best = [&](const Answers& answers) {
      const float* first = answers.logits.data() + row * classes;
      return std::max_element(first, first + classes) - first;
    };
    same += best(a) == best(b) ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(rows);
}

std::string Line(const char* what, const Answers& a, const Answers& b, int64_t classes) {
  const Difference keys = Compare(a.keys, b.keys), logits = Compare(a.logits, b.logits);
  std::ostringstream text;
  text << "| " << what << " | " << std::setprecision(2) << std::scientific << keys.relative << " | "
       << keys.largest << " | " << logits.relative << " | " << logits.largest << " | " << std::fixed
       << 100 * SameBest(a, b, classes) << " % |\n";
  return text.str();
}

Answers RoomFor(int64_t rows, const ModelManifest& manifest) {
  return {std::vector<float>(static_cast<size_t>(rows * manifest.dim)),
          std::vector<float>(static_cast<size_t>(rows * manifest.classes))};
}

// Runs them all `kRepeats` times and gives the least processor milliseconds a wanted position.
Result<double> Run(const TokenModel& model, std::span<const TokenInput> windows, Answers* answers) {
  int64_t rows = 0;
  for (const TokenInput& window : windows) rows += window.wanted;
  *answers = RoomFor(rows, model.manifest());
  double least = INFINITY;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const std::clock_t begin = std::clock();
    RESMEM_RETURN_IF_ERROR(model.Run(windows, answers->keys, answers->logits));
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    least = std::min(least, 1e3 * seconds / static_cast<double>(rows));
  }
  return least;
}

// Of the whole window.
Answers Definition(const TrainedModel& model, std::span<const int32_t> ids) {
  const ParameterLayout layout(model.shape, 1);
  const auto found = fixtures::ReferenceModel{model.shape, layout, model.values}.Run(ids);
  Answers answers;
  const auto append = [](const fixtures::Rows& rows, std::vector<float>* to) {
    for (const auto& row : rows) to->insert(to->end(), row.begin(), row.end());
  };
  append(found.keys, &answers.keys);
  append(found.logits, &answers.logits);
  return answers;
}

Status Measure(const std::string& path, const std::string& tokens, const std::string& output) {
  const OnnxOptions one_thread{.threads = 1, .library = ""};
  RESMEM_ASSIGN_OR_RETURN(const TokenModel native,
                          TokenModel::Open(path, TokenEngine::kNative, one_thread));
  RESMEM_ASSIGN_OR_RETURN(const TokenModel runtime,
                          TokenModel::Open(path, TokenEngine::kOnnxRuntime, one_thread));
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(tokens));
  RESMEM_ASSIGN_OR_RETURN(const TokenWindows all, TokenWindows::Make(set));
  const ModelManifest& manifest = native.manifest();
  std::vector<std::vector<int32_t>> ids;
  std::vector<TokenInput> windows;
  for (int64_t w = 0; w < kWindows; ++w) {
    const TokenWindow window = all.window(all.size() * w / kWindows);
    ids.emplace_back(static_cast<size_t>(window.end - window.begin));
    set.Read(window.begin, ids.back());
    windows.push_back({ids.back(), window.end - window.kept});
  }
  Answers by_native, by_runtime;
  RESMEM_ASSIGN_OR_RETURN(const double native_cost, Run(native, windows, &by_native));
  RESMEM_ASSIGN_OR_RETURN(const double runtime_cost, Run(runtime, windows, &by_runtime));

  const std::span<const int32_t> few =
      std::span(ids[0]).first(std::min(ids[0].size(), static_cast<size_t>(kReferenceTokens)));
  const TokenInput window{few, std::ssize(few)};
  Answers few_by_native, few_by_runtime;
  RESMEM_RETURN_IF_ERROR(Run(native, {&window, 1}, &few_by_native).status());
  RESMEM_RETURN_IF_ERROR(Run(runtime, {&window, 1}, &few_by_runtime).status());
  RESMEM_ASSIGN_OR_RETURN(const TrainedModel trained, ImportLanguageModel(path, manifest));
  const Answers definition = Definition(trained, few);

  std::ostringstream text;
  // Names only: where the files lie on this machine helps nobody else.
  const std::string model_name = std::filesystem::path(path).filename();
  const std::string tokens_name = std::filesystem::path(tokens).filename();
  text << "# The engines of a language model\n\n"
       << "`build/release/bench/bench_token_engines " << model_name << " " << tokens_name
       << " docs/measurements/token_engines.md`  \n"
       << MachineLine() << "\n\nNetwork: " << manifest.network << ", a vocabulary of "
       << manifest.classes << ". Text: " << kWindows << " windows spread over " << tokens_name
       << ", " << std::ssize(by_native.logits) / manifest.classes
       << " positions; the definition in double precision, with the exported parameters, on "
       << few.size()
       << " of them. Relative: root mean square of the difference by that of the second.\n\n"
       << "| | keys, relative | keys, largest | logits, relative | logits, largest | same best "
          "token |\n|---|---|---|---|---|---|\n"
       << Line("native and ONNX Runtime", by_native, by_runtime, manifest.classes)
       << Line("ONNX Runtime and the definition", few_by_runtime, definition, manifest.classes)
       << Line("native and the definition", few_by_native, definition, manifest.classes)
       << "\n| engine, one thread | processor ms a kept token: model and logits, no residuals |\n"
       << "|---|---|\n"
       << std::fixed << std::setprecision(3) << "| native | " << native_cost
       << " |\n| ONNX Runtime | " << runtime_cost << " |\n";
  if (!Publish(text.str(), output)) return {ErrorCode::kIo, "the result was not written"};
  return {};
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: bench_token_engines MODEL.onnx TOKENS [FILE.md]\n";
    return 2;
  }
  const resmem::Status status = resmem::bench::Measure(argv[1], argv[2], argc > 3 ? argv[3] : "");
  if (status.ok()) return 0;
  std::cerr << status.message() << "\n";
  return 1;
}
