// What the blended answer costs beside the paper's: the whole query, search and sum, of both, in
// turns in one run.  Answers are compared with the definition first.
//
//   bench_blend_cost [--small] [--queries N] [--markdown FILE]
//
// --small: few rows and one round, to count instructions (valgrind --tool=callgrind).
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string_view>

#include "bench_memory.h"
#include "measurement.h"
#include "resmem/predictor.h"
#include "search_data.h"
#include "support/random.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kNeighbors = 50, kTop = 128;
constexpr double kAllowedShare = 0.10, kAllowedDifference = 1e-5;

struct Case {
  const char* name;
  int64_t rows, dim, outputs;
  KeyType type;
  ResidualForm form;
};
constexpr Case kCases[] = {
    {"logits, 100 classes, 50,000 x 64", 50000, 64, 100, KeyType::kFloat32, ResidualForm::kLogits},
    {"dense, 100 classes, 50,000 x 64", 50000, 64, 100, KeyType::kFloat32, ResidualForm::kDense},
    {"dense, 1,000 classes, 50,000 x 1,280", 50000, 1280, 1000, KeyType::kFloat32,
     ResidualForm::kDense},
    {"sparse, 32,128 classes, 200,000 x 256 float16", 200000, 256, 32128, KeyType::kFloat16,
     ResidualForm::kSparse},
};

// Coefficients as tuning finds them; near enough to everything that nothing fades.
Blend SomeBlend(const MemoryDescription& description) {
  Blend blend;
  blend.parameters = description.parameters;
  blend.prior = 0.5f;
  blend.base_temperature = 1.2f;
  blend.coefficients = {{{0.6f, 0.02f, -0.03f, 0.01f},
                         {0.3f, 0.01f, 0.02f, 0.03f},
                         {-0.2f, 0.01f, 0.01f, 0.02f},
                         {1.1f, 0.05f, -0.04f, 0.02f}}};
  for (int i = 0; i <= 100; ++i) blend.distances.push_back(1e6f + static_cast<float>(i));
  blend.spreads.assign(101, 0.0f);
  return blend;
}

std::vector<float> Logits(int64_t rows, int64_t outputs, Random* random) {
  std::vector<float> logits(static_cast<size_t>(rows * outputs));
  for (float& logit : logits) logit = static_cast<float>(3 * random->Normal());
  return logits;
}

Status WriteCase(const Case& c, const SearchData& data, const std::string& path) {
  MemoryDescription description;
  description.dim = c.dim;
  description.outputs = c.outputs;
  description.key_type = c.type;
  description.form = c.form;
  description.top = std::min(kTop, c.outputs);
  description.half_residuals = c.form == ResidualForm::kSparse;
  description.parameters = {kNeighbors, 1.0f, 1.0f};
  const MatrixView keys = data.key_view();
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, description, keys.rows, {}));
  constexpr int64_t kTogether = 500;  // with the same logits, and other labels
  Random random(5);
  const std::vector<float> logits = Logits(kTogether, c.outputs, &random);
  std::vector<int32_t> labels(kTogether);
  for (int64_t begin = 0; begin < keys.rows; begin += kTogether) {
    for (int32_t& label : labels) {
      label = static_cast<int32_t>(random.Below(static_cast<uint64_t>(c.outputs)));
    }
    Rows rows;
    rows.keys = keys.Slice(begin, kTogether);
    rows.logits = MatrixView(logits.data(), kTogether, c.outputs);
    rows.labels = labels;
    RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  }
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  description.answer = Method::kBlend;
  description.blend = SomeBlend(description);
  return UpdateDescription(path, description);
}

std::vector<double> SoftmaxOf(std::vector<double> eta) {
  const double largest = *std::max_element(eta.begin(), eta.end());
  double total = 0;
  for (double& value : eta) total += value = std::exp(value - largest);
  for (double& value : eta) value /= total;
  return eta;
}

// docs/predictor.md in double, for one query.
std::vector<double> Definition(const ResidualMemory& memory, const Neighbors& neighbors, int64_t q,
                               std::span<const float> logits) {
  const Blend& blend = *memory.description().blend;
  const auto outputs = logits.size();
  const std::vector<float> weights = WeightsOf(neighbors, blend.parameters);
  std::vector<double> labels(outputs), residual(outputs), f(logits.begin(), logits.end());
  std::vector<float> one(outputs);
  double squares = 0;
  for (int64_t i = 0; i < neighbors.k; ++i) {
    const double weight = weights[static_cast<size_t>(q * neighbors.k + i)];
    const int64_t row = neighbors.rows_of(q)[static_cast<size_t>(i)];
    squares += weight * weight;
    labels[static_cast<size_t>(memory.label(row))] += weight;
    memory.Residual(row, blend.parameters.temperature, one);
    for (size_t c = 0; c < outputs; ++c) residual[c] += weight * one[c];
  }
  const std::vector<double> p = SoftmaxOf(f);
  for (double& value : f) value /= blend.base_temperature;
  const std::vector<double> p0 = SoftmaxOf(f);
  const std::span<const float> d = neighbors.distances_of(q);
  const double u[] = {std::log(d.front()), std::log(d.back()), -std::log(squares)};
  double b[Blend::kParts];
  for (size_t j = 0; j < Blend::kParts; ++j) {
    b[j] = blend.coefficients[j][0];
    for (size_t m = 0; m < Blend::kGates; ++m) {
      b[j] += blend.coefficients[j][m + 1] * std::clamp(u[m], -3.0, 3.0);
    }
  }
  std::vector<double> eta(outputs);
  for (size_t c = 0; c < outputs; ++c) {
    const double expected = std::max(labels[c] - residual[c], 0.0);
    eta[c] = b[0] * std::log(p[c]) + b[1] * std::log(labels[c] + blend.prior * p0[c]) +
             b[2] * std::log(expected + blend.prior * p0[c]) + b[3] * residual[c];
  }
  return SoftmaxOf(std::move(eta));
}

