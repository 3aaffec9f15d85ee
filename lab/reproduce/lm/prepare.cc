// Steps that make what the others measure: tokens, the language model, its memory and the index.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "console/interrupt.h"
#include "recipe/run_folder.h"
#include "reproduce/lm/experiments.h"
#include "resmem/lm/encode_text.h"
#include "resmem/lm/token_memory.h"

namespace resmem::cli::reproduce::lm {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kQuickDocuments = 40;  // of the training text

// The first documents only; EncodeText() takes all.
Status EncodeFirst(TextSource* source, const Tokenizer& tokenizer, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(
      TokenSetWriter writer,
      TokenSetWriter::Create(path, tokenizer.size(), tokenizer.end_id().value_or(0)));
  TextDocument document;
  std::vector<int32_t> ids;
  while (writer.documents() < kQuickDocuments) {
    RESMEM_ASSIGN_OR_RETURN(const bool more, source->Next(&document));
    if (!more) break;
    ids.clear();
    RESMEM_RETURN_IF_ERROR(tokenizer.Encode(document.text, &ids));
    if (!ids.empty()) RESMEM_RETURN_IF_ERROR(writer.Add(ids, document.title));
  }
  return writer.Finish(tokenizer.fingerprint(), source->counts());
}

int64_t FileBytes(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

// Lines of a run's log; those that are not JSON objects are left out.
Json ReadLog(const std::string& path) {
  Json log = Json::array();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object()) log.push_back(std::move(json));
  }
  return log;
}

// How many documents, from the first, two sets have in common.
int64_t CommonDocuments(const TokenSet& a, const TokenSet& b) {
  int64_t common = 0;
  std::vector<int32_t> left, right;
  for (; common < std::min(a.documents(), b.documents()); ++common) {
    const TokenRange first = a.document(common), second = b.document(common);
    if (first.size() != second.size()) break;
    left.resize(static_cast<size_t>(first.size()));
    right.resize(left.size());
    a.Read(first.begin, left);
    b.Read(second.begin, right);
    if (left != right) break;
  }
  return common;
}

// What a run learned from, which may be another part of the text than ours.  Its token set is where
// the recipe says, or beside the run's folder; null where it is not there.
Result<Json> Learned(const Workspace& workspace, const LmRecipe& recipe) {
  for (const fs::path& path : {fs::path(recipe.tokens), fs::path(workspace.run()) / ".." /
                                                            fs::path(recipe.tokens).filename()}) {
    if (!fs::exists(path)) continue;
    RESMEM_ASSIGN_OR_RETURN(const TokenSet learned, TokenSet::Open(path));
    RESMEM_ASSIGN_OR_RETURN(const TokenSet ours, TokenSet::Open(workspace.tokens("train")));
    return Json{{"tokens", learned.size()},
                {"documents", learned.documents()},
                {"fingerprint", learned.fingerprint()},
                {"common_documents", CommonDocuments(learned, ours)}};
  }
  return Json();
}

Status Train(const Workspace& workspace) {
  const LmRecipe recipe = workspace.Recipe();
  const std::string file = workspace.run() + "/recipe.json";
  if (fs::exists(file)) {
    RESMEM_ASSIGN_OR_RETURN(const LmRecipe found, ReadLmRecipe(file));
    const std::string difference = LmRecipeDifference(found, recipe);
    if (!difference.empty()) {
      return HoldsAnotherRun(workspace.run(), difference, "move it away, or give another --work");
    }
  } else {
    RESMEM_RETURN_IF_ERROR(MakeRunFolder(workspace.run()));
    RESMEM_RETURN_IF_ERROR(WriteLmRecipe(file, recipe));
  }
  Console& console = workspace.console();
  LmObserver observer;
  observer.note = [&](const std::string& note) { console.Note(note); };
  observer.step = [&](int64_t step, int64_t steps, double, double) {
    console.progress()->Report("learning", step, steps);
    return InterruptSignal() == 0;
  };
  observer.report = [](const LmReport&) {};
  return TrainLanguageModel(workspace.run(), observer);
}

}  // namespace

Result<Json> EncodeTexts(const Context& context) {
  const Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(workspace.tokenizer()));
  Json sets = Json::object();
  for (const TextSet& set : workspace.sets()) {
    const std::string path = workspace.tokens(set.name);
    const double begin = workspace.console().SecondsSinceStart();
    RESMEM_ASSIGN_OR_RETURN(TextSource source, TextSource::Open({set.file}));
    if (workspace.options().quick && set.name == "train") {
      RESMEM_RETURN_IF_ERROR(EncodeFirst(&source, tokenizer, path));
    } else {
      EncodeOptions options;
      options.threads = workspace.threads();
      options.progress = workspace.console().progress();
      RESMEM_RETURN_IF_ERROR(EncodeText(&source, tokenizer, path, options).status());
    }
    RESMEM_ASSIGN_OR_RETURN(const TokenSet tokens, TokenSet::Open(path));
    sets[set.name] = {{"title", set.title},
                      {"in_domain", set.in_domain},
                      {"text_bytes", tokens.description().text.bytes},
                      {"documents", tokens.documents()},
                      {"tokens", tokens.size()},
                      {"bytes", FileBytes(path)},
                      {"fingerprint", tokens.fingerprint()},
                      {"seconds", workspace.console().SecondsSinceStart() - begin}};
  }
  return Json{{"tokenizer", tokenizer.fingerprint()},
              {"vocabulary", tokenizer.size()},
              {"sets", std::move(sets)}};
}

