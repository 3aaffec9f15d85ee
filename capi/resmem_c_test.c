/* The C interface from C11: every function, its errors, and the same bits by every way. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resmem.h"

enum { kRows = 300, kQueries = 40, kDim = 6, kClasses = 4 };

static int failures = 0;
static void Expect(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("resmem_c_test.c:%d: %s; last error: %s\n", line, what, resmem_last_error());
}
#define EXPECT(condition) Expect(condition, #condition, __LINE__)
#define EXPECT_OK(call) Expect((call) == RESMEM_OK, #call, __LINE__)

static float keys[kRows * kDim], logits[kRows * kClasses];
static int32_t labels[kRows];

/* Clusters that the base confuses in pairs, from a generator that is the same everywhere. */
static float Noise(void) {
  static uint64_t state = 88172645463325252ULL;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (float)(state >> 40) / (float)(1 << 24) - 0.5f;
}
static void MakeProblem(void) {
  for (int row = 0; row < kRows; ++row) {
    labels[row] = row % kClasses;
    for (int d = 0; d < kDim; ++d) {
      keys[row * kDim + d] = (float)(3 * ((labels[row] >> (d % 2)) & 1)) + Noise();
    }
    for (int c = 0; c < kClasses; ++c) {
      logits[row * kClasses + c] = (c / 2 == labels[row] / 2 ? 2.0f : 0.0f) + 2 * Noise();
    }
  }
}
static resmem_matrix Matrix(const float* data, int64_t rows, int64_t columns) {
  const resmem_matrix matrix = {data, rows, columns, columns};
  return matrix;
}
static resmem_rows Rows(int64_t begin, int64_t count) {
  resmem_rows rows;
  memset(&rows, 0, sizeof(rows));
  rows.keys = Matrix(keys + begin * kDim, count, kDim);
  rows.logits = Matrix(logits + begin * kClasses, count, kClasses);
  rows.labels = labels + begin;
  return rows;
}

/* Scores of the first rows. */
static int Predict(resmem_memory* memory, const char* method, float* scores, float* probabilities) {
  const resmem_matrix query_keys = Matrix(keys, kQueries, kDim);
  const resmem_matrix query_logits = Matrix(logits, kQueries, kClasses);
  const resmem_output raw = {scores, kQueries, kClasses};
  const resmem_output calibrated = {probabilities, kQueries, kClasses};
  resmem_predict_options options;
  resmem_predict_options_init(&options);
  options.method = method;
  return resmem_predict(memory, &query_keys, &query_logits, &options, scores ? &raw : NULL,
                        probabilities ? &calibrated : NULL);
}

static resmem_memory* Build(const char* path, int64_t begin, int64_t count) {
  const resmem_rows rows = Rows(begin, count);
  resmem_memory* memory = NULL;
  EXPECT_OK(resmem_build(path, &rows, NULL, &memory));
  return memory;
}

