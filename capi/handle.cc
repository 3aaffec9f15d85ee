#include "capi/handle.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "resmem/head_check.h"

namespace resmem::capi {
namespace {

constexpr char kNoMemory[] = "out of memory";
// Kept as they are, since there may be no memory for a copy.
constexpr const char* kLiterals[] = {kNoMemory, kGiveFewerRows, kNotOpenedAgain};

// Not a thread_local string: the C library ends the process if it cannot note its destructor.
class ErrorOfThread {
 public:
  const char* Get() const {
    const auto* text = made_ ? static_cast<const char*>(pthread_getspecific(key_)) : nullptr;
    return text == nullptr ? "" : text;
  }
  void Set(const char* text) const {
    if (!made_) return;
    void* const old = pthread_getspecific(key_);
    const char* kept = IsLiteral(text) ? text : strdup(text);
    if (kept == nullptr) kept = kNoMemory;
    Free(pthread_setspecific(key_, kept) == 0 ? old : const_cast<char*>(kept));
  }

 private:
  static bool IsLiteral(const void* text) {
    return std::find(std::begin(kLiterals), std::end(kLiterals), text) != std::end(kLiterals);
  }
  static void Free(void* text) {
    if (!IsLiteral(text)) std::free(text);
  }

  pthread_key_t key_{};
  const bool made_ = pthread_key_create(&key_, Free) == 0;
};

const ErrorOfThread& LastErrorOfThread() {
  static const ErrorOfThread error;
  return error;
}

}  // namespace

const char* LastError() noexcept {
  return LastErrorOfThread().Get();
}

int Report(ErrorCode code, const char* text) noexcept {
  if (code != ErrorCode::kOk) LastErrorOfThread().Set(text);
  return static_cast<int>(code);
}

Status Invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

std::shared_ptr<const State> CurrentState(resmem_memory* memory) {
  const std::lock_guard<std::mutex> lock(memory->mutex);
  return memory->state;
}

Status Load(resmem_memory* memory, bool verify) {
  if (memory->is_part) return Invalid(kIsPart);
  RESMEM_ASSIGN_OR_RETURN(
      ResidualMemory opened,
      ResidualMemory::Open(memory->path, {.verify_blocks = verify, .exact = memory->exact}));
  auto state = std::make_shared<const State>(std::move(opened));
  const std::lock_guard<std::mutex> lock(memory->mutex);
  memory->state.swap(state);  // the old one is freed by its last reader
  return {};
}

Status GiveText(const std::string& text, char** out) {
  if (out == nullptr) return {};
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return {};
}

Result<MatrixView> View(const resmem_matrix& matrix, const char* name) {
  const auto wrong = [&](const std::string& what) {
    return Invalid(std::string(name) + ": " + what);
  };
  if (matrix.rows < 0 || matrix.columns < 0) {
    return wrong("the shape " + std::to_string(matrix.rows) + " x " +
                 std::to_string(matrix.columns) + " is negative");
  }
  constexpr int64_t kMostFloats = INT64_MAX / 8;
  if (matrix.stride < matrix.columns && matrix.rows > 1) {
    return wrong("a stride of " + std::to_string(matrix.stride) + " floats is less than the " +
                 std::to_string(matrix.columns) + " columns");
  }
  const int64_t stride = std::max(matrix.stride, matrix.columns);
  if (stride > 0 && matrix.rows > kMostFloats / stride) return wrong("is larger than any memory");
  if (matrix.data == nullptr && matrix.rows > 0 && matrix.columns > 0) {
    return wrong("the pointer is NULL, but there are " + std::to_string(matrix.rows) + " rows");
  }
  MatrixView view(matrix.data, matrix.rows, matrix.columns);
  view.stride = stride;
  return view;
}

namespace {

Status ReadTexts(const char* const* given, size_t rows, const char* name,
                 std::vector<std::string>* texts) {
  if (given == nullptr) return {};
  for (size_t i = 0; i < rows; ++i) {
    if (given[i] == nullptr) {
      return Invalid(std::string(name) + "[" + std::to_string(i) + "] is NULL");
    }
    texts->emplace_back(given[i]);
  }
  return {};
}

}  // namespace

Status ReadRowsView(const resmem_rows* given, RowsView* view, const char* const* tags) {
  if (given == nullptr) return Invalid("rows is NULL");
  Rows& rows = view->rows;
  RESMEM_ASSIGN_OR_RETURN(rows.keys, View(given->keys, "keys"));
  RESMEM_ASSIGN_OR_RETURN(rows.logits, View(given->logits, "logits"));
  RESMEM_ASSIGN_OR_RETURN(rows.targets, View(given->targets, "targets"));
  for (const auto& [matrix, name] :
       {std::pair{&rows.logits, "logits"}, {&rows.targets, "targets"}}) {
    if (matrix->rows == rows.keys.rows || (matrix->rows == 0 && matrix->columns == 0)) continue;
    return {ErrorCode::kBadData, std::string(name) + ": has " + std::to_string(matrix->rows) +
                                     " rows where keys has " + std::to_string(rows.keys.rows)};
  }
  const auto count = static_cast<size_t>(rows.keys.rows);
  if (given->labels != nullptr) rows.labels = {given->labels, count};
  if (given->ids != nullptr) rows.ids = {given->ids, count};
  RESMEM_RETURN_IF_ERROR(ReadTexts(given->sources, count, "sources", &view->sources));
  RESMEM_RETURN_IF_ERROR(ReadTexts(given->slices, count, "slices", &view->slices));
  rows.sources = view->sources;
  rows.slices = view->slices;
  RESMEM_RETURN_IF_ERROR(ReadTexts(tags, count, "tags", &view->tags));
  rows.tags = view->tags;
  if (given->roles == nullptr) return {};
  for (size_t i = 0; i < count; ++i) {
    if (given->roles[i] < RESMEM_UNMARKED || given->roles[i] > RESMEM_TEST) {
      return {ErrorCode::kBadData, "roles[" + std::to_string(i) + "] is " +
                                       std::to_string(given->roles[i]) +
                                       "; 0 unmarked, 1 train, 2 validation or 3 test are"};
    }
    view->roles.push_back(static_cast<Role>(given->roles[i]));
  }
  rows.roles = view->roles;
  return {};
}

Result<PredictOptions> ReadPredictOptions(const State& state, const resmem_predict_options* given) {
  RESMEM_ASSIGN_OR_RETURN(const resmem_predict_options wanted,
                          ReadOptions(given, resmem_predict_options_init));
  PredictOptions options = state.predictor.DefaultOptions();
  if (wanted.method != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(const Method method,
                            FindByName<Method>(wanted.method, "method", MethodName));
    options = state.predictor.OptionsOf(method);
    // What the base says without us.
    if (options.method == Method::kBase) options.parameters.temperature = 1;
  }
  if (wanted.k >= 0) options.parameters.k = wanted.k;
  if (wanted.sigma != 0) options.parameters.sigma = wanted.sigma;
  if (wanted.temperature != 0) options.parameters.temperature = wanted.temperature;
  options.lambda = wanted.lambda;
  options.threads = wanted.threads;
  options.unknown_rate = wanted.unknown_rate;
  RESMEM_RETURN_IF_ERROR(CheckParameters(options.parameters));
  RESMEM_RETURN_IF_ERROR(CheckUnknownRate(options.unknown_rate));
  return options;
}

Status CheckModel(const resmem_memory& memory, const State& state, const Rows& rows) {
  // Shapes that do not fit are told of by the call itself.
  const MemoryDescription& description = state.memory.description();
  if (rows.keys.columns != description.dim || rows.logits.columns != description.outputs ||
      rows.logits.rows != rows.keys.rows || rows.count() == 0) {
    return {};
  }
  if (!CheckHead(state.memory, rows.keys, rows.logits).another_model()) return {};
  return {ErrorCode::kMismatch,
          "these logits do not follow from these keys as they do in " + memory.path +
              ": another model made them, or keys and logits are not in the same order; give "
              "arrays of the memory's model, or any_model if you are sure"};
}

RunInfo DescribeCall(const char* call, const resmem_memory& memory, const State& state) {
  RunInfo run = DescribeRun({"libresmem_c", call});
  run.memory = DescribeMemory(memory.path, state.memory);
  return run;
}

}  // namespace resmem::capi
