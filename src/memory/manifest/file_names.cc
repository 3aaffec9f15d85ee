#include "memory/manifest/file_names.h"

#include <charconv>

#include "format/container_writer.h"
#include "support/check.h"

namespace resmem {
namespace {

constexpr std::string_view kSuffix = ".resmem";
constexpr size_t kLeastDigits = 6, kMostDigits = 15;

}  // namespace

std::string NumberedName(std::string_view prefix, int64_t generation) {
  RESMEM_DCHECK(generation >= 0 && generation <= kLargestGeneration);
  const std::string digits = std::to_string(generation);
  std::string name(prefix);
  if (digits.size() < kLeastDigits) name.append(kLeastDigits - digits.size(), '0');
  return name.append(digits).append(kSuffix);
}

std::optional<int64_t> GenerationOf(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return std::nullopt;
  if (name.size() < prefix.size() + kSuffix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(kSuffix.size());
  int64_t generation = 0;
  if (name.size() < kLeastDigits || name.size() > kMostDigits ||
      name.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::from_chars(name.data(), name.data() + name.size(), generation);
  return generation;
}

std::optional<int64_t> GenerationOf(std::string_view name) {
  for (const char* prefix :
       {kSegmentPrefix, kDeletionsPrefix, kIndexPrefix, kQueriesPrefix, kTransformPrefix}) {
    if (const auto generation = GenerationOf(prefix, name)) return generation;
  }
  return std::nullopt;
}

bool IsOurName(std::string_view name) {
  if (name == kLockName) return true;
  if (name.ends_with(kTemporarySuffix)) {
    name.remove_suffix(std::string_view(kTemporarySuffix).size());
  }
  return name == kManifestName || GenerationOf(name).has_value();
}

}  // namespace resmem
