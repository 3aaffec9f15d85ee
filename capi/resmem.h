/* resmem in C: a memory of residuals for any prediction model, and the door for other languages.
 *
 *   resmem_memory* memory = NULL;
 *   if (resmem_open("my.resmem", NULL, &memory) != RESMEM_OK) puts(resmem_last_error());
 *
 * Every function that can fail returns a resmem_code; resmem_last_error() then has the sentence, of
 * this thread's last failed call.  Nothing is thrown, printed, aborted or exited.
 *
 * A handle may be used by any number of threads at once, for changes too: a call that reads answers
 * from the state it found, a change is seen by the calls that begin after it.  Two changes of one
 * handle wait for each other.  Only resmem_close() must be the last call.
 *
 * Options are structs that start with their own size: set them up by the function of the same name
 * with _init, then change what you want.  A program compiled today works with later libraries of
 * the same resmem_abi_version().  NULL stands for the defaults.
 *
 * Arrays are the caller's and are read where they lie.  Documents are JSON, the same as `resmem ...
 * --json` prints (docs/json.md); free them by resmem_free().  See docs/c_interface.md.
 */
#ifndef RESMEM_CAPI_RESMEM_H_
#define RESMEM_CAPI_RESMEM_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif
#define RESMEM_API __attribute__((visibility("default")))

#define RESMEM_ABI_VERSION 1
RESMEM_API int32_t resmem_abi_version(void);
RESMEM_API const char* resmem_version(void); /* "0.1.0" */

/* ---- Errors ------------------------------------------------------------------------------- */

typedef enum resmem_code {
  RESMEM_OK = 0,
  RESMEM_INVALID_ARGUMENT = 1,   /* the call itself is wrong */
  RESMEM_BAD_DATA = 2,           /* your arrays are wrong: NaN, a label, a shape */
  RESMEM_NOT_FOUND = 3,          /* no such file or row id */
  RESMEM_CORRUPT = 4,            /* a file of ours fails a checksum or contradicts itself */
  RESMEM_TOO_NEW = 5,            /* a file of ours was written by a later version */
  RESMEM_MISMATCH = 6,           /* another model's arrays */
  RESMEM_UNSUPPORTED = 7,        /* sound, but not something that can be done */
  RESMEM_IO = 8,                 /* the system refused to read or write */
  RESMEM_RESOURCE_EXHAUSTED = 9, /* no space, no memory, or somebody else holds the memory */
  RESMEM_CANCELLED = 10          /* you asked to stop */
} resmem_code;

RESMEM_API const char* resmem_code_name(int code); /* "bad data", ... */
/* Place, value found, what was allowed, next step.  "" where no call of this thread has failed. */
RESMEM_API const char* resmem_last_error(void);
/* Frees what this library gave as char*.  NULL is fine. */
RESMEM_API void resmem_free(void* text);

/* ---- Arrays and progress --------------------------------------------------------------------- */

/* Rows of float32, `stride` floats from one row to the next. */
typedef struct resmem_matrix {
  const float* data;
  int64_t rows, columns, stride;
} resmem_matrix;

/* Where answers go: rows x columns without gaps.  The shape must be the one that is documented. */
typedef struct resmem_output {
  float* data;
  int64_t rows, columns;
} resmem_output;

typedef enum resmem_role {
  RESMEM_UNMARKED = 0,
  RESMEM_TRAIN = 1,
  RESMEM_VALIDATION = 2,
  RESMEM_TEST = 3
} resmem_role;

/* Everything about rows.  What is not there is NULL, or a matrix of zeros. */
typedef struct resmem_rows {
  resmem_matrix keys;         /* rows x dim: the base model's embedding */
  resmem_matrix logits;       /* rows x outputs: before softmax; regression: its predictions */
  const int32_t* labels;      /* classification: 0 .. outputs - 1 */
  resmem_matrix targets;      /* regression: rows x outputs */
  const uint64_t* ids;        /* NULL: numbered by the memory */
  const char* const* sources; /* UTF-8, where a row came from */
  const int32_t* roles;       /* of resmem_role */
  const char* const* slices;  /* UTF-8, the group that a row is reported under */
} resmem_rows;

