#include "images/decode.h"

#include <algorithm>
#include <string_view>

#include "support/text.h"

namespace resmem {
namespace {

bool BeginsWith(ByteSpan bytes, std::string_view magic) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
      .starts_with(magic);
}

}  // namespace

bool LooksLikePng(ByteSpan bytes) {
  return BeginsWith(bytes, "\x89PNG\r\n\x1a\n");
}

bool LooksLikeJpeg(ByteSpan bytes) {
  return BeginsWith(bytes, "\xff\xd8\xff");
}

bool LooksLikeWebp(ByteSpan bytes) {
  constexpr size_t kKind = 8;  // behind the length
  return BeginsWith(bytes, "RIFF") && bytes.size() > kKind &&
         BeginsWith(bytes.subspan(kKind), "WEBP");
}

Status DecodeImage(const std::string& name, ByteSpan bytes, Image* image, int64_t most_pixels) {
  if (LooksLikePng(bytes)) return DecodePng(name, bytes, image, most_pixels);
  if (LooksLikeJpeg(bytes)) return DecodeJpeg(name, bytes, image, most_pixels);
  if (LooksLikeWebp(bytes)) return DecodeWebp(name, bytes, image, most_pixels);
  return {ErrorCode::kBadData,
          Text(name, bytes.empty() ? ": is empty" : ": is no PNG, JPEG or WebP file",
               "; convert it or take it away")};
}

bool HasImageName(const std::string& path) {
  std::string lower = path.substr(path.size() - std::min<size_t>(path.size(), 5));
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.ends_with(".png") || lower.ends_with(".jpg") || lower.ends_with(".jpeg") ||
         lower.ends_with(".webp");
}

}  // namespace resmem
