#include "resmem/head_check.h"
#include "memory/memory_parts.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

namespace resmem {
namespace {

constexpr int64_t kMostDimensions = 512;  // the fit costs 3 dim^3 operations
constexpr int64_t kMostOutputs = 8;       // enough to tell two heads apart
constexpr int64_t kHeldOutRows = 256;
constexpr double kAffineBelow = 0.05;  // int8 keys reach 0.01; a layer further down 0.1 and more

// `count` numbers spread evenly over 0 .. total - 1.
std::vector<int64_t> Spread(int64_t count, int64_t total) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(count, total); ++i) {
    chosen.push_back(count >= total ? i : i * total / count);
  }
  return chosen;
}

struct Sample {
  Eigen::MatrixXd keys;    // rows x dim
  Eigen::MatrixXd logits;  // rows x chosen outputs
};

Sample FromMemory(const ResidualMemory& memory, const std::vector<int64_t>& rows,
                  const std::vector<int64_t>& outputs) {
  const auto count = static_cast<Eigen::Index>(rows.size());
  Sample sample{Eigen::MatrixXd(count, memory.description().dim),
                Eigen::MatrixXd(count, static_cast<Eigen::Index>(outputs.size()))};
  std::vector<float> key(static_cast<size_t>(memory.description().dim));
  for (Eigen::Index i = 0; i < count; ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    MemoryParts::Rows(memory).GivenKey(row, key);
    for (size_t d = 0; d < key.size(); ++d) sample.keys(i, static_cast<Eigen::Index>(d)) = key[d];
    for (size_t c = 0; c < outputs.size(); ++c) {
      sample.logits(i, static_cast<Eigen::Index>(c)) =
          MemoryParts::Rows(memory).logits(row)[static_cast<size_t>(outputs[c])];
    }
  }
  return sample;
}

Sample FromQueries(MatrixView keys, MatrixView logits, const std::vector<int64_t>& outputs) {
  const std::vector<int64_t> rows = Spread(kHeldOutRows, keys.rows);
  const auto count = static_cast<Eigen::Index>(rows.size());
  Sample sample{Eigen::MatrixXd(count, keys.columns),
                Eigen::MatrixXd(count, static_cast<Eigen::Index>(outputs.size()))};
  for (Eigen::Index i = 0; i < count; ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    for (int64_t d = 0; d < keys.columns; ++d) sample.keys(i, d) = keys.row(row)[d];
    for (size_t c = 0; c < outputs.size(); ++c) {
      sample.logits(i, static_cast<Eigen::Index>(c)) = logits.row(row)[outputs[c]];
    }
  }
  return sample;
}

// logits = key * weights + bias, least squares.
struct Head {
  Eigen::MatrixXd weights;
  Eigen::RowVectorXd bias;
  double spread = 0;  // of the logits it was fitted to, around their mean

  explicit Head(const Sample& sample) {
    const Eigen::RowVectorXd key_mean = sample.keys.colwise().mean();
    const Eigen::RowVectorXd logit_mean = sample.logits.colwise().mean();
    const Eigen::MatrixXd keys = sample.keys.rowwise() - key_mean;
    const Eigen::MatrixXd logits = sample.logits.rowwise() - logit_mean;
    Eigen::MatrixXd gram = keys.transpose() * keys;
    // A unit that is always 0 makes the system singular; a ridge this small changes nothing else.
    gram.diagonal().array() += 1e-9 * gram.trace() / static_cast<double>(gram.rows()) + 1e-30;
    weights = gram.ldlt().solve(keys.transpose() * logits);
    bias = logit_mean - key_mean * weights;
    spread = std::sqrt(logits.squaredNorm() / static_cast<double>(logits.rows()));
  }

  double RelativeError(const Sample& sample) const {
    const double error = (((sample.keys * weights).rowwise() + bias) - sample.logits).squaredNorm();
    return std::sqrt(error / static_cast<double>(sample.logits.rows())) / spread;
  }
};

HeadCheck FitAndCompare(const ResidualMemory& memory, MatrixView keys, MatrixView logits) {
  HeadCheck check;
  const MemoryDescription& description = memory.description();
  if (description.form != ResidualForm::kLogits || description.cross_fitted ||
      description.dim > kMostDimensions || description.dim != keys.columns ||
      description.outputs != logits.columns || keys.rows < 1 || keys.rows != logits.rows) {
    return check;
  }
  std::vector<int64_t> living;
  const int64_t wanted = 3 * description.dim + 64 + kHeldOutRows;
  for (int64_t row : Spread(2 * wanted, memory.capacity())) {
    if (!memory.deleted(row)) living.push_back(row);
  }
  if (static_cast<int64_t>(living.size()) <= 2 * description.dim + 16) return check;
  // Every sixth row is held out; the others show the head.
  std::vector<int64_t> fitted, held_out;
  for (size_t i = 0; i < living.size(); ++i) (i % 6 == 5 ? held_out : fitted).push_back(living[i]);
  const std::vector<int64_t> outputs = Spread(kMostOutputs, description.outputs);

  const Head head(FromMemory(memory, fitted, outputs));
  check.memory_error = head.RelativeError(FromMemory(memory, held_out, outputs));
  check.query_error = head.RelativeError(FromQueries(keys, logits, outputs));
  // NaN where the logits do not vary or a value was not finite: then nothing can be said.
  check.applicable = check.memory_error < kAffineBelow && std::isfinite(check.query_error);
  return check;
}

}  // namespace

HeadCheck CheckHead(const ResidualMemory& memory, MatrixView keys, MatrixView logits) try {
  return FitAndCompare(memory, keys, logits);
} catch (const std::exception&) {
  return HeadCheck();  // not applicable: nothing can be said
}

}  // namespace resmem
