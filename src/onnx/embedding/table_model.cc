#include "resmem/models/table_model.h"

#include <algorithm>
#include <utility>

#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kTableBatch = 1024;

class TableModel final : public RowModel {
 public:
  TableModel(OnnxModel model, std::string name)
      : model_(std::move(model)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  int64_t columns() const override { return model_.manifest().columns; }
  int64_t dim() const override { return model_.manifest().dim; }
  int64_t outputs() const override { return model_.manifest().classes; }
  Status Run(MatrixView inputs, std::span<float> keys, std::span<float> logits) const override try {
    for (int64_t begin = 0; begin < inputs.rows; begin += kTableBatch) {
      const int64_t count = std::min(kTableBatch, inputs.rows - begin);
      const auto part = [&](std::span<float> all, int64_t width) {
        return all.subspan(static_cast<size_t>(begin * width), static_cast<size_t>(count * width));
      };
      RESMEM_RETURN_IF_ERROR(
          model_.RunFloats(inputs.Slice(begin, count), part(keys, dim()), part(logits, outputs())));
    }
    return {};
  } catch (...) {
    return CaughtException("run the model");
  }

 private:
  const OnnxModel model_;
  const std::string name_;
};

}  // namespace

Result<std::shared_ptr<const RowModel>> MakeTableModel(OnnxModel model, const std::string& name) {
  if (model.manifest().columns == 0) {
    return Status(ErrorCode::kMismatch,
                  Text(name, ": reads ", model.manifest().takes_tokens() ? "tokens" : "images",
                       ", not rows of a table; give a model of tables"));
  }
  return std::shared_ptr<const RowModel>(std::make_shared<TableModel>(std::move(model), name));
}

}  // namespace resmem