Result<Json> TrainModel(const Context& context) {
  const Workspace& workspace = context.workspace;
  if (workspace.trains()) RESMEM_RETURN_IF_ERROR(Train(workspace));
  RESMEM_ASSIGN_OR_RETURN(const LmRecipe recipe, ReadLmRecipe(workspace.run() + "/recipe.json"));
  RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest, ReadModelManifest(workspace.model()));
  RESMEM_ASSIGN_OR_RETURN(const LanguageModelShape shape,
                          ParseLanguageModel(recipe.network, manifest.classes));
  RESMEM_ASSIGN_OR_RETURN(Json learned, Learned(workspace, recipe));
  Json log = ReadLog(workspace.run() + "/log.jsonl");
  const Json last = log.empty() ? Json::object() : log.back();
  return Json{{"made_here", workspace.trains()},
              {"folder", workspace.run()},
              {"network", recipe.network},
              {"parameters", ParameterCount(shape)},
              {"preset", recipe.preset},
              {"passes", recipe.passes},
              {"batch", recipe.batch},
              {"peak_rate", recipe.peak_rate},
              {"dropout", recipe.dropout},
              {"seed", recipe.seed},
              {"learned", std::move(learned)},
              {"steps", CountAt(last, "steps")},
              {"steps_done", CountAt(last, "step")},
              {"training_seconds", NumberAt(last, "seconds")},
              {"tokens_per_second", NumberAt(last, "tokens_per_second")},
              {"validation_loss", NumberAt(last, "validation_loss")},
              {"validation_accuracy", NumberAt(last, "validation_accuracy")},
              {"model_bytes", FileBytes(workspace.model())},
              {"log", std::move(log)}};
}

Result<Json> Memorize(const Context& context) {
  const Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<ModelRows> rows,
                          ModelRows::Open(workspace, "train", workspace.options().tokens_kept));
  const double begin = workspace.console().SecondsSinceStart();
  int64_t made = 0;
  if (fs::exists(workspace.memory())) {  // finished by work that was stopped before its record
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory(true));
    const auto& notes = memory.description().notes;
    const auto note = notes.find("tokens_fingerprint");
    if (memory.rows() != rows->rows().rows() || note == notes.end() ||
        note->second != rows->set().fingerprint() ||
        memory.description().fingerprint != rows->rows().model().fingerprint()) {
      return Status(ErrorCode::kMismatch, workspace.memory() +
                                              " is a memory of another model or text; remove it, "
                                              "or give another --work");
    }
  } else {
    TokenMemoryOptions options;
    options.parameters = kPaperParameters;
    options.progress = workspace.console().progress();
    RESMEM_ASSIGN_OR_RETURN(const MemorizedTokens done,
                            MemorizeTokens(rows->rows(), workspace.memory(), options));
    made = done.rows - done.found;
  }
  const double seconds = workspace.console().SecondsSinceStart() - begin;
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory(true));
  return Json{{"rows", memory.rows()},
              {"documents", rows->rows().documents()},
              {"of_documents", rows->set().documents()},
              {"of_rows", RowsOfDocuments(rows->set(), rows->set().documents())},
              {"engine", TokenEngineName(rows->rows().model().engine())},
              {"dim", memory.description().dim},
              {"key_type", KeyTypeName(memory.description().key_type)},
              {"top", memory.description().top},
              {"bytes", memory.bytes_on_disk()},
              {"dropped_mass", memory.dropped_mass()},
              {"mean_residual_mass", memory.MeanResidualMass(kPaperParameters.temperature)},
              {"made_rows", made},
              {"seconds", seconds}};
}

Result<Json> IndexKeys(const Context& context) {
  const Workspace& workspace = context.workspace;
  const double begin = workspace.console().SecondsSinceStart();
  IndexOptions options;
  options.recall = workspace.options().recall;
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  RESMEM_RETURN_IF_ERROR(IndexMemory(workspace.memory(), options));
  const double seconds = workspace.console().SecondsSinceStart() - begin;
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory());
  const IndexInfo info = memory.index_info().value_or(IndexInfo{});
  return Json{{"recall", info.recall}, {"measured_recall", info.measured_recall},
              {"lists", info.lists},   {"bytes", info.bytes},
              {"seed", options.seed},  {"seconds", seconds}};
}

}  // namespace resmem::cli::reproduce::lm
