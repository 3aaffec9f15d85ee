#include <utility>

#include "memory/row_writer.h"
#include "resmem/residual_memory.h"
#include "support/file_system.h"

namespace resmem {

struct MemoryWriter::Impl {
  std::unique_ptr<RowWriter> rows;
};

MemoryWriter::MemoryWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryWriter::MemoryWriter(MemoryWriter&&) noexcept = default;
MemoryWriter& MemoryWriter::operator=(MemoryWriter&&) noexcept = default;
MemoryWriter::~MemoryWriter() = default;

Result<MemoryWriter> MemoryWriter::Create(const std::string& path,
                                          const MemoryDescription& description, int64_t rows,
                                          const Options& options) {
  auto impl = std::make_unique<Impl>();
  RESMEM_ASSIGN_OR_RETURN(impl->rows, RowWriter::Create(FileSystem::Posix(), path, description,
                                                        rows, options.overwrite));
  return MemoryWriter(std::move(impl));
}

Result<MemoryWriter> MemoryWriter::Append(const std::string& path, int64_t rows) {
  auto impl = std::make_unique<Impl>();
  RESMEM_ASSIGN_OR_RETURN(impl->rows, RowWriter::Append(FileSystem::Posix(), path, rows));
  return MemoryWriter(std::move(impl));
}

const MemoryDescription& MemoryWriter::description() const {
  return impl_->rows->description();
}
Status MemoryWriter::Add(const Rows& rows) {
  return impl_->rows->Add(rows);
}
double MemoryWriter::dropped_mass() const {
  return impl_->rows->mass().dropped_share();
}
Status MemoryWriter::Finish() {
  return impl_->rows->Finish();
}

}  // namespace resmem
