#include "service/query_text.h"

#include <algorithm>
#include <charconv>

namespace resmem::serve {

std::string_view QueryText(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (!pair.starts_with(name) || pair.size() <= name.size() || pair[name.size()] != '=') continue;
    return pair.substr(name.size() + 1);
  }
  return {};
}

int64_t QueryNumber(std::string_view query, std::string_view name, int64_t otherwise) {
  const std::string_view text = QueryText(query, name);
  if (text.empty()) return otherwise;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

}  // namespace resmem::serve
