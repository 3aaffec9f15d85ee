#include "http/http_text.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>

namespace resmem::serve {
namespace {

// Handed out without a buffer or a parser: what a flood costs must not grow with it.
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    "Connection: close\r\nContent-Length: 56\r\n\r\n"
    "{\"error\":\"too many connections; try again in a second\"}\n";

const char* WordsOf(int status) {
  switch (status) {
    case 408:
      return "the body did not come in time";
    case 413:
      return "the body is longer than this server accepts (--max-body); send fewer rows at a time";
    case 431:
      return "the header is longer than this server accepts (--max-header)";
    case 503:
      return "the server holds as much as it may; try again";
    case 505:
      return "this server speaks HTTP/1.0 and HTTP/1.1";
    default:
      return "this is not a sound HTTP/1.1 request";
  }
}

}  // namespace

std::string_view FullAnswer() {
  return kFull;
}

Response Refusal(int status) {
  Response response;
  response.status = status;
  response.body = "{\"error\":\"" + std::string(WordsOf(status)) + "\"}\n";
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

bool SoundId(std::string_view id) {
  const auto sound = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), sound);
}

std::string NewId() {
  static const uint64_t begin = (uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  static std::atomic<uint64_t> count{0};
  // Sebastiano Vigna's splitmix64: neighbors look unrelated, and none comes twice.
  uint64_t bits = begin + 0x9E3779B97F4A7C15u * ++count;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id(16, '0');
  for (char& c : id) c = kDigits[bits & 15], bits >>= 4;
  return id;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace resmem::serve
