// What the steps hand to each other and to the page: JSON objects in steps/NAME.json.
//
// Reading is forgiving: a value that is not there is null, NaN or empty, and the page shows a
// dash.  So a record of an older version never stops a run.
#ifndef RESMEM_LAB_REPRODUCE_JSON_H_
#define RESMEM_LAB_REPRODUCE_JSON_H_

#include <string>
#include <string_view>

#include "resmem/evaluation.h"
#include "resmem/status.h"
#include "support/json.h"

namespace resmem::cli::reproduce {

Json ToJson(const Parameters& parameters);
Json ToJson(const Accuracy& accuracy);
Json ToJson(const PairedGain& gain);
Json ToJson(const Calibration& calibration);
Json ToJson(const Interval& interval);

// The value at "a/b/0/c".
const Json& At(const Json& json, std::string_view path);
double NumberAt(const Json& json, std::string_view path);
int64_t CountAt(const Json& json, std::string_view path);  // -1: not there
std::string TextAt(const Json& json, std::string_view path);
Interval IntervalAt(const Json& json, std::string_view path);  // of an object with low and high
// k 0, the base alone, where they are not there.
Parameters ParametersAt(const Json& json, std::string_view path);

// Errors: kNotFound, kCorrupt (not an object), kIo.
Result<Json> ReadJson(const std::string& path);
// Atomically, with line breaks.
Status WriteJson(const std::string& path, const Json& json);

// 16 hex digits of the bytes; for telling whether something changed, not for security.
class Digest {
 public:
  void Add(std::string_view bytes);
  std::string Hex() const;

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_JSON_H_