/* Of long work.  All three may be NULL. */
typedef struct resmem_watch {
  /* `done` of `total`; may come from any thread, never from two at once.  Not 0: stop. */
  int (*report)(void* user, const char* stage, int64_t done, int64_t total);
  void* user;
  const int32_t* cancel; /* any thread may set it to another value than 0: stop */
} resmem_watch;

/* ---- Memories -------------------------------------------------------------------------------- */

typedef struct resmem_memory resmem_memory;

typedef struct resmem_open_options {
  size_t size;
  int32_t skip_checksums; /* for memories that were verified before */
  int32_t exact;          /* search every key, even where the memory has an index */
} resmem_open_options;
RESMEM_API void resmem_open_options_init(resmem_open_options* options);
RESMEM_API int resmem_open(const char* path, const resmem_open_options* options,
                           resmem_memory** memory);
/* Files of a memory are mapped.  Where somebody else makes one shorter, or the disk cannot read it
 * any more, reading it sends SIGBUS, which ends the process.  After this call it does not: the call
 * that reads it, and later ones on that memory, give RESMEM_CORRUPT.  Installs a handler of SIGBUS,
 * which asks the one before it about addresses that are not of a memory. */
RESMEM_API void resmem_guard_files(void);
/* What the handle held is freed when the calls that still read it have returned.  NULL is fine. */
RESMEM_API void resmem_close(resmem_memory* memory);

typedef struct resmem_build_options {
  size_t size;
  int32_t regression;
  int32_t overwrite;          /* replace a memory at the path */
  const char* key_type;       /* "float32", "float16", "int8"; NULL: float32 */
  const char* form;           /* "logits", "dense", "sparse"; NULL: as `resmem memorize` chooses */
  int64_t top;                /* sparse: residuals kept a row */
  int32_t half_residuals;     /* dense, sparse: values of 2 bytes */
  int32_t cross_fitted;       /* each row's logits are of a model trained without it */
  int64_t k;                  /* 1 or more */
  float sigma, temperature;   /* above 0 */
  const char* const* classes; /* `outputs` names in UTF-8; NULL: none */
  const char* model;          /* fingerprint: name or digest of the model, and its layer; */
  const char* layer;          /* NULL: unknown */
  double recall;              /* above 0: also make an index; see resmem_index_options */
  uint64_t seed;
  resmem_watch watch;
  const char* key_transform; /* done to keys, these and queries': "none", "unit" (cosine), "whiten";
                                NULL: none */
  const char* const* tags;   /* of each row, "site=north;time=2026-11-19"; NULL: none */
} resmem_build_options;
RESMEM_API void resmem_build_options_init(resmem_build_options* options);
/* A new memory of these rows.  path NULL: in RAM, gone with the handle unless it is saved. */
RESMEM_API int resmem_build(const char* path, const resmem_rows* rows,
                            const resmem_build_options* options, resmem_memory** memory);

/* A copy on disk that answers bit for bit the same; the handle stays what it is. */
RESMEM_API int resmem_save(resmem_memory* memory, const char* path, int32_t overwrite,
                           const resmem_watch* watch);

/* The files of a memory as bytes, for other ways to carry it: pickle, a database, a socket. */
typedef struct resmem_files resmem_files;
RESMEM_API int resmem_files_read(resmem_memory* memory, resmem_files** files);
RESMEM_API int64_t resmem_files_count(const resmem_files* files);
RESMEM_API const char* resmem_files_name(const resmem_files* files, int64_t i);
RESMEM_API const void* resmem_files_bytes(const resmem_files* files, int64_t i, size_t* size);
RESMEM_API void resmem_files_free(resmem_files* files);
/* A memory in RAM of such files.  They may be hostile: everything is checked. */
RESMEM_API int resmem_files_open(int64_t count, const char* const* names, const void* const* bytes,
                                 const size_t* sizes, const resmem_open_options* options,
                                 resmem_memory** memory);

