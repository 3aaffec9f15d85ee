#include "resmem/models/embedded_images.h"

#include <algorithm>
#include <mutex>
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
        kept_(static_cast<size_t>((rows_ + batch_ - 1) / batch_)),
        room_(options.kept_bytes) {}

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
    for (int64_t row = begin; row < begin + count;) {
      const int64_t index = row / batch_;
      RESMEM_ASSIGN_OR_RETURN(const Batch batch, MakeBatch(index));
      const int64_t first = row - index * batch_;
      const int64_t taken = std::min(BatchRows(index) - first, begin + count - row);
      const auto copy = [&](const std::vector<float>& from, int64_t columns, std::span<float> to) {
        std::copy_n(from.begin() + first * columns, taken * columns,
                    to.begin() + (row - begin) * columns);
      };
      copy(batch->keys, dim(), keys);
      copy(batch->logits, outputs(), logits);
      row += taken;
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

  int64_t BatchRows(int64_t index) const { return std::min(batch_, rows_ - index * batch_); }

  Result<Batch> MakeBatch(int64_t index) const {
    {
      const std::lock_guard lock(mutex_);
      if (const Batch& kept = kept_[static_cast<size_t>(index)]) return kept;
    }
    const int64_t rows = BatchRows(index);
    std::vector<uint8_t> pixels(static_cast<size_t>(rows * images_.shape().bytes()));
    RESMEM_RETURN_IF_ERROR(images_.Read(image_of(index * batch_), rows, pixels, threads_));
    auto values = std::make_shared<Values>();
    values->keys.resize(static_cast<size_t>(rows * dim()));
    values->logits.resize(static_cast<size_t>(rows * outputs()));
    const Status status = model_.Run(pixels, rows, values->keys, values->logits);
    if (!status.ok()) {  // its rows are those of the batch
      return Status(status.code(),
                    Text(status.message(), " (rows counted from ", source(index * batch_), ")"));
    }
    const int64_t bytes = rows * (dim() + outputs()) * int64_t{sizeof(float)};
    const std::lock_guard lock(mutex_);
    Batch& kept = kept_[static_cast<size_t>(index)];
    if (kept == nullptr && bytes <= room_) {
      room_ -= bytes;
      kept = values;
    }
    return Batch(std::move(values));
  }

  const OnnxModel model_;
  const ImageSet images_;
  const std::string name_;
  const int64_t begin_, rows_, batch_;
  const int threads_;
  mutable std::mutex mutex_;
  mutable std::vector<Batch> kept_;  // by index; null: not made yet, or no room
  mutable int64_t room_;             // bytes that may still be kept
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
