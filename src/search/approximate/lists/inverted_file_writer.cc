#include "search/approximate/lists/inverted_file_writer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/squared_distance.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/codes/pair_codebook.h"
#include "search/approximate/codes/row_coder.h"
#include "search/approximate/lists/centroids.h"
#include "search/approximate/lists/inverted_file.h"
#include "search/approximate/lists/k_means.h"
#include "support/parallel.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr uint32_t kNoList = UINT32_MAX;
constexpr int64_t kRowsAtOnce = 512;                 // of one thread
constexpr int64_t kRowsAReport = kRowsAtOnce * 128;  // between two looks at the progress

// That words are trained on.
constexpr int64_t kMostSampleRows = 1 << 14, kFewestSampleRows = 1 << 9;
constexpr int64_t kMostSampleValues = int64_t{1} << 24;

// Many short lists are more selective, but each costs a centroid to compare with.
int64_t NumberOfLists(int64_t rows) {
  const int64_t wanted = static_cast<int64_t>(4 * std::sqrt(static_cast<double>(rows)));
  return std::max<int64_t>(1, std::min(wanted, rows / 32));
}

class Builder {
 public:
  Builder(const KeyStore& keys, const InvertedFileOptions& options)
      : keys_(keys),
        options_(options),
        dim_(keys.dim()),
        row_bytes_(BytesOfCodes(keys.dim(), options.code_bits)) {}

