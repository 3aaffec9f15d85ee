/* c_user MEMORY KEYS LOGITS LABELS ROWS: predicts rows by the C interface, then appends them.
 * Allocates nothing of its own.  Exit 4 with the library's message where it was out of memory, 1
 * where anything else went wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "resmem.h"

enum { kMostRows = 256, kMostValues = 4096 };
static float keys[kMostValues], logits[kMostValues], scores[kMostValues];
static int32_t labels[kMostRows];

static void Read(const char* path, void* values, size_t bytes) {
  FILE* file = fopen(path, "rb");
  static char buffer[4096];
  if (file == NULL) { /* fopen() allocates */
    dprintf(STDERR_FILENO, "error: %s: cannot be opened\n", path);
    _exit(4);
  }
  setvbuf(file, buffer, _IOFBF, sizeof buffer);
  if (fread(values, 1, bytes, file) != bytes) _exit(1);
  fclose(file);
}

static void Check(int code) {
  if (code == RESMEM_OK) return;
  dprintf(STDERR_FILENO, "error: %s\n", resmem_last_error());
  _exit(code == RESMEM_RESOURCE_EXHAUSTED ? 4 : 1);
}

int main(int argc, char** argv) {
  resmem_memory* memory = NULL;
  resmem_info info;
  info.size = sizeof info;
  if (argc != 6) return 1;
  const int64_t rows = atoll(argv[5]);
  Check(resmem_open(argv[1], NULL, &memory));
  Check(resmem_get_info(memory, &info));
  if (rows > kMostRows || rows * info.dim > kMostValues || rows * info.outputs > kMostValues)
    return 1;
  Read(argv[2], keys, (size_t)(rows * info.dim) * sizeof(float));
  Read(argv[3], logits, (size_t)(rows * info.outputs) * sizeof(float));
  Read(argv[4], labels, (size_t)rows * sizeof(int32_t));
  const resmem_matrix key_rows = {keys, rows, info.dim, info.dim};
  const resmem_matrix logit_rows = {logits, rows, info.outputs, info.outputs};
  const resmem_output out = {scores, rows, info.outputs};
  Check(resmem_predict(memory, &key_rows, &logit_rows, NULL, &out, NULL));
  const resmem_rows given = {.keys = key_rows, .logits = logit_rows, .labels = labels};
  Check(resmem_append(memory, &given, NULL));
  resmem_close(memory);
  return 0;
}