static void TestAnswers(void) {
  resmem_memory* memory = Build(NULL, kQueries, kRows - kQueries);
  static float scores[kQueries * kClasses], probabilities[kQueries * kClasses];
  EXPECT_OK(Predict(memory, NULL, scores, probabilities));
  for (int row = 0; row < kQueries; ++row) {
    float sum = 0;
    for (int c = 0; c < kClasses; ++c) sum += probabilities[row * kClasses + c];
    EXPECT(fabsf(sum - 1) < 1e-5f);
  }
  EXPECT_OK(Predict(memory, "base", scores, NULL));
  EXPECT_OK(Predict(memory, "knn", scores, probabilities));
  EXPECT(memcmp(scores, probabilities, sizeof(scores)) == 0);
  EXPECT(Predict(memory, "magic", scores, NULL) == RESMEM_INVALID_ARGUMENT);
  EXPECT(strstr(resmem_last_error(), "knn-lm") != NULL);
  EXPECT(Predict(memory, "nearest-class-mean", NULL, probabilities) == RESMEM_UNSUPPORTED);

  const resmem_matrix query = Matrix(keys + kQueries * kDim, 2, kDim);
  int64_t rows[6];
  float distances[6];
  uint64_t ids[6];
  EXPECT_OK(resmem_neighbors(memory, &query, 3, NULL, 0, NULL, rows, distances, ids));
  EXPECT(rows[0] == 0 && rows[3] == 1 && distances[0] == 0 && ids[3] == 1);
  const int64_t exclude[2] = {0, -1};
  EXPECT_OK(resmem_neighbors(memory, &query, 3, exclude, 1, NULL, rows, distances, NULL));
  EXPECT(rows[0] != 0 && distances[0] > 0 && rows[3] == 1);
  const float some[4] = {1, 2, 1, INFINITY};
  float weights[4];
  EXPECT_OK(resmem_weights(some, 2, 2, 1, weights));
  EXPECT(fabsf(weights[0] - 0.7310586f) < 1e-6f && fabsf(weights[1] - 0.2689414f) < 1e-6f);
  EXPECT(weights[2] == 1 && weights[3] == 0);
  EXPECT(resmem_weights(some, 2, 2, 0, weights) == RESMEM_INVALID_ARGUMENT);
  const char* const part = "lables";
  EXPECT(resmem_export(memory, "never.npz", &part, 1, NULL) == RESMEM_INVALID_ARGUMENT);
  EXPECT(strstr(resmem_last_error(), "labels") != NULL);

  float stored[kDim];
  int32_t label;
  resmem_row_arrays arrays;
  memset(&arrays, 0, sizeof(arrays));
  arrays.size = sizeof(arrays);
  arrays.keys = stored;
  arrays.labels = &label;
  EXPECT_OK(resmem_read_rows(memory, rows + 3, 1, &arrays));
  EXPECT(memcmp(stored, query.data + kDim, sizeof(stored)) == 0 && label == labels[kQueries + 1]);
  const int64_t beyond = kRows;
  EXPECT(resmem_read_rows(memory, &beyond, 1, &arrays) == RESMEM_INVALID_ARGUMENT);

  char* json = NULL;
  const resmem_matrix one_key = Matrix(keys, 1, kDim), one_logits = Matrix(logits, 1, kClasses);
  EXPECT_OK(resmem_explain(memory, &one_key, &one_logits, NULL, NULL, &json));
  EXPECT(json != NULL && strstr(json, "resmem.explanation.v") != NULL);
  resmem_predict_options explaining;
  resmem_predict_options_init(&explaining);
  EXPECT(explaining.unknown_rate == 0.01);
  explaining.unknown_rate = -1;
  char* none = NULL;
  EXPECT(resmem_explain(memory, &one_key, &one_logits, &explaining, NULL, &none) ==
         RESMEM_INVALID_ARGUMENT);
  EXPECT(none == NULL && strstr(resmem_last_error(), "unknown rate") != NULL);
  explaining.size = offsetof(resmem_predict_options, unknown_rate); /* of an earlier program */
  EXPECT_OK(resmem_explain(memory, &one_key, &one_logits, &explaining, NULL, &none));
  resmem_free(none);
  char* html = NULL;
  EXPECT_OK(resmem_report(json, &html));
  EXPECT(html != NULL && strstr(html, "<html") != NULL);
  resmem_free(html);
  resmem_free(json);
  EXPECT(resmem_report("{}", &html) == RESMEM_BAD_DATA);
  resmem_close(memory);
}