typedef struct resmem_info {
  size_t size;
  int64_t rows;     /* living */
  int64_t capacity; /* stored; row numbers run from 0 to capacity - 1 */
  int64_t dim, outputs, segments, bytes;
  int32_t regression, in_ram, tuned, cross_fitted, has_logits, has_sources;
  int64_t k;
  float sigma, temperature;
} resmem_info;
/* Set `size` before the call. */
RESMEM_API int resmem_get_info(resmem_memory* memory, resmem_info* info);
/* The document of `resmem info --json`. */
RESMEM_API int resmem_describe(resmem_memory* memory, char** json);
/* Class names, one a line; "" where the memory has none. */
RESMEM_API int resmem_classes(resmem_memory* memory, char** lines);
/* The path it was opened with, or "ram:N".  Valid until resmem_close(). */
RESMEM_API const char* resmem_path(const resmem_memory* memory);

/* ---- Changes --------------------------------------------------------------------------------- */

RESMEM_API int resmem_append(resmem_memory* memory, const resmem_rows* rows,
                             const resmem_watch* watch);
typedef struct resmem_append_options {
  size_t size;
  const char* token; /* your name for these rows; NULL: none.  Where the memory knows it (the latest
                        1,000 are kept), they are there already, and nothing is added */
  resmem_watch watch;
  const char* const* tags; /* as of resmem_build_options */
} resmem_append_options;
RESMEM_API void resmem_append_options_init(resmem_append_options* options);
/* resmem_append() with these.  *repeated (may be NULL): 1 where the memory knew the token.  So a
 * call of which nobody knows how it ended may be made again. */
RESMEM_API int resmem_append_with(resmem_memory* memory, const resmem_rows* rows,
                                  const resmem_append_options* options, int32_t* repeated);
/* How long changes by this handle wait for another process that is changing the memory; they fail
 * with RESMEM_RESOURCE_EXHAUSTED then.  0 at first: they fail at once. */
RESMEM_API int resmem_set_wait(resmem_memory* memory, double seconds);
/* An id that does not live in the memory is RESMEM_NOT_FOUND, and nothing is deleted. */
RESMEM_API int resmem_delete(resmem_memory* memory, const uint64_t* ids, int64_t count);
/* The rows whose tags match (docs/filters.md); *deleted (may be NULL): how many.  None is no error.
 */
RESMEM_API int resmem_delete_where(resmem_memory* memory, const char* where, int64_t* deleted);
/* Which snapshots still hold these rows, deleted or not: "monday: 3, 5", one snapshot a line, ids
 * ascending; "" where none does. */
RESMEM_API int resmem_find_in_snapshots(resmem_memory* memory, const uint64_t* ids, int64_t count,
                                        char** lines);
/* Rewrites it without deleted rows.  freeze: logits become residuals at the memory's T. */
RESMEM_API int resmem_compact(resmem_memory* memory, int32_t freeze, const resmem_watch* watch);
RESMEM_API int resmem_set_parameters(resmem_memory* memory, int64_t k, float sigma,
                                     float temperature);
/* Sees what another process has changed at the path since. */
RESMEM_API int resmem_reload(resmem_memory* memory);
/* Compares every checksum. */
RESMEM_API int resmem_verify(resmem_memory* memory, const resmem_watch* watch);

/* Named states to come back to (docs/versions.md): folders MEMORY/snapshots/NAME that resmem_open()
 * opens, sharing files with the memory.  resmem_describe() lists them.  A memory in RAM has none:
 * RESMEM_UNSUPPORTED.  note may be NULL. */
RESMEM_API int resmem_snapshot_take(resmem_memory* memory, const char* name, const char* note);
RESMEM_API int resmem_snapshot_drop(resmem_memory* memory, const char* name);
/* Makes the memory what it was then; what it is now is gone, unless a snapshot has it. */
RESMEM_API int resmem_rollback(resmem_memory* memory, const char* name, const resmem_watch* watch);
/* The document of `resmem diff --json`: from one snapshot to another, or with NULL to the memory as
 * it is now. */
RESMEM_API int resmem_diff(resmem_memory* memory, const char* before, const char* after,
                           char** json);

