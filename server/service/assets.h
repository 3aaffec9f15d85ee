// Files that were built into the program: openapi.json and what lies in server/page.
#ifndef RESMEM_SERVER_SERVICE_ASSETS_H_
#define RESMEM_SERVER_SERVICE_ASSETS_H_

#include <span>
#include <string>
#include <string_view>

#include "http/message.h"

namespace resmem::serve {

struct Asset {
  std::string_view name;  // "page/index.html"
  std::string_view bytes;
  std::string_view digest;  // SHA-256 in hexadecimal: its ETag
};
std::span<const Asset> Assets();  // assets.cc is made by embed_assets.cmake

// 404 where there is none of the name; 304 where the client has it.
Response AssetResponse(std::string_view name, std::string_view if_none_match);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SERVICE_ASSETS_H_
