#include <cstdlib>

#include "onnx/runtime/runtime.h"
#include "onnx/runtime/runtime_places.h"
#include "resmem/models/runtime.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

// The first of the usual folders that holds a library is the one that is used, or refused.
std::vector<RuntimePlace> LookIntoFolders(const RuntimeUse& use) {
  std::vector<RuntimePlace> places;
  bool decided = false;
  for (const std::string& folder : RuntimeFolders()) {
    for (const char* name : {"libonnxruntime.so.1", "libonnxruntime.so"}) {
      const std::string path = Text(folder, "/", name);
      if (FileSystem::Posix().Exists(path)) {
        const char* finding = use.path == path ? "used" : "refused";
        places.push_back({path, decided ? "there, but a place above comes first" : finding});
        decided = true;
        break;
      }
      if (name == std::string("libonnxruntime.so")) places.push_back({folder, "not there"});
    }
  }
  return places;
}

}  // namespace

RuntimeUse DescribeRuntime(const std::string& library) {
  RuntimeUse use;
  const char* variable = std::getenv(kRuntimeVariable);
  const bool by_variable = library.empty() && variable != nullptr && *variable != '\0';
  const auto runtime = Runtime::Load(library);
  if (runtime.ok()) {
    use.path = (*runtime)->path();
    use.version = (*runtime)->version();
    use.reason = !library.empty() ? "--onnxruntime names it"
                 : by_variable    ? Text(kRuntimeVariable, " names it")
                                  : "the first that was found";
  } else {
    use.reason = runtime.status().message();
    use.error = runtime.status().code();
  }
  if (library.empty() && !by_variable) {
    use.places = LookIntoFolders(use);
  } else {
    use.places = {{by_variable ? variable : library, runtime.ok() ? "used" : "refused"}};
  }
  return use;
}

std::string PinnedRuntimeVersion() {
  return kPinnedRuntime;
}

std::string UserRuntimeFolder() {
  return CacheFolder();
}

std::string SystemRuntimeFolder() {
  return kSystemRuntimeFolder;
}

}  // namespace resmem