typedef struct resmem_index_options {
  size_t size;
  double recall;         /* above 0, below 1: the share of the true neighbors to be found */
  int32_t code_bits;     /* 8, 4 or 2; 0: by the memory's size */
  int32_t threads;       /* 0: as many as the machine has */
  resmem_matrix queries; /* keys as they will be asked, 100 or more; none: the memory's rows */
  uint64_t seed;
  resmem_watch watch;
} resmem_index_options;
RESMEM_API void resmem_index_options_init(resmem_index_options* options);
RESMEM_API int resmem_index(resmem_memory* memory, const resmem_index_options* options);
RESMEM_API int resmem_remove_index(resmem_memory* memory);

typedef struct resmem_tune_options {
  size_t size;
  const int64_t* k; /* the grid; an empty axis is filled with the usual values */
  int64_t k_count;
  const float* sigma;
  int64_t sigma_count;
  const float* temperature;
  int64_t temperature_count;
  const char* objective; /* "nll", "accuracy", "tpr-at-fpr"; NULL: nll */
  const char* method; /* fitted beside the parameters: "blend", "logit-boost"; "resmem": none; NULL:
                         blend */
  double fpr_limit;
  int64_t
      folds; /* of cross-validation: 2 or more; 0: none, and no blend; -1: as many as is usual */
  uint64_t seed;
  int32_t dry_run;   /* leave the memory as it is */
  int32_t any_model; /* do not compare the arrays with the memory's model */
  int32_t threads;
  resmem_watch watch;
  const char* key_transform; /* "auto": chosen; "keep": the memory's own; or as in
                                resmem_build_options.  NULL: auto */
  int64_t fit_megabytes;     /* for the rows that the blend is fitted on, 20 bytes for each class of
                                a row; of more than fit, as many as do */
} resmem_tune_options;
RESMEM_API void resmem_tune_options_init(resmem_tune_options* options);
/* Fits the memory's answer on held-out rows and stores it; the document says in "answer" which it
 * is.  Without that field nothing was fitted, and the memory is as it was.  rows NULL: the memory's
 * own, each without itself.  json may be NULL. */
RESMEM_API int resmem_tune(resmem_memory* memory, const resmem_rows* rows,
                           const resmem_tune_options* options, char** json);
/* Restores what the memory answered before the last tuning, once; then RESMEM_NOT_FOUND. */
RESMEM_API int resmem_undo_tuning(resmem_memory* memory, const resmem_watch* watch);
/* By what it answers: "resmem", "blend", "logit-boost" or "base".  NULL for NULL. */
RESMEM_API const char* resmem_answer(resmem_memory* memory);

/* ---- Answers --------------------------------------------------------------------------------- */

typedef struct resmem_predict_options {
  size_t size;
  const char* method; /* NULL: the memory's own; or "base", "resmem", "knn", "knn-lm", ... */
  int64_t k;          /* -1: the memory's own */
  float sigma;        /* 0: the memory's own */
  float temperature;  /* 0: the memory's own */
  float lambda;       /* of knn-lm */
  int32_t threads;    /* 0: as many as the machine has */
  resmem_watch watch;
  double unknown_rate; /* resmem_explain: a share, 0 to 1; 0.01 */
} resmem_predict_options;
RESMEM_API void resmem_predict_options_init(resmem_predict_options* options);

/* scores: keys.rows x outputs, the raw score, whose largest is the answer; regression: the values.
 * probabilities: of the same shape, classification only.  Each may be NULL. */
RESMEM_API int resmem_predict(resmem_memory* memory, const resmem_matrix* keys,
                              const resmem_matrix* logits, const resmem_predict_options* options,
                              const resmem_output* scores, const resmem_output* probabilities);

/* keys.rows x k each; where there are fewer, row -1, an infinite distance and id UINT64_MAX.
 * distances are plain L2.  ids may be NULL.  exclude: keys.rows row numbers that are not found, -1
 * for none; or NULL. */
RESMEM_API int resmem_neighbors(resmem_memory* memory, const resmem_matrix* keys, int64_t k,
                                const int64_t* exclude, int32_t threads, const resmem_watch* watch,
                                int64_t* rows, float* distances, uint64_t* ids);

/* How far keys lie from the memory: for each row the percentile, 0 to 100, of its distance among
 * the rows that the memory's blend was fitted on; -1 where no neighbor is found.  A row is unknown
 * at a rate x where that is -1, or 100 (1 - x) or more (docs/predictor.md).  RESMEM_UNSUPPORTED for
 * a memory that answers by no blend. */
