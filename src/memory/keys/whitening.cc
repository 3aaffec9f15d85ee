#include "memory/keys/whitening.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kMostDimensions = 4096;  // the covariance is then 134 MB
constexpr int64_t kMostRows = int64_t{1} << 18;
constexpr int64_t kBlockRows = 512, kPanel = 64;
constexpr double kShrinkage = 0.1;

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Status Unsuitable(const std::string& why) {
  return {ErrorCode::kUnsupported,
          Text("the keys cannot be whitened: ", why, "; use the transform unit or none")};
}

class Covariance {
 public:
  Covariance(const StoredRows& rows, int threads, Progress* progress)
      : rows_(rows),
        threads_(ResolveThreads(threads)),
        progress_(progress),
        dim_(rows.manifest().description.dim),
        classify_(rows.manifest().description.task == Task::kClassification) {
    const int64_t step = (rows.capacity() + kMostRows - 1) / kMostRows;
    for (int64_t row = 0; row < rows.capacity(); row += step) {
      if (!rows.deleted(row)) chosen_.push_back(row);
    }
  }

  bool empty() const { return chosen_.empty(); }

  Status Compute(Eigen::MatrixXd* covariance) {
    FindMeans();
    RESMEM_RETURN_IF_ERROR(SumProducts(covariance));
    *covariance /= static_cast<double>(chosen_.size());
    return {};
  }

 private:
  size_t ClassOf(int64_t row) const {
    if (!classify_) return 0;
    const auto [segment, local] = rows_.Find(row);
    return static_cast<size_t>(segment->label(local));
  }

  std::span<const int64_t> Block(size_t begin) const {
    return std::span(chosen_).subspan(begin, std::min<size_t>(kBlockRows, chosen_.size() - begin));
  }

  // Calls use(rows, keys) for each block.
  template <typename Use>
  void ForBlocks(const Use& use) {
    keys_.resize(static_cast<size_t>(kBlockRows * dim_));
    for (size_t begin = 0; begin < chosen_.size(); begin += kBlockRows) {
      const std::span<const int64_t> rows = Block(begin);
      rows_.GivenKeys(rows, threads_, keys_);
      if (!use(begin, rows)) return;
    }
  }

  void FindMeans() {
    const auto dim = static_cast<size_t>(dim_);
    const auto classes =
        static_cast<size_t>(classify_ ? rows_.manifest().description.outputs : int64_t{1});
    means_.assign(classes * dim, 0);
    std::vector<int64_t> counts(classes);
    ForBlocks([&](size_t, std::span<const int64_t> rows) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const size_t label = ClassOf(rows[i]);
        ++counts[label];
        for (size_t d = 0; d < dim; ++d) means_[label * dim + d] += keys_[i * dim + d];
      }
      return true;
    });
    for (size_t label = 0; label < classes; ++label) {
      if (counts[label] == 0) continue;
      for (size_t d = 0; d < dim; ++d) {
        means_[label * dim + d] /= static_cast<double>(counts[label]);
      }
    }
  }

  // The lower triangle, in panels of columns: each is summed over the blocks in their order.
  Status SumProducts(Eigen::MatrixXd* sums) {
    const auto dim = static_cast<size_t>(dim_);
    sums->setZero(dim_, dim_);
    RowMatrix centered(kBlockRows, dim_);
    bool cancelled = false;
    ForBlocks([&](size_t begin, std::span<const int64_t> rows) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const double* const mean = means_.data() + ClassOf(rows[i]) * dim;
        double* const line = &centered(static_cast<Eigen::Index>(i), 0);
        for (size_t d = 0; d < dim; ++d) line[d] = keys_[i * dim + d] - mean[d];
      }
      const auto count = static_cast<Eigen::Index>(rows.size());
      ParallelFor(threads_, dim_, kPanel, [&](int64_t from, int64_t to, int) {
        sums->block(from, from, dim_ - from, to - from).noalias() +=
            centered.block(0, from, count, dim_ - from).transpose() *
            centered.block(0, from, count, to - from);
      });
      if (progress_ != nullptr) {
        progress_->Report("whiten", static_cast<int64_t>(begin + rows.size()),
                          static_cast<int64_t>(chosen_.size()));
        cancelled = progress_->Cancelled();
      }
      return !cancelled;
    });
    if (cancelled) return {ErrorCode::kCancelled, "stopped while whitening keys"};
    return {};
  }

  const StoredRows& rows_;
  const int threads_;
  Progress* const progress_;
  const int64_t dim_;
  const bool classify_;
  std::vector<int64_t> chosen_;
  std::vector<double> means_;  // classes x dim
  std::vector<float> keys_;    // of one block
};

}  // namespace

Result<KeyTransformer> WhitenKeys(const StoredRows& rows, int threads, Progress* progress) {
  const int64_t dim = rows.manifest().description.dim;
  if (dim > kMostDimensions) {
    return Unsuitable(
        Text("they have ", dim, " dimensions, at most ", kMostDimensions, " are allowed"));
  }
  Covariance sums(rows, threads, progress);
  if (sums.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  "the memory holds no rows: there is nothing to whiten keys by");
  }
  Eigen::MatrixXd covariance;
  RESMEM_RETURN_IF_ERROR(sums.Compute(&covariance));
  const double spread = covariance.trace() / static_cast<double>(dim);
  if (!(spread > 0)) return Unsuitable("those of one class do not differ from each other");
  covariance *= 1 - kShrinkage;
  covariance.diagonal().array() += kShrinkage * spread;
  const Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> root(covariance);
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(dim, dim);
  if (root.info() == Eigen::Success) root.matrixL().solveInPlace(inverse);

  const std::shared_ptr<float[]> matrix(new float[static_cast<size_t>(dim * dim)]());
  for (int64_t row = 0; row < dim; ++row) {
    for (int64_t column = row; column < dim; ++column) {
      matrix[static_cast<size_t>(row * dim + column)] = static_cast<float>(inverse(column, row));
    }
  }
  if (root.info() != Eigen::Success ||
      !KeyTransformer::CheckMatrix({matrix.get(), static_cast<size_t>(dim * dim)}, dim)) {
    return Unsuitable(Text("their spread within a class, ", std::sqrt(spread),
                           ", is beyond what float32 can scale"));
  }
  return KeyTransformer::Whiten(dim, std::shared_ptr<const float>(matrix, matrix.get()));
}

Result<KeyTransformer> MakeTransformer(const StoredRows& rows, KeyTransform kind, int threads,
                                       Progress* progress) {
  if (kind == KeyTransform::kWhiten) return WhitenKeys(rows, threads, progress);
  if (kind == KeyTransform::kUnit) return KeyTransformer::Unit(rows.manifest().description.dim);
  return KeyTransformer();
}

}  // namespace resmem
