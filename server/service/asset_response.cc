#include "service/assets.h"
#include "service/context.h"

namespace resmem::serve {
namespace {

std::string TypeOf(std::string_view name) {
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  if (ends(".html")) return "text/html; charset=utf-8";
  if (ends(".css")) return "text/css; charset=utf-8";
  if (ends(".js")) return "text/javascript; charset=utf-8";
  if (ends(".svg")) return "image/svg+xml";
  if (ends(".json")) return "application/json";
  return "application/octet-stream";
}

}  // namespace

Response AssetResponse(std::string_view name, std::string_view if_none_match) {
  for (const Asset& asset : Assets()) {
    if (asset.name != name) continue;
    Response response;
    const std::string tag = "\"" + std::string(asset.digest.substr(0, 32)) + "\"";
    response.headers = {
        {"ETag", tag},
        {"Cache-Control", "no-cache"},  // asked for each time, sent only if it changed
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
         "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"}};
    response.type = TypeOf(name);
    if (if_none_match.find(tag) != std::string_view::npos) {
      response.status = 304;
      return response;
    }
    response.body = asset.bytes;
    return response;
  }
  return ErrorResponse(404, "there is no such page");
}

}  // namespace resmem::serve
