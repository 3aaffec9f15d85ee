// Who may read a folder or file that takes the place of another, or stands for it.
#ifndef RESMEM_SUPPORT_FILES_MODES_H_
#define RESMEM_SUPPORT_FILES_MODES_H_

#include <string>

namespace resmem {

// `path` gets the owner and mode of `of`, as far as the system allows; where `of` is not on disk,
// nothing happens.
void TakeModeOf(const std::string& of, const std::string& path) noexcept;

// Only the owner may enter the folder `path`.
void MakePrivate(const std::string& path) noexcept;

}  // namespace resmem

#endif  // RESMEM_SUPPORT_FILES_MODES_H_
