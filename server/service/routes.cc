// Every address that is answered.  openapi.json documents them; a test compares the two.
#include "service/endpoints.h"

namespace resmem::serve {

std::span<const Route> Routes() {
  using enum Permission;
  using enum Lane;
  static constexpr Route kRoutes[] = {
      {"GET", "/v2/health/live", kNone, kInline, Live},
      {"GET", "/v2/health/ready", kNone, kInline, Ready},
      {"GET", "/v2", kAnswer, kInline, ServerMetadata},
      {"GET", "/v2/models/{}", kAnswer, kInline, ModelMetadata},
      {"GET", "/v2/models/{}/versions/1", kAnswer, kInline, ModelMetadata},
      {"GET", "/v2/models/{}/ready", kAnswer, kInline, ModelReady},
      {"GET", "/v2/models/{}/versions/1/ready", kAnswer, kInline, ModelReady},
      {"POST", "/v2/models/{}/infer", kAnswer, kBatch},
      {"POST", "/v2/models/{}/versions/1/infer", kAnswer, kBatch},
      {"POST", "/v2/repository/index", kPredict, kInline, RepositoryIndex},
      {"POST", "/v2/repository/models/{}/load", kAdmin, kReload, RepositoryLoad},
      {"POST", "/v2/repository/models/{}/unload", kAdmin, kReload, RepositoryUnload},
      {"GET", "/v1/memories", kPredict, kInline, ListMemories},
      {"POST", "/v1/memories/{}/explain", kPredict, kQuick, ExplainOne},
      {"POST", "/v1/memories/{}/neighbors", kPredict, kQuick, FindNeighborRows},
      {"POST", "/v1/memories/{}/parts", kPredict, kQuick, AnswerParts},
      {"POST", "/v1/memories/{}/held", kPredict, kQuick, AnswerHeldRows},
      {"POST", "/v1/memories/{}/tokens", kPredict, kQuick, ReadTokens},
      {"GET", "/v1/memories/{}/rows", kTeach, kQuick, ShowRows},
      {"GET", "/v1/memories/{}/rows/{}/image", kPredict, kQuick, ImageOfRow},
      {"GET", "/v1/memories/{}/queries", kTeach, kQuick, ListQueries},
      {"GET", "/v1/memories/{}/queries/{}", kPredict, kInline, ShowQuery},
      {"GET", "/v1/memories/{}/map", kTeach, kSlow, MapOfRows},
      {"GET", "/v1/memories/{}/review", kTeach, kSlow, ReviewMemory},
      {"POST", "/v1/memories/{}/learn", kTeach, kQuick, nullptr, Learn},
      {"POST", "/v1/memories/{}/correct", kTeach, kQuick, nullptr, Correct},
      {"POST", "/v1/memories/{}/forget", kTeach, kQuick, nullptr, Forget},
      {"POST", "/v1/memories/{}/relabel", kTeach, kQuick, nullptr, RelabelRows},
      {"POST", "/v1/memories/{}/undo", kTeach, kQuick, nullptr, Undo},
      {"POST", "/v1/memories/{}/preview", kTeach, kQuick, PreviewChange},
      {"GET", "/v1/memories/{}/history", kTeach, kInline, History},
      {"POST", "/v1/memories/{}/doctor", kTeach, kSlow, Doctor},
      {"POST", "/v1/memories/{}/tune", kAdmin, kTuning, TuneMemory},
      {"POST", "/v1/admin/reload", kAdmin, kReload, Reload},
      {"GET", "/metrics", kPredict, kInline, Metrics},
      {"GET", "/openapi.json", kNone, kInline, OpenApi},
      {"GET", "/", kNone, kInline, PageAsset},
      {"GET", "/page/{}", kNone, kInline, PageAsset},
  };
  return kRoutes;
}

}  // namespace resmem::serve
