#include "format/format.h"

namespace resmem {

const char* FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kManifest:
      return "manifest";
    case FileKind::kSegment:
      return "segment";
    case FileKind::kDeletions:
      return "deletions";
    case FileKind::kBaseModel:
      return "base model";
    case FileKind::kCheckpoint:
      return "checkpoint";
    case FileKind::kTokenSet:
      return "token set";
    case FileKind::kIndex:
      return "index";
    case FileKind::kQueries:
      return "queries";
    case FileKind::kTransform:
      return "transform";
    case FileKind::kAnswers:
      return "answers";
  }
  return "unknown";
}

int64_t StoredBytes(StoredType type) {
  switch (type) {
    case StoredType::kU8:
    case StoredType::kI8:
      return 1;
    case StoredType::kU16:
    case StoredType::kF16:
      return 2;
    case StoredType::kI32:
    case StoredType::kU32:
    case StoredType::kF32:
      return 4;
    case StoredType::kU64:
      return 8;
  }
  return 0;
}

const char* StoredTypeName(StoredType type) {
  switch (type) {
    case StoredType::kU8:
      return "u8";
    case StoredType::kI8:
      return "i8";
    case StoredType::kU16:
      return "u16";
    case StoredType::kI32:
      return "i32";
    case StoredType::kU32:
      return "u32";
    case StoredType::kU64:
      return "u64";
    case StoredType::kF16:
      return "f16";
    case StoredType::kF32:
      return "f32";
  }
  return "unknown";
}

}  // namespace resmem
