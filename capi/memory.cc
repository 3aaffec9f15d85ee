// Handles, and changes of what they hold.
#include <limits>

#include "capi/handle.h"
#include "resmem/version.h"

using namespace resmem;        // NOLINT: this file is a border, with names of both sides
using namespace resmem::capi;  // NOLINT

namespace resmem::capi {
namespace {

constexpr int64_t kSparseAboveClasses = 4096;  // as `resmem memorize` has it

template <class Value>
Status Choose(const char* name, const char* option,
              std::initializer_list<std::pair<const char*, Value>> values, Value* chosen) {
  std::string known;
  for (const auto& [text, value] : values) {
    if (name != nullptr && std::strcmp(name, text) == 0) {
      *chosen = value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return name == nullptr ? Status()
                         : Invalid(std::string(option) + " \"" + name + "\": there are " + known);
}

std::string TextOrEmpty(const char* text) {
  return text == nullptr ? "" : text;
}

Result<MemoryDescription> Describe(const resmem_build_options& options, const Rows& rows) {
  MemoryDescription description;
  description.task = options.regression != 0 ? Task::kRegression : Task::kClassification;
  description.dim = rows.keys.columns;
  description.outputs = rows.logits.columns;
  RESMEM_RETURN_IF_ERROR(Choose(options.key_type, "key_type",
                                {std::pair{"float32", KeyType::kFloat32},
                                 {"float16", KeyType::kFloat16},
                                 {"int8", KeyType::kInt8}},
                                &description.key_type));
  if (options.key_transform != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(
        description.key_transform,
        FindByName<KeyTransform>(options.key_transform, "key_transform", KeyTransformName));
  }
  if (description.task == Task::kRegression) {
    description.form = ResidualForm::kDense;
  } else if (description.outputs > kSparseAboveClasses) {
    description.form = ResidualForm::kSparse;
  }
  RESMEM_RETURN_IF_ERROR(Choose(options.form, "form",
                                {std::pair{"logits", ResidualForm::kLogits},
                                 {"dense", ResidualForm::kDense},
                                 {"sparse", ResidualForm::kSparse}},
                                &description.form));
  description.top = std::min(options.top, description.outputs);
  description.half_residuals = options.half_residuals != 0;
  description.cross_fitted = options.cross_fitted != 0;
  description.has_sources = !rows.sources.empty();
  description.parameters = {options.k, options.sigma, options.temperature};
  description.fingerprint = {TextOrEmpty(options.model), TextOrEmpty(options.layer)};
  description.seed = options.seed;
  if (options.k == 0) {
    return Invalid("k 0: a memory that consults no neighbor is of no use; give 1 or more");
  }
  if (options.classes == nullptr) return description;
  for (int64_t i = 0; i < description.outputs; ++i) {
    if (options.classes[i] == nullptr) return Invalid("classes: fewer names than outputs");
    description.class_names.emplace_back(options.classes[i]);
  }
  return description;
}

// In pieces, so that the caller hears from us and may stop.
Status WriteAll(const Rows& rows, MemoryWriter* writer, Progress* progress) {
  constexpr int64_t kPiece = 16384;
  for (int64_t begin = 0; begin < rows.count(); begin += kPiece) {
    const int64_t count = std::min(kPiece, rows.count() - begin);
    RESMEM_RETURN_IF_ERROR(writer->Add(rows.Slice(begin, count)));
    progress->Report("memorize", begin + count, rows.count());
    if (progress->Cancelled()) {
      return {ErrorCode::kCancelled, "memorizing was cancelled, nothing was written"};
    }
  }
  return writer->Finish(progress);
}

Status CheckHandle(const void* memory, const void* out) {
  if (memory == nullptr) return Invalid("the memory is NULL");
  if (out == nullptr) return Invalid("the place for the answer is NULL");
  return {};
}

// Hands the memory over once its first state is there.
Status Give(std::unique_ptr<resmem_memory> memory, bool verify, resmem_memory** out) {
  RESMEM_RETURN_IF_ERROR(Load(memory.get(), verify));
  *out = memory.release();
  return {};
}

}  // namespace
}  // namespace resmem::capi

struct resmem_files {
  std::vector<MemoryFile> files;
};

int32_t resmem_abi_version(void) {
  return RESMEM_ABI_VERSION;
}
const char* resmem_version(void) {
  static const std::string version = Version();
  return version.c_str();
}
const char* resmem_code_name(int code) {
  if (code < 0 || code > RESMEM_CANCELLED) return "unknown";
  return ErrorCodeName(static_cast<ErrorCode>(code)).data();  // of a literal
}
const char* resmem_last_error(void) {
  return LastError();
}
void resmem_free(void* text) {
  std::free(text);
}

void resmem_open_options_init(resmem_open_options* options) {
  *options = {sizeof(*options), 0, 0};
}

int resmem_open(const char* path, const resmem_open_options* options, resmem_memory** memory) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    if (path == nullptr) return Invalid("the path is NULL");
    RESMEM_ASSIGN_OR_RETURN(const resmem_open_options wanted,
                            ReadOptions(options, resmem_open_options_init));
    auto opened = std::make_unique<resmem_memory>();
    opened->path = path;
    opened->exact = wanted.exact != 0;
    return Give(std::move(opened), wanted.skip_checksums == 0, memory);
  });
}

