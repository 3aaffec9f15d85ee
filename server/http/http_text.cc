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

const char* ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

// Nothing that came from outside may end a line of a header.
void AppendField(std::string_view name, std::string_view value, std::string* text) {
  *text += name;
  *text += ": ";
  for (const char c : value) *text += c == '\r' || c == '\n' ? ' ' : c;
  *text += "\r\n";
}

}  // namespace

std::string HeadText(const Response& response, std::string_view id, unsigned version,
                     bool keep_alive) {
  std::string text;
  text.reserve(512);
  text += version == 10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  text += std::to_string(response.status);
  text += ' ';
  text += ReasonOf(response.status);
  text += "\r\nServer: resmem\r\nX-Content-Type-Options: nosniff\r\n";
  AppendField("X-Request-Id", id, &text);
  const auto same = [](const auto& field) { return LowerCase(field.first) == "cache-control"; };
  if (std::none_of(response.headers.begin(), response.headers.end(), same)) {
    text += "Cache-Control: no-store\r\n";
  }
  if (!response.type.empty()) AppendField("Content-Type", response.type, &text);
  for (const auto& [name, value] : response.headers) AppendField(name, value, &text);
  if (response.status != 304)
    AppendField("Content-Length", std::to_string(response.body.size()), &text);
  if (!keep_alive) text += "Connection: close\r\n";
  if (keep_alive && version == 10) text += "Connection: keep-alive\r\n";
  text += "\r\n";
  return text;
}

std::string_view FullAnswer() {
  return kFull;
}

Response Refusal(int status) {
  Response response;
  response.status = status;
  response.reason = WordsOf(status);
  response.body = "{\"error\":\"" + response.reason + "\"}\n";
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
