#include <algorithm>

#include "reproduce/imagenet/experiments.h"
#include "reproduce/imagenet/last_layer.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

const Reduction kAsTheyAre{"none", 0, false};
constexpr int64_t kParts = 5;  // of the judged photos, where the others are the memory

Json ListOf(std::span<const Answers> all) {
  Json list = Json::array();
  for (const Answers& answers : all) list.push_back(ToJson(answers));
  return list;
}

// The photos of a class in turn, so that every part has as many of each.
std::vector<std::vector<int64_t>> PartsByClass(const Embedded& rows) {
  std::vector<int64_t> seen(static_cast<size_t>(rows.classes));
  std::vector<std::vector<int64_t>> parts(kParts);
  for (int64_t row = 0; row < rows.count(); ++row) {
    const auto label = static_cast<size_t>(rows.labels[static_cast<size_t>(row)]);
    parts[static_cast<size_t>(seen[label]++ % kParts)].push_back(row);
  }
  return parts;
}

// Every part of the rows answered by a memory of the others, which also choose.
Result<Json> JudgeByTheOthers(Workspace& workspace, const Network& network, const Embedded& rows) {
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint fingerprint, workspace.FingerprintOf(network));
  const std::vector<std::vector<int64_t>> parts = PartsByClass(rows);
  std::vector<Answers> all;
  Json chosen = Json::array();
  for (size_t part = 0; part < parts.size(); ++part) {
    std::vector<int64_t> others;
    for (size_t other = 0; other < parts.size(); ++other) {
      if (other != part) others.insert(others.end(), parts[other].begin(), parts[other].end());
    }
    std::sort(others.begin(), others.end());
    if (parts[part].empty() || others.empty()) {
      return Status(ErrorCode::kBadData, "a class needs two judged photos at least");
    }
    RESMEM_ASSIGN_OR_RETURN(const TunedAnswers tuned,
                            TunedAnswers::Make(workspace, network.name + "-others", fingerprint,
                                               rows.Take(others), nullptr));
    RESMEM_ASSIGN_OR_RETURN(const std::vector<Answers> answers,
                            tuned.Answer(rows.Take(parts[part])));
    chosen.push_back(tuned.Chosen());
    if (all.empty()) {
      all = answers;
      for (Answers& one : all) one.chosen = Json::object();
    } else {
      for (size_t i = 0; i < all.size(); ++i) all[i].Append(answers[i]);
    }
  }
  return Json{{"methods", ListOf(all)},
              {"pairs", {PairOf(all[1], all[0]), PairOf(all[2], all[0]), PairOf(all[3], all[0])}},
              {"chosen", std::move(chosen)}};
}

}  // namespace

