#include "resmem/models/embedded_images.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// Enough for the runtime's full speed; of large images fewer, so that memory stays in bounds.
constexpr int64_t kBatchRows = 256;
constexpr int64_t kBatchBytes = int64_t{32} << 20;

class Embedded final : public EmbeddedImages {
 public:
  Embedded(OnnxModel model, ImageSet images, std::string name, const EmbedOptions& options)
      : model_(std::move(model)),
        images_(std::move(images)),
        name_(std::move(name)),
        begin_(options.begin),
        rows_((options.end == 0 ? images_.size() : options.end) - options.begin),
        batch_(std::clamp<int64_t>(kBatchBytes / images_.shape().bytes(), 1, kBatchRows)),
        threads_(options.threads),
        most_room_(options.kept_bytes) {
    std::vector<int64_t> all(static_cast<size_t>(rows_));
    std::iota(all.begin(), all.end(), 0);
    Embedded::Want(std::move(all));
  }

  void Want(std::vector<int64_t> rows) const override {
    const std::lock_guard lock(mutex_);
    if (rows == wanted_) return;
    wanted_ = std::move(rows);
    kept_.assign((wanted_.size() + static_cast<size_t>(batch_) - 1) / static_cast<size_t>(batch_),
                 nullptr);
    room_ = most_room_;
    latest_ = nullptr;
  }

  const OnnxModel& model() const override { return model_; }
  const ImageSet& images() const override { return images_; }
  int64_t image_of(int64_t row) const override { return begin_ + row; }
  const std::string& name() const override { return name_; }
  int64_t rows() const override { return rows_; }
  int64_t dim() const override { return model_.manifest().dim; }
  int64_t outputs() const override { return model_.manifest().classes; }
  std::string source(int64_t row) const override { return images_.name(image_of(row)); }

  std::span<const int32_t> labels() const override {
    if (images_.labels().empty()) return {};
    return std::span(images_.labels())
        .subspan(static_cast<size_t>(begin_), static_cast<size_t>(rows_));
  }

  Status Make(int64_t begin, int64_t count, std::span<float> keys,
              std::span<float> logits) const override try {
    std::fill(keys.begin(), keys.end(), 0.0f);
    std::fill(logits.begin(), logits.end(), 0.0f);
    // Numbers of the rows that are wanted, counted among these alone.
    const auto end = std::ranges::lower_bound(wanted_, begin + count) - wanted_.begin();
    for (auto at = std::ranges::lower_bound(wanted_, begin) - wanted_.begin(); at < end;) {
      const int64_t index = at / batch_;
      RESMEM_ASSIGN_OR_RETURN(const Batch batch, MakeBatch(index));
      const int64_t first = index * batch_;
      for (; at < std::min(first + BatchRows(index), int64_t{end}); ++at) {
        const int64_t to = wanted_[static_cast<size_t>(at)] - begin;
        std::copy_n(batch->keys.begin() + (at - first) * dim(), dim(), keys.begin() + to * dim());
        std::copy_n(batch->logits.begin() + (at - first) * outputs(), outputs(),
                    logits.begin() + to * outputs());
      }
    }
    return {};
  } catch (...) {
    return CaughtException("embed the images");
  }

 private:
  struct Values {
    std::vector<float> keys, logits;
  };
  using Batch = std::shared_ptr<const Values>;

  // A batch holds wanted rows only.
  int64_t BatchRows(int64_t index) const {
    return std::min(batch_, std::ssize(wanted_) - index * batch_);
  }

  Result<Batch> MakeBatch(int64_t index) const {
    {
      const std::lock_guard lock(mutex_);
      if (const Batch& kept = kept_[static_cast<size_t>(index)]) return kept;
      if (latest_ != nullptr && latest_index_ == index) return latest_;
    }
    const int64_t rows = BatchRows(index);
    std::vector<uint8_t> pixels(static_cast<size_t>(rows * images_.shape().bytes()));
    std::vector<int64_t> which;
    for (int64_t at = index * batch_; at < index * batch_ + rows; ++at) {
      which.push_back(image_of(wanted_[static_cast<size_t>(at)]));
    }
    RESMEM_RETURN_IF_ERROR(images_.ReadRows(which, pixels, threads_));
    auto values = std::make_shared<Values>();
    values->keys.resize(static_cast<size_t>(rows * dim()));
    values->logits.resize(static_cast<size_t>(rows * outputs()));
    const Status status = model_.Run(pixels, rows, values->keys, values->logits);
    if (!status.ok()) {  // its rows are those of the batch
      return Status(status.code(),
                    Text(status.message(), " (rows counted from ", images_.name(which[0]), ")"));
    }
    const int64_t bytes = rows * (dim() + outputs()) * int64_t{sizeof(float)};
    const std::lock_guard lock(mutex_);
    Batch& kept = kept_[static_cast<size_t>(index)];
    if (kept == nullptr && bytes <= room_) {
      room_ -= bytes;
      kept = values;
    }
    latest_ = values;
    latest_index_ = index;
    return Batch(std::move(values));
  }

  const OnnxModel model_;
  const ImageSet images_;
  const std::string name_;
  const int64_t begin_, rows_, batch_;
  const int threads_;
  const int64_t most_room_;
  mutable std::mutex mutex_;
  mutable std::vector<int64_t> wanted_;  // ascending
  mutable std::vector<Batch> kept_;      // by index; null: not made yet, or no room
  mutable int64_t room_ = 0;             // bytes that may still be kept
  mutable Batch latest_;                 // the rows of one may be asked for in several pieces
  mutable int64_t latest_index_ = 0;
};

}  // namespace

Result<std::shared_ptr<const EmbeddedImages>> EmbeddedImages::Create(OnnxModel model,
                                                                     ImageSet images,
                                                                     const EmbedOptions& options) {
  const ModelManifest& manifest = model.manifest();
  const ImageShape wanted = {manifest.height, manifest.width, manifest.channels};
  std::string name = images.paths().empty() ? "images" : images.paths().front();
  if (!manifest.takes_images()) {
    return Status(ErrorCode::kMismatch, Text(name, ": the model reads rows of ", manifest.columns,
                                             " values, not images"));
  }
  if (images.shape() != wanted) {
    return Status(ErrorCode::kMismatch, Text(name, ": images of ", ImageShapeText(images.shape()),
                                             ", but the model reads ", ImageShapeText(wanted)));
  }
  const int64_t end = options.end == 0 ? images.size() : options.end;
  if (options.begin < 0 || options.begin >= end || end > images.size()) {
    return Status(ErrorCode::kInvalidArgument, Text("images ", options.begin, " to ", end, " of ",
                                                    name, ", which has ", images.size()));
  }
  const std::vector<int32_t>& labels = images.labels();
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < manifest.classes) continue;
    return Status(ErrorCode::kMismatch,
                  Text(images.name(static_cast<int64_t>(i)), ": has label ", labels[i],
                       ", but the model has ", manifest.classes, " classes, numbered from 0"));
  }
  return std::shared_ptr<const EmbeddedImages>(
      std::make_shared<Embedded>(std::move(model), std::move(images), std::move(name), options));
}

}  // namespace resmem
