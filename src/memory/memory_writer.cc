#include <utility>

#include "memory/memory_changes.h"
#include "memory/rows/row_writer.h"
#include "resmem/residual_memory.h"
#include "support/file_system.h"
#include "support/guard.h"

namespace resmem {

struct MemoryWriter::Impl {
  std::unique_ptr<RowWriter> rows;
  std::string path{};  // of a memory that rows are appended to
};

MemoryWriter::MemoryWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryWriter::MemoryWriter(MemoryWriter&&) noexcept = default;
MemoryWriter& MemoryWriter::operator=(MemoryWriter&&) noexcept = default;
MemoryWriter::~MemoryWriter() = default;

Result<MemoryWriter> MemoryWriter::Create(const std::string& path,
                                          const MemoryDescription& description, int64_t rows,
                                          const Options& options) try {
  auto impl = std::make_unique<Impl>();
  RESMEM_ASSIGN_OR_RETURN(
      impl->rows, RowWriter::Create(FileSystem::Of(path), path, description, rows, options));
  return MemoryWriter(std::move(impl));
} catch (...) {
  return CaughtException("create the memory");
}

Result<MemoryWriter> MemoryWriter::Append(const std::string& path, int64_t rows,
                                          const AppendOptions& options) try {
  auto impl = std::make_unique<Impl>();
  RESMEM_ASSIGN_OR_RETURN(impl->rows, RowWriter::Append(FileSystem::Of(path), path, rows, options));
  impl->path = path;
  return MemoryWriter(std::move(impl));
} catch (...) {
  return CaughtException("append to the memory");
}

const MemoryDescription& MemoryWriter::description() const {
  return impl_->rows->description();
}
bool MemoryWriter::repeated() const {
  return impl_->rows->repeated();
}
Status MemoryWriter::Add(const Rows& rows) try { return impl_->rows->Add(rows); } catch (...) {
  return CaughtException("write these rows");
}
double MemoryWriter::dropped_mass() const {
  return impl_->rows->mass().dropped_share();
}
Status MemoryWriter::Finish(Progress* progress) try {
  RESMEM_RETURN_IF_ERROR(impl_->rows->Finish(progress));
  // A change of its own, which may fail: the rows are there, and the next append tries again.
  if (!impl_->path.empty() && !impl_->rows->repeated()) {
    try {
      (void)MergeSegments(FileSystem::Of(impl_->path), impl_->path, {.progress = progress}).ok();
    } catch (...) {  // no memory
    }
  }
  return {};
} catch (...) {
  return CaughtException("finish the memory");
}

}  // namespace resmem
