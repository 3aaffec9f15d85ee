// Files that get shorter, or that the disk cannot read any more, while they are mapped.
//
// A memory is mapped.  Reading a page that is gone sends SIGBUS, which ends a program that does
// nothing about it.  We never change a file in place, but somebody else may.
#ifndef RESMEM_MAPPED_FILES_H_
#define RESMEM_MAPPED_FILES_H_

#include <cstdint>

namespace resmem {

// What a program does when it meets such a page of `path`, inside a signal handler: it may only
// call what is safe there, and need not return.
using PageLost = void (*)(const char* path);

// Installs a handler of SIGBUS for the files that this library has mapped; of other addresses, the
// handler that was there before is asked.  After `lost`, where it is given and returns, the page
// and those behind it read as zeros, and the program goes on.  From then on whatever reads that
// memory is kCorrupt: a Status, or ResidualMemory::damage().  A library must not install handlers
// behind its program's back, so the program calls this.  Again: only `lost` is replaced.
void GuardMappedFiles(PageLost lost = nullptr);

// How often a page was lost in this process.
int64_t LostPages();

}  // namespace resmem

#endif  // RESMEM_MAPPED_FILES_H_
