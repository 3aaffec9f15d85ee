// The log of a training run: a JSON object a line.
#ifndef RESMEM_LAB_RECIPE_JSON_LOG_H_
#define RESMEM_LAB_RECIPE_JSON_LOG_H_

#include <cstdint>
#include <string>

#include "format/json_fields.h"
#include "resmem/status.h"

namespace resmem {

Status AppendToJsonLog(const std::string& path, const Json& line);

// Before a run goes on: only lines whose `field` is at most `last` stay.  No file is a sound log.
Status CutJsonLog(const std::string& path, const char* field, int64_t last);

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_JSON_LOG_H_
