#include "memory/keys/transform_file.h"

#include <memory>
#include <utility>

#include "format/container_reader.h"
#include "format/container_writer.h"
#include "memory/manifest/recorded_file.h"
#include "support/text.h"

namespace resmem {
namespace {

SectionShape MatrixSection(int64_t dim) {
  return {"matrix", StoredType::kF32, dim, dim};
}

}  // namespace

Result<FileRecord> WriteTransform(FileSystem& files, const std::string& folder,
                                  const std::string& name, std::span<const float> matrix,
                                  int64_t dim) {
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(files, folder + "/" + name, FileKind::kTransform,
                                                  {MatrixSection(dim)}));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(0, matrix));
  RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer.Finish());
  return FileRecord{name, dim, finished.file_bytes, finished.header_hash};
}

Result<KeyTransformer> LoadTransformer(FileSystem& files, const std::string& folder,
                                       const Manifest& manifest) {
  const int64_t dim = manifest.description.dim;
  switch (manifest.description.key_transform) {
    case KeyTransform::kNone:
      return KeyTransformer();
    case KeyTransform::kUnit:
      return KeyTransformer::Unit(dim);
    case KeyTransform::kWhiten:
      break;
  }
  RESMEM_ASSIGN_OR_RETURN(
      ContainerReader opened,
      OpenRecordedFile(files, folder, *manifest.transform, FileKind::kTransform));
  RESMEM_RETURN_IF_ERROR(opened.ExpectSections({MatrixSection(dim)}));
  RESMEM_RETURN_IF_ERROR(opened.VerifyBlocks());
  const auto file = std::make_shared<const ContainerReader>(std::move(opened));
  const std::span<const float> matrix = file->Values<float>(0);
  if (!KeyTransformer::CheckMatrix(matrix, dim)) {
    return file->Corrupt("its matrix is not upper triangular, finite and above 0 on the diagonal");
  }
  return KeyTransformer::Whiten(dim, std::shared_ptr<const float>(file, matrix.data()));
}

}  // namespace resmem
