// The body that our own endpoints share: rows as arrays or by reference, and how to answer.
#ifndef RESMEM_SERVER_SERVICE_QUERY_ROWS_H_
#define RESMEM_SERVER_SERVICE_QUERY_ROWS_H_

#include "memories/row_set.h"
#include "service/context.h"

namespace resmem::serve {

struct Asking {
  Found found;
  JsonValue body;
  RowSet rows;
  PredictOptions options;  // by "k", "sigma", "temperature", "method" of the body
                           // (and `found` has only the rows of "where")
  bool apply = true;       // "apply": false makes no change
};
// Rows are {"keys", "logits", ...}; {"text": ...} or {"image": base64 of a file}, which the
// memory's model reads; or {"request": ID, "row": N}: a query that was answered lately.
bool ReadAsking(Context& context, const Call& call, bool labelled, Asking* asking,
                Response* failure);

// The memory and the body, an object; "" counts as {}.
bool ReadBody(Context& context, const Call& call, Found* found, JsonValue* body, Response* failure);
// The rows of the body.
Result<RowSet> ReadBodyRows(const Found& found, const JsonValue& body, bool labelled,
                            int64_t most_rows);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SERVICE_QUERY_ROWS_H_
