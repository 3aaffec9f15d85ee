#include "onnx/trial_run.h"

#include <algorithm>
#include <cmath>

#include "onnx/runtime/batch_runner.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

struct Answer {
  int64_t columns = 0;
  std::vector<float> values;
};

Result<std::vector<Answer>> Try(const Session& session, const ModelManifest& manifest, int64_t rows,
                                std::span<float> input) {
  const std::vector<std::string> names = {manifest.embedding, manifest.logits};
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Session::Tensor> tensors,
                          session.Run(manifest.input, input, InputShape(manifest, rows), names));
  std::vector<Answer> answers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Answer answer;
    RESMEM_ASSIGN_OR_RETURN(answer.columns, ColumnsOf(names[i], tensors[i].shape(), rows));
    answer.values.assign(tensors[i].data(), tensors[i].data() + rows * answer.columns);
    answers.push_back(std::move(answer));
  }
  return answers;
}

void ReverseRows(int64_t rows, int64_t columns, std::vector<float>* values) {
  for (int64_t a = 0, b = rows - 1; a < b; ++a, --b) {
    std::swap_ranges(values->begin() + a * columns, values->begin() + (a + 1) * columns,
                     values->begin() + b * columns);
  }
}

}  // namespace

Status TrialRun(const Session& session, int64_t fixed, ModelManifest* manifest) {
  const int64_t rows = fixed > 0 ? fixed : 2;
  const int64_t values = manifest->input_values();
  std::vector<float> input(static_cast<size_t>(rows * values));
  Random random(1);
  for (float& value : input) value = static_cast<float>(random.Normal());
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Answer> first, Try(session, *manifest, rows, input));
  ReverseRows(rows, values, &input);
  RESMEM_ASSIGN_OR_RETURN(std::vector<Answer> second, Try(session, *manifest, rows, input));
  for (size_t i = 0; i < first.size(); ++i) {
    if (second[i].columns != first[i].columns) {
      return {ErrorCode::kUnsupported, "its answers have another shape in every run"};
    }
    ReverseRows(rows, second[i].columns, &second[i].values);
    for (size_t v = 0; v < first[i].values.size(); ++v) {
      const float a = first[i].values[v], b = second[i].values[v];
      // NaN of noise may be the noise's fault: real rows are checked when they are run.
      if (!(std::abs(a - b) > 1e-2f * (1 + std::abs(a)))) continue;
      return {ErrorCode::kUnsupported,
              Text("a row's ", i == 0 ? manifest->embedding : manifest->logits,
                   " changes with the rows around it or from run to run (", a, ", then ", b,
                   "); the model was exported for training, export it for inference (eval mode)")};
    }
  }
  manifest->dim = first[0].columns;
  manifest->classes = first[1].columns;
  return {};
}

}  // namespace resmem
