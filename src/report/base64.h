#ifndef RESMEM_REPORT_BASE64_H_
#define RESMEM_REPORT_BASE64_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace resmem {

std::string EncodeBase64(std::span<const uint8_t> bytes);
// Nothing where the text is not base64 with padding.
std::optional<std::vector<uint8_t>> DecodeBase64(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_REPORT_BASE64_H_