static void TestChanges(const char* folder) {
  resmem_memory* memory = Build(NULL, 0, kRows - 50);
  const resmem_rows more = Rows(kRows - 50, 50);
  EXPECT_OK(resmem_append(memory, &more, NULL));
  const uint64_t ids[2] = {3, 260}, missing = 999;
  EXPECT_OK(resmem_delete(memory, ids, 2));
  EXPECT(resmem_delete(memory, &missing, 1) == RESMEM_NOT_FOUND);
  EXPECT(strstr(resmem_last_error(), "999") != NULL);
  resmem_info info;
  info.size = sizeof(info);
  EXPECT_OK(resmem_get_info(memory, &info));
  EXPECT(info.rows == kRows - 2 && info.capacity == kRows && info.segments == 2);
  EXPECT(info.dim == kDim && info.outputs == kClasses && info.in_ram && !info.tuned);
  int64_t row = -1;
  EXPECT_OK(resmem_find_ids(memory, ids + 1, 0, &row));
  EXPECT(resmem_find_ids(memory, ids, 1, &row) == RESMEM_NOT_FOUND);

  char* json = NULL;
  EXPECT_OK(resmem_tune(memory, NULL, NULL, &json));
  EXPECT(json != NULL && strstr(json, "resmem.tuning.v") != NULL);
  resmem_free(json);
  const resmem_rows judged = Rows(0, kQueries);
  EXPECT_OK(resmem_evaluate(memory, &judged, NULL, &json));
  EXPECT(strstr(json, "resmem.evaluation.v") != NULL);
  resmem_free(json);
  EXPECT_OK(resmem_doctor(memory, NULL, NULL, &json));
  EXPECT(strstr(json, "resmem.diagnosis.v") != NULL);
  resmem_free(json);
  EXPECT_OK(resmem_describe(memory, &json));
  EXPECT(strstr(json, "resmem.memory.v") != NULL);
  resmem_free(json);
  EXPECT_OK(resmem_classes(memory, &json));
  EXPECT(strcmp(json, "") == 0);
  resmem_free(json);

  static float scores[kQueries * kClasses], again[kQueries * kClasses];
  EXPECT_OK(resmem_compact(memory, 0, NULL));
  EXPECT_OK(Predict(memory, NULL, scores, NULL));
  char path[512];
  snprintf(path, sizeof(path), "%s/saved.resmem", folder);
  EXPECT_OK(resmem_save(memory, path, 0, NULL));
  EXPECT(resmem_save(memory, path, 0, NULL) == RESMEM_INVALID_ARGUMENT);
  EXPECT_OK(resmem_save(memory, path, 1, NULL));
  resmem_memory* saved = NULL;
  EXPECT_OK(resmem_open(path, NULL, &saved));
  EXPECT_OK(resmem_verify(saved, NULL));
  EXPECT_OK(Predict(saved, NULL, again, NULL));
  EXPECT(memcmp(scores, again, sizeof(scores)) == 0);
  EXPECT(strcmp(resmem_path(saved), path) == 0);

  /* A name for rows makes a repetition harmless; a shorter struct of an earlier program is read. */
  resmem_append_options options;
  resmem_append_options_init(&options);
  options.token = "week47";
  int32_t repeated = -1;
  resmem_rows week = Rows(0, 50);
  EXPECT_OK(resmem_append_with(saved, &week, &options, &repeated));
  EXPECT(repeated == 0);
  EXPECT_OK(resmem_append_with(saved, &week, &options, &repeated));
  EXPECT(repeated == 1);
  options.size = offsetof(resmem_append_options, token);
  EXPECT_OK(resmem_append_with(saved, &week, &options, NULL));
  EXPECT_OK(resmem_get_info(saved, &info));
  EXPECT(info.rows == kRows + 98);
  EXPECT_OK(resmem_save(memory, path, 1, NULL));
  EXPECT_OK(resmem_reload(saved));
  EXPECT(resmem_set_wait(saved, -1) == RESMEM_INVALID_ARGUMENT);
  EXPECT_OK(resmem_set_wait(saved, 0.5));

  /* Another handle changes it; ours sees it when asked to. */
  resmem_memory* other = NULL;
  EXPECT_OK(resmem_open(path, NULL, &other));
  EXPECT_OK(resmem_set_parameters(other, 100, 50.0f, 2.0f));
  EXPECT_OK(Predict(saved, "knn", again, NULL));
  EXPECT_OK(Predict(other, "knn", scores, NULL));
  EXPECT(memcmp(scores, again, sizeof(scores)) != 0);
  EXPECT_OK(resmem_reload(saved));
  EXPECT_OK(Predict(saved, "knn", again, NULL));
  EXPECT(memcmp(scores, again, sizeof(scores)) == 0);
  EXPECT_OK(resmem_index(other, NULL));
  EXPECT_OK(resmem_remove_index(other));

  /* A snapshot brings back what was deleted. */
  char* text = NULL;
  const uint64_t forgotten[2] = {7, 5};
  EXPECT(resmem_snapshot_take(memory, "monday", NULL) == RESMEM_UNSUPPORTED);
  EXPECT(resmem_snapshot_take(other, "../x", NULL) == RESMEM_INVALID_ARGUMENT);
  EXPECT(resmem_snapshot_take(other, NULL, NULL) == RESMEM_INVALID_ARGUMENT);
  EXPECT_OK(resmem_snapshot_take(other, "monday", "a note"));
  EXPECT_OK(resmem_delete(other, forgotten, 2));
  EXPECT_OK(resmem_find_in_snapshots(other, forgotten, 2, &text));
  EXPECT(strcmp(text, "monday: 5, 7") == 0);
  resmem_free(text);
  EXPECT_OK(resmem_diff(other, "monday", NULL, &text));
  EXPECT(strstr(text, "\"removed_ids\":[5,7]") != NULL);
  resmem_free(text);
  EXPECT(resmem_diff(other, "tuesday", NULL, &text) == RESMEM_NOT_FOUND);
  EXPECT_OK(resmem_describe(other, &text));
  EXPECT(strstr(text, "\"note\":\"a note\"") != NULL);
  resmem_free(text);
  EXPECT_OK(resmem_rollback(other, "monday", NULL));
  EXPECT_OK(resmem_find_ids(other, forgotten, 2, (int64_t[2]){0}));
  EXPECT(resmem_rollback(other, "tuesday", NULL) == RESMEM_NOT_FOUND);
  EXPECT_OK(resmem_snapshot_drop(other, "monday"));
  EXPECT(resmem_snapshot_drop(other, "monday") == RESMEM_NOT_FOUND);
  resmem_close(other);
  resmem_close(saved);
  resmem_close(memory);
}