class Measurement {
 public:
  Measurement(const ResidualMemory& memory, const SearchData& data, std::vector<float> logits)
      : predictor_(memory),
        keys_(data.query_view()),
        logits_(std::move(logits)),
        outputs_(memory.description().outputs),
        scores_(static_cast<size_t>(keys_.rows * outputs_)) {}

  double LargestDifference() {
    Answer(Method::kBlend, 0, keys_.rows);
    double largest = 0;
    constexpr int64_t kCompared = 20;
    for (int64_t q = 0; q < std::min(kCompared, keys_.rows); ++q) {
      const std::vector<double> truth =
          Definition(predictor_.memory(), neighbors_, q, LogitsOf(q, 1).row_span(0));
      for (size_t c = 0; c < truth.size(); ++c) {
        const float score = scores_[static_cast<size_t>(q * outputs_) + c];
        largest = std::max(largest, std::abs(truth[c] - score));
      }
    }
    return largest;
  }

  // Seconds a query.
  double Time(Method method, int64_t together) {
    const double start = SecondsNow();
    for (int64_t begin = 0; begin < keys_.rows; begin += together) {
      Answer(method, begin, std::min(together, keys_.rows - begin));
    }
    return (SecondsNow() - start) / static_cast<double>(keys_.rows);
  }

 private:
  MatrixView LogitsOf(int64_t begin, int64_t count) const {
    return MatrixView(logits_.data() + begin * outputs_, count, outputs_);
  }
  void Answer(Method method, int64_t begin, int64_t count) {
    PredictOptions options = predictor_.OptionsOf(method);
    options.threads = 1;
    const MatrixView keys = keys_.Slice(begin, count);
    const auto values = static_cast<size_t>(count * outputs_);
    const std::span<float> scores =
        std::span(scores_).subspan(static_cast<size_t>(begin * outputs_), values);
    Status status =
        predictor_.FindNeighbors(keys, options.parameters.k, {}, 1, nullptr, &neighbors_);
    if (status.ok()) {
      status = predictor_.Score(keys, LogitsOf(begin, count), neighbors_, options, scores);
    }
    if (!status.ok()) {
      std::cerr << status.message() << "\n";
      std::exit(1);
    }
  }

  Predictor predictor_;
  MatrixView keys_;
  std::vector<float> logits_;
  int64_t outputs_;
  std::vector<float> scores_;
  Neighbors neighbors_;
};

std::string Line(const Case& c, Measurement& measurement, int64_t together, int rounds,
                 bool* kept) {
  std::vector<double> paper, blend, ratio;
  for (int round = 0; round < rounds; ++round) {
    paper.push_back(measurement.Time(Method::kResMem, together));
    blend.push_back(measurement.Time(Method::kBlend, together));
    ratio.push_back(blend.back() / paper.back() - 1);
  }
  const double share = SpreadOf(ratio).median;
  *kept &= share <= kAllowedShare;
  char text[256];
  std::snprintf(text, sizeof(text), "| %s | %lld | %.1f us | %.1f us | %+.1f %% |\n", c.name,
                static_cast<long long>(together), SpreadOf(paper).median * 1e6,
                SpreadOf(blend).median * 1e6, share * 100);
  return text;
}

int Main(int argc, char** argv) {
  bool small = false;
  int64_t queries = 500;
  std::string markdown;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--small") {
      small = true;
    } else if (word == "--queries" && i + 1 < argc) {
      queries = std::stoll(argv[++i]);
    } else if (word == "--markdown" && i + 1 < argc) {
      markdown = argv[++i];
    } else {
      std::cerr << "usage: bench_blend_cost [--small] [--queries N] [--markdown FILE]\n";
      return 2;
    }
  }
  if (small) queries = std::min<int64_t>(queries, 20);
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.path());
  std::ostringstream table;
  table << "| memory | queries at once | ResMem, search and sum | blend, search and sum | more |\n"
        << "|---|---:|---:|---:|---:|\n";
  bool kept = true;
  for (Case c : kCases) {
    if (small) c.rows = std::min<int64_t>(c.rows, 5000);
    const SearchData data = ClusteredData(c.rows, c.dim, queries);
    const std::string path =
        scratch.path() + "/" + std::to_string(c.outputs) + "_" + ResidualFormName(c.form);
    const Status written = WriteCase(c, data, path);
    auto memory = ResidualMemory::Open(path);
    if (!written.ok() || !memory.ok()) {
      std::cerr << written.message() << memory.status().message() << "\n";
      return 1;
    }
    Random random(7);
    Measurement measurement(*memory, data, Logits(queries, c.outputs, &random));
    const double difference = measurement.LargestDifference();
    std::cerr << c.name << ": largest difference from the definition " << difference << "\n";
    if (difference > kAllowedDifference) return 1;
    for (const int64_t together : {int64_t{1}, queries}) {
      table << Line(c, measurement, together, small ? 1 : 21, &kept);
    }
  }
  table << "\nMedian of 21 rounds in turns, one thread. " << MachineLine() << ". `" << CommandLine()
        << "`\n\nAt most " << 100 * kAllowedShare << " % more: " << (kept ? "kept" : "**not kept**")
        << ".\n";
  return Publish(table.str(), markdown) ? 0 : 1;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  return resmem::bench::Main(argc, argv);
}
