// Every method on tokens, with neighbors that were found before, counted by document.
//
// The answers are those of Evaluate(), which finds neighbors by itself.
#ifndef RESMEM_LAB_REPRODUCE_LM_TOKEN_EVALUATION_H_
#define RESMEM_LAB_REPRODUCE_LM_TOKEN_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "resmem/evaluation.h"
#include "resmem/lm/document_intervals.h"

namespace resmem {

struct TokenMethodResult {
  Method method = Method::kBase;
  float lambda = 0;  // kKnnLm
  int64_t right = 0;
  int64_t fixed = 0, harmed = 0;  // against the base
  // Mean -log of the label's probability, which counts as at least 2^-23: softmax(f), the
  // neighbors' labels, the mixture of both, ResMem's score by the memory's calibrator.  Perplexity
  // is its exp.
  double nll = 0;
  int64_t floored = 0;  // rows below 2^-23
  std::vector<int64_t> document_right = {};
};

struct TokenEvaluation {
  Parameters parameters;
  int64_t rows = 0;
  std::vector<int64_t> document_rows;      // of each document
  std::vector<TokenMethodResult> methods;  // base, then k-NN and kNN-LM if wanted, then ResMem

  const TokenMethodResult& base() const { return methods.front(); }
  const TokenMethodResult& resmem() const { return methods.back(); }
  // Of `method` against `other`: 95 %, by a bootstrap of documents.
  DocumentIntervals Intervals(const TokenMethodResult& method,
                              const TokenMethodResult& other) const;
};

struct TokenJudgeOptions {
  bool baselines = true;       // k-NN, and kNN-LM at each lambda
  std::vector<float> lambdas;  // 0 .. 1
  bool probabilities = true;  // ResMem's calibrated NLL, which takes most of the time; else it is 0
  int threads = 0;            // nothing depends on it
};

// One thread at a time; the predictor must outlive it.
class TokenJudge {
 public:
  // Errors: kInvalidArgument (parameters, lambdas, another T than the memory is frozen at).
  static Result<TokenJudge> Make(const Predictor& predictor, const Parameters& parameters,
                                 const TokenJudgeOptions& options);
  TokenJudge(TokenJudge&&) noexcept;
  ~TokenJudge();

  // The next rows with labels, logits and slices, the document of each; rows of one document come
  // together.  `neighbors`: at least k per row, or all there are.
  // Errors: kBadData (labels, logits that are not finite, shapes).
  Status Add(const Rows& rows, const Neighbors& neighbors);
  TokenEvaluation Finish() const;

 private:
  struct State;
  explicit TokenJudge(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_REPRODUCE_LM_TOKEN_EVALUATION_H_
