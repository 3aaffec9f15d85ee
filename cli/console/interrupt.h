// Ctrl-C as a request.  The first SIGINT, SIGTERM or SIGHUP asks the work to stop and clean up; the
// second one kills as usual.  A reader that leaves (`resmem predict | head`) is an error of
// the write and not a signal.
#ifndef RESMEM_CLI_CONSOLE_INTERRUPT_H_
#define RESMEM_CLI_CONSOLE_INTERRUPT_H_

#include "resmem/status.h"

namespace resmem::cli {

void InstallSignalHandlers();
int InterruptSignal();  // 0: none came

// kCancelled where a signal came.  For loops of our own; the library asks Progress.
Status CheckInterrupt();

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_INTERRUPT_H_