void resmem_guard_files(void) {
  GuardMappedFiles();
}

void resmem_close(resmem_memory* memory) {
  delete memory;
}

void resmem_build_options_init(resmem_build_options* options) {
  *options = {};
  options->size = sizeof(*options);
  const MemoryDescription usual;
  options->top = usual.top;
  options->k = usual.parameters.k;
  options->sigma = usual.parameters.sigma;
  options->temperature = usual.parameters.temperature;
}

int resmem_build(const char* path, const resmem_rows* rows, const resmem_build_options* options,
                 resmem_memory** memory) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    RESMEM_ASSIGN_OR_RETURN(const resmem_build_options wanted,
                            ReadOptions(options, resmem_build_options_init));
    RowsView view;
    RESMEM_RETURN_IF_ERROR(ReadRowsView(rows, &view, wanted.tags));
    RESMEM_ASSIGN_OR_RETURN(const MemoryDescription description, Describe(wanted, view.rows));
    auto built = std::make_unique<resmem_memory>();
    if (path == nullptr) {
      built->ram.emplace();
      built->path = built->ram->path();
    } else {
      built->path = path;
    }
    MemoryWriter::Options writing{.overwrite = wanted.overwrite != 0};
    writing.tags = wanted.tags != nullptr;
    if (wanted.recall > 0) {
      writing.index.emplace();
      writing.index->recall = wanted.recall;
      writing.index->seed = wanted.seed;
    }
    Watch watch(&wanted.watch);
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Create(built->path, description,
                                                                      view.rows.count(), writing));
    RESMEM_RETURN_IF_ERROR(WriteAll(view.rows, &writer, &watch));
    return Give(std::move(built), /*verify=*/false, memory);
  });
}

int resmem_save(resmem_memory* memory, const char* path, int32_t overwrite,
                const resmem_watch* watch) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    if (path == nullptr) return Invalid("the path is NULL");
    if (memory->is_part) return Invalid(kIsPart);
    Watch progress(watch);
    const std::lock_guard<std::mutex> lock(memory->changing);
    return CopyMemory(memory->path, path, {.overwrite = overwrite != 0, .progress = &progress});
  });
}