RESMEM_API int resmem_distance_percentiles(resmem_memory* memory, const resmem_matrix* keys,
                                           int32_t threads, const resmem_watch* watch,
                                           float* percentiles);

/* Each neighbor's share in an answer: exp(-distance / sigma) over the sum of its line, 0 where the
 * distance is infinite.  Distances as from resmem_neighbors(), queries x k. */
RESMEM_API int resmem_weights(const float* distances, int64_t queries, int64_t k, float sigma,
                              float* weights);

/* The living rows as arrays, as `resmem export`: path that ends with .npz is a file, else a folder.
 * parts: names of arrays, NULL and 0 for the usual ones. */
RESMEM_API int resmem_export(resmem_memory* memory, const char* path, const char* const* parts,
                             int64_t part_count, const resmem_watch* watch);

/* What the memory holds of rows: each array may be NULL. */
typedef struct resmem_row_arrays {
  size_t size;
  float* keys;      /* count x dim */
  float* residuals; /* count x outputs, at the memory's temperature */
  float* logits;    /* count x outputs; form logits only */
  float* targets;   /* count x outputs; regression only */
  int32_t* labels;  /* count; classification only */
  uint64_t* ids;
  int32_t* deleted; /* 1: deleted */
} resmem_row_arrays;
RESMEM_API int resmem_read_rows(resmem_memory* memory, const int64_t* rows, int64_t count,
                                const resmem_row_arrays* arrays);
/* Row numbers of ids; RESMEM_NOT_FOUND where one does not live. */
RESMEM_API int resmem_find_ids(resmem_memory* memory, const uint64_t* ids, int64_t count,
                               int64_t* rows);

/* Of each of these rows, one line: its tags, "" where it has none. */
RESMEM_API int resmem_read_tags(resmem_memory* memory, const int64_t* rows, int64_t count,
                                char** lines);
/* A handle that answers from only those rows of the memory whose tags match now, searched exactly:
 * "site=north,time<2026-01-01" (docs/filters.md).  It may have fewer rows than k, or none: see
 * resmem_get_info().  Later changes of the memory do not reach it, and it cannot be changed itself;
 * close it as any other.  Asking again for the same rows costs nearly nothing. */
RESMEM_API int resmem_where(resmem_memory* memory, const char* where, resmem_memory** part);

/* The document of `resmem explain --json` for one row.  without_id: NULL, or a row left out. */
RESMEM_API int resmem_explain(resmem_memory* memory, const resmem_matrix* key,
                              const resmem_matrix* logits, const resmem_predict_options* options,
                              const uint64_t* without_id, char** json);

typedef struct resmem_evaluate_options {
  size_t size;
  int64_t k; /* -1 and 0: the memory's own, as in resmem_predict_options */
  float sigma, temperature;
  int32_t no_baselines;  /* only the base and the memory */
  int32_t any_model;     /* do not compare the arrays with the memory's model */
  int32_t leave_one_out; /* the rows are those of the memory, by id */
  int64_t sample;        /* resmem_doctor: rows of the memory that are asked */
  const int32_t* coarse_of_class;
  int64_t keep_rows; /* single rows in the document, from the first */
  int32_t threads;
  resmem_watch watch;
} resmem_evaluate_options;
RESMEM_API void resmem_evaluate_options_init(resmem_evaluate_options* options);
/* The document of `resmem eval --json`.  rows NULL: the memory's own, each without itself. */
RESMEM_API int resmem_evaluate(resmem_memory* memory, const resmem_rows* rows,
                               const resmem_evaluate_options* options, char** json);
/* The document of `resmem doctor --json`.  rows NULL: a sample of the memory's own. */
RESMEM_API int resmem_doctor(resmem_memory* memory, const resmem_rows* rows,
                             const resmem_evaluate_options* options, char** json);
/* One HTML page of any document above (docs/reports.md). */
RESMEM_API int resmem_report(const char* json, char** html);

#if defined(__cplusplus)
}
#endif
#endif /* RESMEM_CAPI_RESMEM_H_ */
