// Built against libresmem-c-dev as a stranger would: opens a memory and says how many rows it has.
#include <resmem.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  resmem_memory* memory = NULL;
  if (resmem_open(argv[1], NULL, &memory) != 0) {
    fprintf(stderr, "%s\n", resmem_last_error());
    return 1;
  }
  resmem_info info = {.size = sizeof info};
  const int failed = resmem_get_info(memory, &info);
  printf("%lld rows\n", (long long)info.rows);
  resmem_close(memory);
  return failed;
}
