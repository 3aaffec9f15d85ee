// Lines of JSON on standard error, one an event:
//   {"time":"2026-11-18T15:04:05.123Z","level":"info","event":"reloaded","memory":"digits",...}
// Never a query, a label or a key.  Safe from any thread.
#ifndef RESMEM_SERVER_OPERATION_LOG_H_
#define RESMEM_SERVER_OPERATION_LOG_H_

#include <string>
#include <string_view>

#include "protocol/json_text.h"

namespace resmem::serve {

// Now, UTC, ISO 8601 with milliseconds.
std::string TimeNow();

void LogInfo(std::string_view event, const JsonText& details = {});
void LogWarning(std::string_view event, const JsonText& details = {});

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_OPERATION_LOG_H_