Result<Json> JudgeTable(Workspace& workspace, const Network& network) {
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint fingerprint, workspace.FingerprintOf(network));
  RESMEM_ASSIGN_OR_RETURN(const Embedded rows, workspace.Arrays(network, "memory", kAsTheyAre));
  RESMEM_ASSIGN_OR_RETURN(const Embedded held_out, workspace.Arrays(network, "tune", kAsTheyAre));
  const PaperLine* const paper = FindPaperLine(network.name);
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory raw,
      OpenMemoryOf(workspace.Path("memories", network.name), fingerprint, rows));
  RESMEM_ASSIGN_OR_RETURN(
      const TunedAnswers tuned,
      TunedAnswers::Make(workspace, network.name + "-tuned", fingerprint, rows, &held_out));
  Json reductions = Json::array();
  const auto judge = [&](const Embedded& judged, const Json& header) -> Status {
    RESMEM_ASSIGN_OR_RETURN(std::vector<Answers> all, tuned.Answer(judged));
    if (paper != nullptr) {
      RESMEM_ASSIGN_OR_RETURN(Answers at_paper, AnswerAt(workspace, raw, paper->parameters, judged,
                                                         "ResMem, the paper's values"));
      all.push_back(std::move(at_paper));
    }
    Json pairs = Json::array();
    for (size_t i = 1; i < all.size(); ++i) pairs.push_back(PairOf(all[i], all[0]));
    Json one = header;
    one["methods"] = ListOf(all);
    one["pairs"] = std::move(pairs);
    reductions.push_back(std::move(one));
    return {};
  };
  for (const Reduction& reduction : workspace.reductions()) {
    RESMEM_ASSIGN_OR_RETURN(const Embedded judged, workspace.Arrays(network, "judge", reduction));
    RESMEM_RETURN_IF_ERROR(
        judge(judged, {{"reduction", reduction.name}, {"side", reduction.side}}));
  }
  RESMEM_RETURN_IF_ERROR(judge(held_out, {{"reduction", "tune"}, {"side", 0}}));
  return Json{{"network", network.name},
              {"model", fingerprint.digest},
              {"classes", rows.classes},
              {"memory_rows", rows.count()},
              {"memory_bytes", rows.count() * (rows.dim + rows.classes) * int64_t{sizeof(float)}},
              {"tune_rows", held_out.count()},
              {"judged_rows", workspace.judge().size()},
              {"chosen", tuned.Chosen()},
              {"reductions", std::move(reductions)}};
}

Result<Json> JudgeControls(Workspace& workspace, const Network& network) {
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint fingerprint, workspace.FingerprintOf(network));
  RESMEM_ASSIGN_OR_RETURN(const Embedded rows, workspace.Arrays(network, "memory", kAsTheyAre));
  RESMEM_ASSIGN_OR_RETURN(const Embedded held_out, workspace.Arrays(network, "tune", kAsTheyAre));
  LastLayerOptions options;
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  RESMEM_ASSIGN_OR_RETURN(const LastLayer layer, FitLastLayer(rows, held_out, options));
  const Embedded fitted_rows = layer.Apply(rows, workspace.threads());
  const Embedded fitted_held_out = layer.Apply(held_out, workspace.threads());
  RESMEM_ASSIGN_OR_RETURN(
      const TunedAnswers plain,
      TunedAnswers::Make(workspace, network.name + "-plain", fingerprint, rows, &held_out));
  RESMEM_ASSIGN_OR_RETURN(const TunedAnswers over,
                          TunedAnswers::Make(workspace, network.name + "-fitted", fingerprint,
                                             fitted_rows, &fitted_held_out));
  Json reductions = Json::array();
  for (const Reduction& reduction : workspace.reductions()) {
    RESMEM_ASSIGN_OR_RETURN(const Embedded judged, workspace.Arrays(network, "judge", reduction));
    RESMEM_ASSIGN_OR_RETURN(std::vector<Answers> all, plain.Answer(judged));
    RESMEM_ASSIGN_OR_RETURN(const std::vector<Answers> fitted,
                            over.Answer(layer.Apply(judged, workspace.threads()), "last layer, "));
    const Answers& base = all[0];
    // The layer, ResMem and the blend over it, and the memory over the network as it is.
    Json pairs = {PairOf(fitted[0], base), PairOf(fitted[2], fitted[0]),
                  PairOf(fitted[3], fitted[0]), PairOf(all[2], fitted[0]),
                  PairOf(all[3], fitted[0])};
    all.insert(all.end(), fitted.begin(), fitted.end());
    RESMEM_ASSIGN_OR_RETURN(Json others, JudgeByTheOthers(workspace, network, judged));
    reductions.push_back({{"reduction", reduction.name},
                          {"side", reduction.side},
                          {"methods", ListOf(all)},
                          {"pairs", std::move(pairs)},
                          {"by_the_others", std::move(others)}});
  }
  return Json{{"network", network.name},
              {"layer", layer.chosen},
              {"chosen", over.Chosen()},
              {"reductions", std::move(reductions)}};
}

}  // namespace resmem::cli::reproduce::imagenet
