// Libraries that are not the ONNX Runtime we need, for runtime_test.cc: built once as one that is
// too old, and once as one whose table holds other functions.
#include <cstdint>
#include <cstdlib>

namespace {

[[gnu::constructor]] void TellThatCodeRan() {
  setenv("RESMEM_FAKE_WAS_LOADED", "1", 1);
}

int Nothing() {
  return 0;
}

#ifdef RESMEM_FAKE_OLD
const void* const* GetApi(uint32_t) {
  return nullptr;
}
#else
const void* const* GetApi(uint32_t) {
  static const void* table[300];
  for (const void*& slot : table) {
    slot = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(&Nothing));
  }
  return table;
}
#endif

const char* GetVersionString() {
  return "1.2.3";
}

struct Base {
  const void* const* (*get_api)(uint32_t);
  const char* (*get_version)();
};
constexpr Base kBase = {&GetApi, &GetVersionString};

}  // namespace

extern "C" const void* OrtGetApiBase() {
  return &kBase;
}