static void TestFiles(void) {
  resmem_memory* memory = Build(NULL, 0, kRows);
  resmem_files* files = NULL;
  EXPECT_OK(resmem_files_read(memory, &files));
  EXPECT(resmem_files_count(files) == 2);
  const char* names[2];
  const void* bytes[2];
  size_t sizes[2];
  for (int i = 0; i < 2; ++i) {
    names[i] = resmem_files_name(files, i);
    bytes[i] = resmem_files_bytes(files, i, &sizes[i]);
  }
  EXPECT(resmem_files_name(files, 2) == NULL);
  resmem_memory* copy = NULL;
  EXPECT_OK(resmem_files_open(2, names, bytes, sizes, NULL, &copy));
  static float scores[kQueries * kClasses], again[kQueries * kClasses];
  EXPECT_OK(Predict(memory, NULL, scores, NULL));
  EXPECT_OK(Predict(copy, NULL, again, NULL));
  EXPECT(memcmp(scores, again, sizeof(scores)) == 0);
  resmem_close(copy);
  copy = NULL;

  char* broken = malloc(sizes[1]);
  memcpy(broken, bytes[1], sizes[1]);
  broken[sizes[1] / 2] ^= 1;
  bytes[1] = broken;
  EXPECT(resmem_files_open(2, names, bytes, sizes, NULL, &copy) == RESMEM_CORRUPT);
  EXPECT(copy == NULL && strlen(resmem_last_error()) > 0);
  sizes[1] /= 3;
  EXPECT(resmem_files_open(2, names, bytes, sizes, NULL, &copy) == RESMEM_CORRUPT);
  free(broken);
  resmem_files_free(files);
  resmem_close(memory);
}

static int StopAtOnce(void* user, const char* stage, int64_t done, int64_t total) {
  (void)stage;
  (void)done;
  (void)total;
  ++*(int*)user;
  return 1;
}

static void TestErrors(void) {
  resmem_memory* memory = NULL;
  EXPECT(resmem_open("/no/such/memory", NULL, &memory) == RESMEM_NOT_FOUND);
  EXPECT(strstr(resmem_last_error(), "/no/such/memory") != NULL && memory == NULL);
  EXPECT(strcmp(resmem_code_name(RESMEM_NOT_FOUND), "not found") == 0);
  EXPECT(resmem_open(NULL, NULL, &memory) == RESMEM_INVALID_ARGUMENT);
  EXPECT(resmem_get_info(NULL, NULL) == RESMEM_INVALID_ARGUMENT);
  resmem_close(NULL);
  resmem_files_free(NULL);
  resmem_free(NULL);

  resmem_rows rows = Rows(0, kRows);
  resmem_build_options options;
  resmem_build_options_init(&options);
  int calls = 0;
  options.watch.report = StopAtOnce;
  options.watch.user = &calls;
  EXPECT(resmem_build(NULL, &rows, &options, &memory) == RESMEM_CANCELLED && calls == 1);
  const int32_t cancel = 1;
  resmem_build_options_init(&options);
  options.watch.cancel = &cancel;
  EXPECT(resmem_build(NULL, &rows, &options, &memory) == RESMEM_CANCELLED);
  resmem_build_options_init(&options);
  options.key_type = "float8";
  EXPECT(resmem_build(NULL, &rows, &options, &memory) == RESMEM_INVALID_ARGUMENT);
  options.size = 3;
  EXPECT(resmem_build(NULL, &rows, &options, &memory) == RESMEM_INVALID_ARGUMENT);
  rows.logits.rows = 7;
  EXPECT(resmem_build(NULL, &rows, NULL, &memory) == RESMEM_BAD_DATA);
  rows.keys.stride = 1;
  EXPECT(resmem_build(NULL, &rows, NULL, &memory) == RESMEM_INVALID_ARGUMENT);
  const float kept = keys[5];
  keys[5] = NAN;
  rows = Rows(0, kRows);
  EXPECT(resmem_build(NULL, &rows, NULL, &memory) == RESMEM_BAD_DATA);
  keys[5] = kept;

  /* A caller of an earlier version has a shorter struct: the rest keeps its defaults. */
  resmem_build_options_init(&options);
  options.size = offsetof(resmem_build_options, key_type);
  options.key_type = "float8";
  EXPECT_OK(resmem_build(NULL, &rows, &options, &memory));
  resmem_close(memory);
}

