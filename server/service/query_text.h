// What stands behind '?' in an address.
#ifndef RESMEM_SERVER_SERVICE_QUERY_TEXT_H_
#define RESMEM_SERVER_SERVICE_QUERY_TEXT_H_

#include <cstdint>
#include <string_view>

namespace resmem::serve {

// The value of name=value; "" where it is absent.
std::string_view QueryText(std::string_view query, std::string_view name);
// The same as a number: `otherwise` where it is absent, -1 where it is none.
int64_t QueryNumber(std::string_view query, std::string_view name, int64_t otherwise);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SERVICE_QUERY_TEXT_H_
