// Predictions as CSV or JSON lines, one row of the input a line.
#ifndef RESMEM_CLI_OUTPUTS_PREDICTION_LINES_H_
#define RESMEM_CLI_OUTPUTS_PREDICTION_LINES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem::cli {

enum class LineFormat { kCsv, kJsonLines };

// One row's answer.
struct PredictionLine {
  int64_t row = 0;
  std::optional<uint64_t> id;
  std::string_view source;
  // Classification: classes and their probabilities.
  int64_t base = -1, prediction = -1;
  float base_probability = 0, probability = 0;
  std::vector<std::pair<int64_t, float>> top;  // with --top: best first
  // With Columns::distance.
  float distance_percentile = 0;
  bool unknown = false;
  // Regression: values.
  std::span<const float> base_values, values;
  std::span<const float> half_widths;  // with Columns::intervals
};

class PredictionLines {
 public:
  // What a line holds besides the answers.
  struct Columns {
    bool ids = false, sources = false;
    bool distance = false;  // how far from the memory
    bool intervals = false;
    int64_t top = 0;
  };
  PredictionLines(const MemoryDescription& memory, LineFormat format, const Columns& columns);

  bool classification() const { return memory_.task == Task::kClassification; }
  std::string Header() const;  // CSV's first line; "" for JSON lines
  std::string Line(const PredictionLine& line) const;

 private:
  std::string CsvLine(const PredictionLine& line) const;
  std::string JsonLine(const PredictionLine& line) const;

  const MemoryDescription& memory_;
  LineFormat format_;
  Columns columns_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_PREDICTION_LINES_H_