static void Change(const char* path, long place) {
  FILE* file = fopen(path, "r+b");
  EXPECT(file != NULL && fseek(file, place, SEEK_SET) == 0);
  const int byte = getc(file);
  EXPECT(fseek(file, place, SEEK_SET) == 0 && putc(byte ^ 64, file) != EOF && fclose(file) == 0);
}

/* What a block holds that was opened before it broke is an error, not a value. */
static void TestDamage(const char* folder) {
  char path[280], segment[320];
  snprintf(path, sizeof(path), "%s/damaged", folder);
  resmem_close(Build(path, 0, kRows));
  snprintf(segment, sizeof(segment), "%s/segment-000001.resmem", path);
  Change(segment, 1000); /* a key */
  resmem_memory* memory = NULL;
  EXPECT(resmem_open(path, NULL, &memory) == RESMEM_CORRUPT && memory == NULL);
  Change(segment, 1000);
  EXPECT_OK(resmem_open(path, NULL, &memory));
  Change(segment, 1000);
  EXPECT(resmem_reload(memory) == RESMEM_CORRUPT);
  /* The state after a change compares what is read, when it is read. */
  const uint64_t gone = 9;
  EXPECT_OK(resmem_delete(memory, &gone, 1));
  float stored[kDim];
  const int64_t row = 0;
  resmem_row_arrays arrays;
  memset(&arrays, 0, sizeof(arrays));
  arrays.size = sizeof(arrays);
  arrays.keys = stored;
  EXPECT(resmem_read_rows(memory, &row, 1, &arrays) == RESMEM_CORRUPT);
  EXPECT(strstr(resmem_last_error(), "section keys") != NULL);
  resmem_close(memory);
}

/* Somebody makes a mapped file shorter: errors, and this process lives.  Small ones are not mapped.
 */
static void TestCutFile(const char* folder) {
  enum { kMany = 4000 };
  static float many_keys[kMany * kDim], many_logits[kMany * kClasses];
  static int32_t many_labels[kMany];
  for (int row = 0; row < kMany; ++row) {
    const int from = row % kRows;
    memcpy(many_keys + row * kDim, keys + from * kDim, kDim * sizeof(float));
    memcpy(many_logits + row * kClasses, logits + from * kClasses, kClasses * sizeof(float));
    many_labels[row] = labels[from];
  }
  resmem_rows rows = Rows(0, 1);
  rows.keys = Matrix(many_keys, kMany, kDim);
  rows.logits = Matrix(many_logits, kMany, kClasses);
  rows.labels = many_labels;
  char path[280], segment[320];
  snprintf(path, sizeof(path), "%s/cut", folder);
  snprintf(segment, sizeof(segment), "%s/segment-000001.resmem", path);
  resmem_memory *memory = NULL, *other = Build(NULL, 0, kRows);
  EXPECT_OK(resmem_build(path, &rows, NULL, &memory));
  static float scores[kQueries * kClasses];
  EXPECT_OK(Predict(memory, NULL, scores, NULL));
  resmem_guard_files();
  EXPECT(truncate(segment, 4096) == 0);
  for (int again = 0; again < 2; ++again) {
    EXPECT(Predict(memory, NULL, scores, NULL) == RESMEM_CORRUPT);
    EXPECT(strstr(resmem_last_error(), "shorter") != NULL);
  }
  EXPECT_OK(Predict(other, NULL, scores, NULL));
  resmem_close(other);
  resmem_close(memory);
}

int main(void) {
  const char* parent = getenv("TMPDIR");
  char folder[256], command[300];
  snprintf(folder, sizeof(folder), "%s/resmem_c_XXXXXX", parent != NULL ? parent : "/tmp");
  if (mkdtemp(folder) == NULL) return 1;

  EXPECT(resmem_abi_version() == RESMEM_ABI_VERSION);
  EXPECT(strchr(resmem_version(), '.') != NULL);
  MakeProblem();
  TestAnswers();
  TestChanges(folder);
  TestFiles();
  TestErrors();
  TestDamage(folder);
  TestCutFile(folder);
  snprintf(command, sizeof(command), "rm -rf %s", folder);
  if (system(command) != 0) ++failures;
  printf("%s\n", failures == 0 ? "all as expected" : "FAILED");
  return failures == 0 ? 0 : 1;
}