int resmem_files_read(resmem_memory* memory, resmem_files** files) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, files));
    if (memory->is_part) return Invalid(kIsPart);
    auto read = std::make_unique<resmem_files>();
    const std::lock_guard<std::mutex> lock(memory->changing);
    RESMEM_ASSIGN_OR_RETURN(read->files, ReadMemoryFiles(memory->path));
    *files = read.release();
    return {};
  });
}
int64_t resmem_files_count(const resmem_files* files) {
  return files == nullptr ? 0 : static_cast<int64_t>(files->files.size());
}
const char* resmem_files_name(const resmem_files* files, int64_t i) {
  if (i < 0 || i >= resmem_files_count(files)) return nullptr;
  return files->files[static_cast<size_t>(i)].name.c_str();
}
const void* resmem_files_bytes(const resmem_files* files, int64_t i, size_t* size) {
  if (i < 0 || i >= resmem_files_count(files) || size == nullptr) return nullptr;
  *size = files->files[static_cast<size_t>(i)].bytes.size();
  return files->files[static_cast<size_t>(i)].bytes.data();
}
void resmem_files_free(resmem_files* files) {
  delete files;
}

int resmem_files_open(int64_t count, const char* const* names, const void* const* bytes,
                      const size_t* sizes, const resmem_open_options* options,
                      resmem_memory** memory) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    if (count < 0 || (count > 0 && (names == nullptr || bytes == nullptr || sizes == nullptr))) {
      return Invalid("the files' names, bytes or sizes are NULL");
    }
    RESMEM_ASSIGN_OR_RETURN(const resmem_open_options wanted,
                            ReadOptions(options, resmem_open_options_init));
    std::vector<MemoryFile> files;
    for (int64_t i = 0; i < count; ++i) {
      if (names[i] == nullptr || (bytes[i] == nullptr && sizes[i] > 0)) {
        return Invalid("file " + std::to_string(i) + ": its name or its bytes are NULL");
      }
      files.push_back({names[i], {static_cast<const std::byte*>(bytes[i]), sizes[i]}});
    }
    auto opened = std::make_unique<resmem_memory>();
    opened->ram.emplace();
    opened->path = opened->ram->path();
    opened->exact = wanted.exact != 0;
    RESMEM_RETURN_IF_ERROR(opened->ram->Fill(files));
    return Give(std::move(opened), wanted.skip_checksums == 0, memory);
  });
}

int resmem_get_info(resmem_memory* memory, resmem_info* info) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, info));
    const auto state = CurrentState(memory);
    const MemoryDescription& description = state->memory.description();
    if (info->size < sizeof(size_t)) return Invalid("set the size of the info before the call");
    resmem_info found{};
    found.size = info->size;
    found.rows = state->memory.rows();
    found.capacity = state->memory.capacity();
    found.dim = description.dim;
    found.outputs = description.outputs;
    found.segments = state->memory.segments();
    found.bytes = state->memory.bytes_on_disk();
    found.regression = description.task == Task::kRegression;
    found.in_ram = memory->ram.has_value();
    found.tuned = description.tuned;
    found.cross_fitted = description.cross_fitted;
    found.has_logits = description.form == ResidualForm::kLogits;
    found.has_sources = description.has_sources;
    const Parameters parameters = state->predictor.DefaultOptions().parameters;
    found.k = parameters.k;
    found.sigma = parameters.sigma;
    found.temperature = parameters.temperature;
    std::memcpy(info, &found, std::min(sizeof(found), info->size));
    return {};
  });
}

int resmem_describe(resmem_memory* memory, char** json) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, json));
    const auto state = CurrentState(memory);
    RunInfo run = DescribeCall("describe", *memory, *state);
    MemoryInfo info = *run.memory;
    RESMEM_ASSIGN_OR_RETURN(info.snapshots, ListSnapshots(memory->path, state->memory));
    return GiveText(MemoryJson(info, run), json);
  });
}

int resmem_classes(resmem_memory* memory, char** lines) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, lines));
    std::string text;
    for (const std::string& name : CurrentState(memory)->memory.description().class_names) {
      text += (text.empty() ? "" : "\n") + name;
    }
    return GiveText(text, lines);
  });
}

const char* resmem_path(const resmem_memory* memory) {
  return memory == nullptr ? "" : memory->path.c_str();
}

