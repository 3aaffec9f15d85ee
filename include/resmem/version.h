#ifndef RESMEM_VERSION_H_
#define RESMEM_VERSION_H_

#include <string>

namespace resmem {

// "0.1.0", and "g++ 12.2.0, release" and the like.
std::string Version();
std::string BuildDescription();

}  // namespace resmem

#endif  // RESMEM_VERSION_H_
