/* predict_c MEMORY KEYS LOGITS ROWS SCORES: raw float32 files in, raw scores out, by the C
 * interface. */
#include <stdio.h>
#include <stdlib.h>

#include "resmem.h"

static float* Read(const char* path, size_t count) {
  float* values = malloc(count * sizeof(float));
  FILE* file = fopen(path, "rb");
  if (values == NULL || file == NULL || fread(values, sizeof(float), count, file) != count) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  return values;
}

int main(int argc, char** argv) {
  resmem_memory* memory = NULL;
  resmem_info info;
  info.size = sizeof(info);
  if (argc != 6 || resmem_open(argv[1], NULL, &memory) != RESMEM_OK ||
      resmem_get_info(memory, &info) != RESMEM_OK) {
    fprintf(stderr, "%s\n", resmem_last_error());
    return 1;
  }
  const int64_t rows = atoll(argv[4]);
  const resmem_matrix keys = {Read(argv[2], (size_t)(rows * info.dim)), rows, info.dim, info.dim};
  const resmem_matrix logits = {Read(argv[3], (size_t)(rows * info.outputs)), rows, info.outputs,
                                info.outputs};
  const size_t count = (size_t)(rows * info.outputs);
  const resmem_output scores = {malloc(count * sizeof(float)), rows, info.outputs};
  FILE* file = fopen(argv[5], "wb");
  if (file == NULL || resmem_predict(memory, &keys, &logits, NULL, &scores, NULL) != RESMEM_OK ||
      fwrite(scores.data, sizeof(float), count, file) != count || fclose(file) != 0) {
    fprintf(stderr, "%s\n", resmem_last_error());
    return 1;
  }
  resmem_close(memory);
  free((void*)keys.data);
  free((void*)logits.data);
  free(scores.data);
  return 0;
}
