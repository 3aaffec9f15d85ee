# cmake -DSOURCE=tree -DOUTPUT=file.cc -P write_commit.cmake: writes only what has changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "process/commit.h"

namespace resmem::cli {

std::string BuiltFromCommit() {
  return "@commit@";
}

}  // namespace resmem::cli
]])