  Result<ContainerWriter::Finished> Write(FileSystem& files, const std::string& path) {
    const int64_t lists = NumberOfLists(keys_.visible_rows());
    RESMEM_ASSIGN_OR_RETURN(
        trained_, TrainCentroids(keys_, lists, options_.seed, options_.threads, options_.progress));
    RESMEM_RETURN_IF_ERROR(Assign(lists));
    const std::vector<uint32_t> list_rows = ChoosePlaces(lists);
    if (options_.code_bits == 2) TrainCodebook();
    const InvertedLayout layout(dim_, lists, first_blocks_.back(), options_.code_bits);
    RESMEM_ASSIGN_OR_RETURN(
        ContainerWriter writer,
        ContainerWriter::Create(files, path, FileKind::kIndex, layout.sections));
    using Layout = InvertedLayout;
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(Layout::kCenter, trained_.center));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(Layout::kCentroids, trained_.values));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint32_t>(Layout::kListRows, list_rows));
    RESMEM_RETURN_IF_ERROR(WriteLists(lists, &writer));
    if (codebook_) {
      RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint8_t>(Layout::kTables, codebook_->tables()));
    }
    return writer.Finish();
  }

 private:
  // Calls body(begin, end) for pieces of all rows on all threads, and tells of it.
  template <class Body>
  Status ForAllRows(const char* stage, const Body& body) {
    for (int64_t first = 0; first < keys_.rows(); first += kRowsAReport) {
      if (options_.progress != nullptr) {
        if (options_.progress->Cancelled()) {
          return {ErrorCode::kCancelled, "indexing was stopped"};
        }
        options_.progress->Report(stage, first, keys_.rows());
      }
      const int64_t rows = std::min(kRowsAReport, keys_.rows() - first);
      ParallelFor(options_.threads, rows, kRowsAtOnce,
                  [&](int64_t begin, int64_t end, int) { body(first + begin, first + end); });
    }
    if (options_.progress != nullptr) {
      options_.progress->Report(stage, keys_.rows(), keys_.rows());
    }
    return {};
  }

  Status Assign(int64_t lists) {
    const Centroids centroids(trained_.values.data(), lists, dim_, trained_.center.data());
    list_of_.assign(static_cast<size_t>(keys_.rows()), kNoList);
    std::mutex mutex;
    int64_t bad_row = keys_.rows();  // the first
    double bad_distance = 0;
    RESMEM_RETURN_IF_ERROR(ForAllRows("lists", [&](int64_t begin, int64_t end) {
      std::vector<float> scratch(static_cast<size_t>((end - begin) * dim_));
      const float* rows = keys_.Rows(begin, end - begin, scratch.data());
      CodedVectors points(dim_, end - begin);
      for (int64_t row = begin; row < end; ++row) {
        if (keys_.hidden(row)) continue;
        const float* key = rows + (row - begin) * dim_;
        const double distance = SquaredDistance(key, trained_.center.data(), dim_);
        if (!CheckListedDistance(row, distance).ok()) {
          const std::lock_guard<std::mutex> lock(mutex);
          if (row < bad_row) bad_distance = distance;
          bad_row = std::min(bad_row, row);
          return;
        }
        points.Set(row - begin, key, trained_.center.data());
      }
      centroids.Assign(points, 0, end - begin, list_of_.data() + begin);
      for (int64_t row = begin; row < end; ++row) {
        if (keys_.hidden(row)) list_of_[row] = kNoList;
      }
    }));
    return bad_row < keys_.rows() ? CheckListedDistance(bad_row, bad_distance) : Status();
  }

  // Rows ascend in each list.  Returns the lists' sizes.
  std::vector<uint32_t> ChoosePlaces(int64_t lists) {
    std::vector<uint32_t> list_rows(static_cast<size_t>(lists));
    place_of_.resize(list_of_.size());
    for (size_t row = 0; row < list_of_.size(); ++row) {
      if (list_of_[row] != kNoList) place_of_[row] = list_rows[list_of_[row]]++;
    }
    first_blocks_ = {0};
    for (const uint32_t rows : list_rows) {
      first_blocks_.push_back(first_blocks_.back() + BlocksOfRows(rows));
    }
    return list_rows;
  }

  // key - centroid of the row's list.
  void PutResidual(int64_t row, float* residual) const {
    const float* centroid = trained_.values.data() + list_of_[row] * dim_;
    const float* key = keys_.Rows(row, 1, residual);
    for (int64_t i = 0; i < dim_; ++i) residual[i] = key[i] - centroid[i];
  }

  void TrainCodebook() {
    const int64_t sample =
        std::min(keys_.visible_rows(),
                 std::clamp(kMostSampleValues / dim_, kFewestSampleRows, kMostSampleRows));
    Random random(options_.seed, /*stream=*/2);
    std::vector<int64_t> rows;
    while (std::ssize(rows) < sample) {
      const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(keys_.rows())));
      if (list_of_[row] != kNoList) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end());
    std::vector<float> residuals(rows.size() * static_cast<size_t>(dim_));
    for (size_t i = 0; i < rows.size(); ++i) {
      PutResidual(rows[i], residuals.data() + i * static_cast<size_t>(dim_));
    }
    codebook_.emplace(residuals, dim_, options_.seed, options_.threads);
  }

  Status WriteLists(int64_t lists, ContainerWriter* writer) {
    const int64_t most_blocks =
        std::max<int64_t>(1, options_.buffer_bytes / (kBlockRows * row_bytes_));
    for (int64_t begin = 0; begin < lists;) {
      int64_t end = begin + 1;
      while (end < lists && first_blocks_[end + 1] - first_blocks_[begin] <= most_blocks) ++end;
      RESMEM_RETURN_IF_ERROR(WriteSomeLists(begin, end, writer));
      begin = end;
    }
    return {};
  }

  Status WriteSomeLists(int64_t begin_list, int64_t end_list, ContainerWriter* writer) {
    const int64_t first_slot = first_blocks_[begin_list] * kBlockRows;
    CodedBlocks blocks(row_bytes_, first_blocks_[end_list] - first_blocks_[begin_list],
                       options_.code_bits == 8 ? 128 : 0);
    std::vector<uint32_t> numbers(blocks.scales().size(), kNoList);
    RESMEM_RETURN_IF_ERROR(ForAllRows("codes", [&](int64_t begin, int64_t end) {
      std::vector<float> residual(static_cast<size_t>(dim_));
      RowCoder coder(dim_, options_.code_bits, codebook_ ? &*codebook_ : nullptr);
      for (int64_t row = begin; row < end; ++row) {
        const uint32_t list = list_of_[row];
        if (list == kNoList || list < begin_list || list >= end_list) continue;
        PutResidual(row, residual.data());
        coder.Code(residual.data());
        const int64_t slot = first_blocks_[list] * kBlockRows + place_of_[row] - first_slot;
        blocks.Set(slot, coder.stored(), coder.scale(),
                   Norm(coder.codes(), coder.scale(), trained_.values.data() + list * dim_));
        numbers[slot] = static_cast<uint32_t>(row);
      }
    }));
    using Layout = InvertedLayout;
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint32_t>(Layout::kRows, numbers));
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(Layout::kScales, blocks.scales()));
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(Layout::kNorms, blocks.norms()));
    return writer->AppendValues<uint8_t>(Layout::kCodes, blocks.codes());
  }

  // |r|^2 + 2 (centroid - center) r for the decoded code r: with it, products with a query that
  // is coded relative to the center give distances from it.
  float Norm(const int8_t* codes, float scale, const float* centroid) const {
    double sum = 0;
    for (int64_t i = 0; i < dim_; ++i) {
      const double value = static_cast<double>(scale) * codes[i];
      sum += value * (value + 2 * (static_cast<double>(centroid[i]) - trained_.center[i]));
    }
    return static_cast<float>(sum);
  }

  const KeyStore& keys_;
  const InvertedFileOptions& options_;
  const int64_t dim_, row_bytes_;
  TrainedCentroids trained_;
  std::vector<uint32_t> list_of_, place_of_;  // of each row
  std::vector<int64_t> first_blocks_;
  std::optional<PairCodebook> codebook_;  // of 2 bits a value
};

}  // namespace

int SuitableCodeBits(int64_t rows, int64_t dim) {
  constexpr int64_t kMostBytesOf8Bits = int64_t{1} << 28;
  return rows > kMostBytesOf8Bits / CodeWidth(dim) ? 4 : 8;
}

Result<ContainerWriter::Finished> WriteInvertedFile(FileSystem& files, const std::string& path,
                                                    const KeyStore& keys,
                                                    const InvertedFileOptions& options) {
  if (keys.dim() > kMostCodes || keys.rows() > kMostListedRows) {
    return Status(ErrorCode::kUnsupported,
                  Text(keys.rows(), " rows of ", keys.dim(), " values; an index takes up to ",
                       kMostListedRows, " rows of ", kMostCodes, " values"));
  }
  return Builder(keys, options).Write(files, path);
}

}  // namespace resmem
