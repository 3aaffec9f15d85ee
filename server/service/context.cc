#include "service/context.h"

#include <algorithm>

#include "protocol/json_text.h"

namespace resmem::serve {

int HttpStatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return 200;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadData:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kMismatch:
      return 409;
    case ErrorCode::kUnsupported:
      return 501;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kCancelled:
      return 503;
    default:
      return 500;
  }
}

Response ErrorResponse(int status, std::string_view words) {
  Response response;
  response.status = status;
  response.body = ErrorJson(words);
  if (status >= 500) response.reason = words;
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response ErrorResponse(const Status& status) {
  if (status.code() == ErrorCode::kCancelled) {
    return ErrorResponse(503, "the server is stopping, and this would have taken too long");
  }
  return ErrorResponse(HttpStatusOf(status.code()), status.message());
}

Response JsonResponse(std::string json) {
  Response response;
  response.body = std::move(json);
  response.body += '\n';
  return response;
}

bool WaitedTooLong(const Context& context, WorkClock::time_point arrived,
                   std::optional<int64_t> timeout) {
  auto limit = std::chrono::duration_cast<std::chrono::microseconds>(context.limits.queue_wait);
  if (timeout) limit = std::min(limit, std::chrono::microseconds(*timeout));
  return limit.count() > 0 && WorkClock::now() - arrived > limit;
}

bool FindMemory(Context& context, const Call& call, Found* found, Response* failure) {
  const auto at = context.memories.find(call.name());
  if (at == context.memories.end()) {
    std::string names;
    for (const auto& [name, hosted] : context.memories) {
      names += (names.empty() ? "" : ", ") + name;
    }
    *failure = ErrorResponse(
        404, "no memory is named '" + call.name().substr(0, 100) + "'; there are: " + names);
    return false;
  }
  found->hosted = &at->second;
  found->state = at->second.memory->state();
  if (found->state == nullptr) {
    *failure = ErrorResponse(
        503, "memory '" + call.name() + "' is not loaded: " + at->second.memory->error());
    return false;
  }
  return true;
}

namespace {

// Decoded; false where a % is not followed by two digits.
bool Decode(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      *out += text[i];
      continue;
    }
    const auto digit = [&](size_t at) {
      const char c = at < text.size() ? text[at] : '?';
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      if (c >= 'A' && c <= 'F') return c - 'A' + 10;
      return -1;
    };
    const int high = digit(i + 1), low = digit(i + 2);
    if (high < 0 || low < 0) return false;
    *out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

std::string_view NextPart(std::string_view* path) {
  const size_t slash = path->find('/');
  const std::string_view part = path->substr(0, slash);
  path->remove_prefix(slash == std::string_view::npos ? path->size() : slash + 1);
  return part;
}

bool Matches(std::string_view pattern, std::string_view path, std::vector<std::string>* names) {
  // Most are told apart by how they begin.
  if (!path.starts_with(pattern.substr(0, pattern.find('{')))) return false;
  names->clear();
  if (std::count(pattern.begin(), pattern.end(), '/') !=
      std::count(path.begin(), path.end(), '/')) {
    return false;
  }
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = NextPart(&pattern), found = NextPart(&path);
    if (wanted == "{}") {
      std::string name;
      if (found.empty() || !Decode(found, &name)) return false;
      names->push_back(std::move(name));
    } else if (wanted != found) {
      return false;
    }
  }
  return true;
}

}  // namespace

const Route* FindRoute(std::string_view method, std::string_view target,
                       std::vector<std::string>* names, bool* other_method) {
  *other_method = false;
  const std::string_view path = target.substr(0, target.find('?'));
  for (const Route& route : Routes()) {
    if (!Matches(route.pattern, path, names)) continue;
    if (method == route.method || (method == "HEAD" && std::string_view(route.method) == "GET")) {
      return &route;
    }
    *other_method = true;
  }
  return nullptr;
}

}  // namespace resmem::serve