int resmem_append(resmem_memory* memory, const resmem_rows* rows, const resmem_watch* watch) {
  resmem_append_options options;
  resmem_append_options_init(&options);
  if (watch != nullptr) options.watch = *watch;
  return resmem_append_with(memory, rows, &options, nullptr);
}

void resmem_append_options_init(resmem_append_options* options) {
  *options = {};
  options->size = sizeof(*options);
}

int resmem_append_with(resmem_memory* memory, const resmem_rows* rows,
                       const resmem_append_options* options, int32_t* repeated) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    RESMEM_ASSIGN_OR_RETURN(const resmem_append_options wanted,
                            ReadOptions(options, resmem_append_options_init));
    RowsView view;
    RESMEM_RETURN_IF_ERROR(ReadRowsView(rows, &view, wanted.tags));
    Watch progress(&wanted.watch);
    AppendOptions appending;
    if (wanted.token != nullptr) appending.token = wanted.token;
    appending.tags = wanted.tags != nullptr;
    appending.change = {memory->wait_seconds, &progress};
    return Change(memory, [&]() -> Status {
      RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                              MemoryWriter::Append(memory->path, view.rows.count(), appending));
      if (repeated != nullptr) *repeated = writer.repeated() ? 1 : 0;
      return writer.repeated() ? Status() : WriteAll(view.rows, &writer, &progress);
    });
  });
}

int resmem_set_wait(resmem_memory* memory, double seconds) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    if (!(seconds >= 0)) return Invalid("the seconds to wait are negative or not a number");
    memory->wait_seconds = seconds;
    return {};
  });
}

int resmem_delete(resmem_memory* memory, const uint64_t* ids, int64_t count) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    if (count < 0 || (ids == nullptr && count > 0)) return Invalid("ids is NULL or negative");
    return Change(memory, [&] {
      return DeleteRows(memory->path, {ids, static_cast<size_t>(count)}, Waiting(memory));
    });
  });
}

int resmem_compact(resmem_memory* memory, int32_t freeze, const resmem_watch* watch) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    Watch progress(watch);
    return Change(memory, [&] {
      return CompactMemory(
          memory->path,
          {.freeze = freeze != 0, .progress = &progress, .wait_seconds = memory->wait_seconds});
    });
  });
}

int resmem_set_parameters(resmem_memory* memory, int64_t k, float sigma, float temperature) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    return Change(memory, [&] {
      MemoryDescription description = CurrentState(memory)->memory.description();
      description.parameters = {k, sigma, temperature};
      return UpdateDescription(memory->path, description, Waiting(memory));
    });
  });
}

int resmem_reload(resmem_memory* memory) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    const std::lock_guard<std::mutex> lock(memory->changing);
    return Load(memory, /*verify=*/true);
  });
}

int resmem_verify(resmem_memory* memory, const resmem_watch* watch) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    Watch progress(watch);
    return CurrentState(memory)->memory.Verify(&progress);
  });
}

void resmem_index_options_init(resmem_index_options* options) {
  *options = {};
  options->size = sizeof(*options);
  options->recall = IndexOptions().recall;
}

int resmem_index(resmem_memory* memory, const resmem_index_options* options) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    RESMEM_ASSIGN_OR_RETURN(const resmem_index_options wanted,
                            ReadOptions(options, resmem_index_options_init));
    Watch progress(&wanted.watch);
    IndexOptions index;
    index.recall = wanted.recall;
    if (wanted.code_bits != 0) index.code_bits = wanted.code_bits;
    RESMEM_ASSIGN_OR_RETURN(index.queries, View(wanted.queries, "queries"));
    index.seed = wanted.seed;
    index.threads = wanted.threads;
    index.progress = &progress;
    index.wait_seconds = memory->wait_seconds;
    return Change(memory, [&] { return IndexMemory(memory->path, index); });
  });
}

int resmem_remove_index(resmem_memory* memory) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckHandle(memory, memory));
    return Change(memory, [&] { return RemoveIndex(memory->path, Waiting(memory)); });
  });
}
