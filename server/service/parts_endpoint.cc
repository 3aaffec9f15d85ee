// What a gateway asks a shard: the nearest rows, and all that is stored of them.
#include "service/endpoints.h"
#include "service/query_rows.h"
#include "shards/parts.h"

namespace resmem::serve {

Response AnswerParts(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const Result<PartsQuestion> question = ReadPartsQuestion(call.request.body);
  if (!question.ok()) return ErrorResponse(question.status());
  const MemoryState& state = *found.state;
  const int64_t most_rows = context.limits.rows, most_k = context.limits.k;
  if (question->dim != state.description().dim || question->queries > most_rows ||
      question->k > most_k) {
    return ErrorResponse(400, "the question has " + std::to_string(question->queries) +
                                  " keys of " + std::to_string(question->dim) + " columns and k " +
                                  std::to_string(question->k) + "; this memory wants keys of " +
                                  std::to_string(state.description().dim) + " columns, at most " +
                                  std::to_string(most_rows) + " (--max-rows), k at most " +
                                  std::to_string(most_k) + " (--max-k)");
  }
  Result<std::string> answer = MakePartsAnswer(state.memory, *question, context.limits.threads);
  if (!answer.ok()) return ErrorResponse(answer.status());
  const Status damage = state.memory.damage();
  if (!damage.ok()) return ErrorResponse(damage);
  Response response;
  response.type = "application/octet-stream";
  response.body = std::move(*answer);
  return response;
}

Response AnswerHeldRows(Context& context, const Call& call) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return failure;
  const Result<std::string> answer = AnswerHeld(*found.state, body);
  return answer.ok() ? JsonResponse(*answer) : ErrorResponse(answer.status());
}

}  // namespace resmem::serve
