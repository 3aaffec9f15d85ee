// The memories under v1/, and what a memory answers, as text.
#ifndef RESMEM_TESTS_GOLDEN_GOLDEN_MEMORIES_H_
#define RESMEM_TESTS_GOLDEN_GOLDEN_MEMORIES_H_

#include <cstdio>
#include <string>
#include <vector>

#include "resmem/predictor.h"
#include "resmem/residual_memory.h"

namespace resmem {

inline const std::vector<std::string>& GoldenNames() {
  static const std::vector<std::string> names = {
      "logits", "dense_half", "sparse", "regression", "int8",     "worn", "unit",
      "whiten", "versions",   "blend",  "compressed", "streamed", "tags"};
  return names;
}

// Everything that a memory's answers come from, one thing a line, numbers with nine digits.
inline std::string AnswersOf(const ResidualMemory& memory) {
  const MemoryDescription& d = memory.description();
  std::string text;
  const auto number = [&](double x) {
    char digits[32];
    std::snprintf(digits, sizeof(digits), " %.9g", x);
    text += digits;
  };
  const auto line = [&](const std::string& name, const std::vector<double>& values) {
    text += name;
    for (const double x : values) number(x);
    text += '\n';
  };
  line("rows", {double(memory.rows()), double(memory.capacity()), double(memory.segments())});
  line("shape", {double(d.dim), double(d.outputs)});
  line("parameters", {double(d.parameters.k), d.parameters.sigma, d.parameters.temperature});
  line("mass", {memory.MeanResidualMass(d.parameters.temperature), memory.dropped_mass()});
  text += "model " + d.fingerprint.digest + " " + d.fingerprint.layer + "\n";
  for (const std::string& name : d.class_names) text += "class " + name + "\n";
  std::vector<float> key(static_cast<size_t>(d.dim)), residual(static_cast<size_t>(d.outputs));
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (memory.deleted(row)) continue;
    line("row", {double(row), double(memory.id(row))});
    text += "source " + std::string(memory.source(row)) + "\n";
    if (memory.has_tags()) text += "tags " + std::string(memory.tags(row)) + "\n";
    if (d.task == Task::kClassification) line("label", {double(memory.label(row))});
    if (d.task == Task::kRegression) {
      const auto target = memory.target(row);
      line("target", {target.begin(), target.end()});
    }
    memory.DecodeKey(row, key);
    line("key", {key.begin(), key.end()});
    memory.Residual(row, d.parameters.temperature, residual);
    line("residual", {residual.begin(), residual.end()});
    Neighbors neighbors;
    SearchOptions two;
    two.k = 2;
    if (!memory.index().Search(MatrixView(key.data(), 1, d.dim), two, &neighbors).ok()) return "";
    line("nearest", {double(neighbors.rows[0]), double(neighbors.rows[1]), neighbors.distances[0],
                     neighbors.distances[1]});
  }
  if (!d.blend) return text;
  // What it answers to keys between its own: near, on the way to the base, and far away.
  const Predictor predictor(memory);
  for (const float step : {0.0f, 0.1f, 0.6f, 1.0f, 2.0f, 50.0f}) {
    std::vector<float> logits(static_cast<size_t>(d.outputs));
    for (size_t c = 0; c < logits.size(); ++c) logits[c] = 0.27f * static_cast<float>(c) - step;
    std::vector<float> scores(logits.size());
    for (size_t i = 0; i < key.size(); ++i) key[i] = 0.4f + step * static_cast<float>(i + 1);
    const MatrixView queries(key.data(), 1, d.dim), base(logits.data(), 1, d.outputs);
    if (!predictor.Predict(queries, base, predictor.DefaultOptions(), scores).ok()) return "";
    line("answer", {scores.begin(), scores.end()});
  }
  return text;
}

}  // namespace resmem

#endif  // RESMEM_TESTS_GOLDEN_GOLDEN_MEMORIES_H_
