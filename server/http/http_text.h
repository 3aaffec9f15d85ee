// Texts of the HTTP layer that need no HTTP library.
#ifndef RESMEM_SERVER_HTTP_HTTP_TEXT_H_
#define RESMEM_SERVER_HTTP_HTTP_TEXT_H_

#include <string>
#include <string_view>

#include "http/message.h"

namespace resmem::serve {

// The whole answer to a connection above the limit.
std::string_view FullAnswer();
// What the layer answers by itself: a status of 4xx or 5xx with its sentence.
Response Refusal(int status);
// An answer up to its body.  `version`: 10 or 11, of HTTP.
std::string HeadText(const Response& response, std::string_view id, unsigned version,
                     bool keep_alive);
// Whether a client's X-Request-Id may be handed on: short, of what cannot hurt a log.
bool SoundId(std::string_view id);
std::string NewId();
std::string LowerCase(std::string_view text);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_HTTP_HTTP_TEXT_H_
