// The part of ONNX Runtime's C interface that we call, declared by ourselves: the library that
// users have comes without its header.  docs/decisions/onnxruntime_by_table.md says why this
// holds and what would break it.
//
// The interface is one exported function, OrtGetApiBase(), behind which lies a table of function
// pointers.  The table only ever grows at its end, so a function keeps its slot for ever.
#ifndef RESMEM_ONNX_RUNTIME_ONNXRUNTIME_API_H_
#define RESMEM_ONNX_RUNTIME_ONNXRUNTIME_API_H_

#include <cstddef>
#include <cstdint>

namespace resmem::ort {

// Never seen from inside.
struct Env;
struct Error;  // OrtStatus: null is success
struct MemoryInfo;
struct Session;
struct SessionOptions;
struct Value;
struct TensorInfo;  // OrtTensorTypeAndShapeInfo

inline constexpr char kEntryPoint[] = "OrtGetApiBase";
// The first version whose table holds every slot below; ONNX Runtime 1.17, January 2024.
inline constexpr uint32_t kApiVersion = 17;

struct ApiBase {
  const void* const* (*GetApi)(uint32_t version);  // null where the library is older
  const char* (*GetVersionString)();
};
using GetApiBase = const ApiBase* (*)();

inline constexpr int kFatal = 4;  // OrtLoggingLevel: nothing is printed below it
inline constexpr int kFail = 1;   // OrtErrorCode
inline constexpr int kFloat = 1;  // ONNXTensorElementDataType
inline constexpr int kInt32 = 6, kInt64 = 7, kBool = 9, kFloat16 = 10, kBfloat16 = 16;
inline constexpr int kDeviceAllocator = 0;  // OrtAllocatorType
inline constexpr int kDefaultMemory = 0;    // OrtMemType

// Slot and signature of each function, under its own name.
template <size_t kSlotNumber, typename Signature>
struct Slot {
  static constexpr size_t kNumber = kSlotNumber;
  using Function = Signature*;
};
using CreateStatus = Slot<0, Error*(int code, const char* message)>;
using GetErrorCode = Slot<1, int(const Error*)>;
using GetErrorMessage = Slot<2, const char*(const Error*)>;
using CreateEnv = Slot<3, Error*(int severity, const char* log_id, Env**)>;
using CreateSessionFromArray =
    Slot<8, Error*(const Env*, const void* model, size_t bytes, const SessionOptions*, Session**)>;
using Run = Slot<9, Error*(Session*, const void* run_options, const char* const* input_names,
                           const Value* const* inputs, size_t input_count,
                           const char* const* output_names, size_t output_count, Value** outputs)>;
using CreateSessionOptions = Slot<10, Error*(SessionOptions**)>;
using SetIntraOpNumThreads = Slot<24, Error*(SessionOptions*, int)>;
using SetInterOpNumThreads = Slot<25, Error*(SessionOptions*, int)>;
using CreateTensorWithDataAsOrtValue =
    Slot<49, Error*(const MemoryInfo*, void* data, size_t bytes, const int64_t* shape,
                    size_t dimensions, int element_type, Value**)>;
using IsTensor = Slot<50, Error*(const Value*, int*)>;
using GetTensorMutableData = Slot<51, Error*(Value*, void**)>;
using GetTensorElementType = Slot<60, Error*(const TensorInfo*, int*)>;
using GetDimensionsCount = Slot<61, Error*(const TensorInfo*, size_t*)>;
using GetDimensions = Slot<62, Error*(const TensorInfo*, int64_t*, size_t)>;
using GetTensorTypeAndShape = Slot<65, Error*(const Value*, TensorInfo**)>;
using CreateCpuMemoryInfo = Slot<69, Error*(int allocator, int memory, MemoryInfo**)>;
using ReleaseStatus = Slot<93, void(Error*)>;
using ReleaseSession = Slot<95, void(Session*)>;
using ReleaseValue = Slot<96, void(Value*)>;
using ReleaseTensorTypeAndShapeInfo = Slot<99, void(TensorInfo*)>;
using ReleaseSessionOptions = Slot<100, void(SessionOptions*)>;
using SetDeterministicCompute = Slot<273, Error*(SessionOptions*, bool)>;

}  // namespace resmem::ort

#endif  // RESMEM_ONNX_RUNTIME_ONNXRUNTIME_API_H_
