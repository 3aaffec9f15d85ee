// Parts that every JSON document of ours is made of.
#ifndef RESMEM_REPORT_DOCUMENT_H_
#define RESMEM_REPORT_DOCUMENT_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/report/report.h"
#include "support/json.h"

namespace resmem {

// The shortest decimal that reads back as the same double or float; null where not finite.
Json Number(double value);
Json Number(float value);
Json Numbers(std::span<const double> values);
Json Numbers(std::span<const float> values);

Json ToJson(const Parameters& parameters);
Json ToJson(const PairedGain& gain);
Json ToJson(const MemoryInfo& memory);
Json ToJson(const RunInfo& run);

// {"schema": "resmem.<kind>.v1", "run": ...}
Json StartDocument(std::string_view kind, const RunInfo& run);
// One line without its end.  Bytes that are not UTF-8 become U+FFFD.
std::string WriteDocument(const Json& document);

}  // namespace resmem

#endif  // RESMEM_REPORT_DOCUMENT_H_
