// Numbers of the results page.  What is not there is a dash.
#ifndef RESMEM_LAB_REPRODUCE_PAGE_MARKDOWN_H_
#define RESMEM_LAB_REPRODUCE_PAGE_MARKDOWN_H_

#include <string>

#include "console/format.h"
#include "reproduce/json.h"

namespace resmem::cli::reproduce {

std::string ShareText(double share);   // "59.66 %"
std::string PointsText(double share);  // "+3.20"
std::string NumberText(double value, int decimals);
std::string ParametersText(const Json& parameters);  // "k 53, σ 0.7, T 1.4"
// Of an object with value, low and high: "59.66 % (58.69 to 60.62)", "+3.20 (2.61 to 3.79)".
std::string ShareWithInterval(const Json& accuracy);
std::string PointsWithInterval(const Json& gain);
// "above", "below" or "match": where we are against a figure that is known from elsewhere.
std::string Verdict(double known, const Interval& ours);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_PAGE_MARKDOWN_H_
