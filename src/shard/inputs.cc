#include "shard/inputs.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "format/checksum.h"
#include "resmem/fingerprint.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

Status Changed(const ShardFile& file, const std::string& digest) {
  return {ErrorCode::kMismatch,
          Text(file.path, ": has changed since the plan was made: its checksum is ", digest,
               ", the plan's ", file.digest, "; restore the file, or make a new plan")};
}

Result<ShardRows> OpenTokens(const ShardPlan& plan, const ShardFile& file,
                             const std::optional<ShardRange>& range, const OnnxOptions& runtime) {
  ShardRows rows;
  RESMEM_ASSIGN_OR_RETURN(TokenModel model,
                          TokenModel::Open(plan.model.path, plan.engine, runtime));
  if (model.fingerprint().digest != plan.model.digest) {
    return Changed(plan.model, model.fingerprint().digest);
  }
  RESMEM_ASSIGN_OR_RETURN(TokenSet set, TokenSet::Open(file.path));
  rows.model = std::make_unique<TokenModel>(std::move(model));
  rows.set = std::make_unique<TokenSet>(std::move(set));
  TokenRowsOptions options{.shape = plan.windows};
  if (range) {
    options.documents = range->end_document;
    options.first_document = range->first_document;
  }
  RESMEM_ASSIGN_OR_RETURN(rows.tokens, TokenRows::Make(*rows.model, *rows.set, options));
  if (range && (rows.tokens->first_row() != range->begin || rows.rows() != range->rows())) {
    return Status(
        ErrorCode::kCorrupt,
        Text("the plan's documents ", range->first_document, " to ", range->end_document,
             " are rows ", rows.tokens->first_row(), " to ", rows.tokens->first_row() + rows.rows(),
             ", not ", range->begin, " to ", range->end, "; make a new plan"));
  }
  return rows;
}

}  // namespace

Result<std::string> DigestInput(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  if (!files.IsDirectory(path)) return DigestFile(path);
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(path));
  std::string all;
  for (const std::string& name : names) {
    const std::string inside = Text(path, "/", name);
    if (files.IsDirectory(inside)) continue;
    RESMEM_ASSIGN_OR_RETURN(const std::string digest, DigestFile(inside));
    all += digest + " " + name + "\n";
  }
  return Digest(std::as_bytes(std::span(all)));
}

Status CheckInput(const ShardFile& file) {
  RESMEM_ASSIGN_OR_RETURN(const std::string digest, DigestInput(file.path));
  return digest == file.digest ? Status() : Changed(file, digest);
}

MemoryDescription DescribeArrayMemory(const ShardPlan& plan, const Dataset& dataset) {
  MemoryDescription description;
  description.task = plan.task;
  description.dim = dataset.dim();
  description.outputs = dataset.outputs();
  description.key_type = plan.key_type;
  description.key_transform = plan.key_transform;
  description.form = plan.form;
  description.top = plan.top;
  description.half_residuals = plan.half_residuals;
  description.parameters = plan.parameters;
  description.has_sources = dataset.has_sources();
  description.class_names = dataset.class_names();
  return description;
}

Result<Dataset> OpenArrays(const std::string& path, Task task) {
  DatasetSources sources;
  sources.all = path;
  return Dataset::Open(sources, task);
}

Result<ShardRows> OpenRows(const ShardPlan& plan, const ShardFile& file,
                           const std::optional<ShardRange>& range, const OnnxOptions& runtime) {
  RESMEM_RETURN_IF_ERROR(CheckInput(file));
  if (plan.tokens) return OpenTokens(plan, file, range, runtime);
  ShardRows rows;
  RESMEM_ASSIGN_OR_RETURN(Dataset dataset, OpenArrays(file.path, plan.task));
  rows.dataset = std::make_unique<Dataset>(std::move(dataset));
  rows.begin = range ? range->begin : 0;
  rows.end = range ? range->end : rows.dataset->rows();
  if (rows.end > rows.dataset->rows()) {
    return Status(ErrorCode::kCorrupt,
                  Text("the plan's last row is ", rows.end, ", but ", file.path, " has ",
                       rows.dataset->rows(), "; make a new plan"));
  }
  return rows;
}

RowSource ShardRows::Source() const {
  if (tokens) return tokens->Source();
  return {rows(), [this](const RowSource::Use& use) -> Status {
            constexpr int64_t kPieceRows = 8192;
            Dataset::Block block;
            std::vector<uint64_t> numbers;
            for (int64_t first = begin; first < end; first += kPieceRows) {
              const int64_t count = std::min(kPieceRows, end - first);
              RESMEM_RETURN_IF_ERROR(dataset->Read(first, count, &block));
              Rows rows_read = block.view;
              if (rows_read.ids.empty()) {
                numbers.resize(static_cast<size_t>(count));
                std::iota(numbers.begin(), numbers.end(), static_cast<uint64_t>(first));
                rows_read.ids = numbers;
              }
              RESMEM_RETURN_IF_ERROR(use(first - begin, rows_read));
              dataset->Drop(first, count);
            }
            return {};
          }};
}

}  // namespace resmem
