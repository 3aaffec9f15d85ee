// The functions behind the routes; routes.cc is the table.
#ifndef RESMEM_SERVER_SERVICE_ENDPOINTS_H_
#define RESMEM_SERVER_SERVICE_ENDPOINTS_H_

#include "service/context.h"

namespace resmem::serve {

// standard_endpoints.cc
Response Live(Context& context, const Call& call);
Response Ready(Context& context, const Call& call);
Response ServerMetadata(Context& context, const Call& call);
Response ModelMetadata(Context& context, const Call& call);
Response ModelReady(Context& context, const Call& call);
Response RepositoryIndex(Context& context, const Call& call);
Response RepositoryLoad(Context& context, const Call& call);
Response RepositoryUnload(Context& context, const Call& call);
Response Reload(Context& context, const Call& call);
Response OpenApi(Context& context, const Call& call);
Response PageAsset(Context& context, const Call& call);

// metrics_endpoint.cc
Response Metrics(Context& context, const Call& call);

// memory_endpoints.cc
Response ListMemories(Context& context, const Call& call);
Response ExplainOne(Context& context, const Call& call);
Response FindNeighborRows(Context& context, const Call& call);
Response Doctor(Context& context, const Call& call);
Response TuneMemory(Context& context, const Call& call);

// parts_endpoint.cc
Response AnswerParts(Context& context, const Call& call);
Response AnswerHeldRows(Context& context, const Call& call);

// text_endpoints.cc
Response ReadTokens(Context& context, const Call& call);

// look_endpoints.cc
Response ShowRows(Context& context, const Call& call);
Response ImageOfRow(Context& context, const Call& call);
Response ListQueries(Context& context, const Call& call);
Response ShowQuery(Context& context, const Call& call);
Response MapOfRows(Context& context, const Call& call);
Response ReviewMemory(Context& context, const Call& call);

// edit_endpoints.cc
void Learn(Context& context, Call call);
void Correct(Context& context, Call call);
void Forget(Context& context, Call call);
void RelabelRows(Context& context, Call call);
void Undo(Context& context, Call call);
Response PreviewChange(Context& context, const Call& call);
Response History(Context& context, const Call& call);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SERVICE_ENDPOINTS_H_
