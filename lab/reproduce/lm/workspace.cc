#include "reproduce/lm/workspace.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "console/interrupt.h"
#include "resmem_program/system_error.h"

namespace resmem::cli::reproduce::lm {
namespace {

namespace fs = std::filesystem;

// The first file by name in `folder` that begins so; empty: none.
std::string FileBeginning(const std::string& folder, const std::string& beginning) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path());
  }
  return found.empty() ? "" : *std::min_element(found.begin(), found.end());
}

Status AddFile(const std::string& path, Digest* digest) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  while (file) {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    file.read(buffer.data(), std::ssize(buffer));
    digest->Add({buffer.data(), static_cast<size_t>(file.gcount())});
  }
  return file.eof() ? Status() : Status(ErrorCode::kIo, path + " cannot be read");
}

Status MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Status(CodeOfSystemError(error.value()), folder + " cannot be made: " + error.message());
}

}  // namespace

Result<Workspace> Workspace::Open(WorkspaceOptions options, Console& console) {
  Workspace workspace(std::move(options), console);
  const std::string& data = workspace.options_.data;
  struct Place {
    const char *name, *title, *folder, *beginning;
    bool judged, in_domain;
  };
  const Place places[] = {
      {"train", "Wikipedia", "enwiki2015", "train.", false, true},
      {"valid", "Wikipedia, held out for tuning", "enwiki2015", "valid.", false, true},
      {"test", "Wikipedia, held out", "enwiki2015", "test.", true, true},
      {"wikitext103", "WikiText-103 test", "wikitext-valid-test", "wikitext-103.test.", true,
       false},
      {"c4", "C4", "c4-sample", "c4", true, false},
  };
  Digest digest;
  RESMEM_RETURN_IF_ERROR(AddFile(workspace.tokenizer(), &digest));
  for (const Place& place : places) {
    const std::string folder = data + "/" + place.folder;
    const std::string file = FileBeginning(folder, place.beginning);
    if (file.empty() && place.in_domain) {
      return Status(ErrorCode::kNotFound, folder + " holds no file " + place.beginning +
                                              "*; what --data must hold: docs/reproduce.md");
    }
    if (file.empty()) continue;
    workspace.sets_.push_back({place.name, place.title, file, place.judged, place.in_domain});
    digest.Add(place.name);
    RESMEM_RETURN_IF_ERROR(AddFile(file, &digest));
  }
  workspace.data_digest_ = digest.Hex();
  for (const char* kind : {"/tokens", "/steps"}) {
    RESMEM_RETURN_IF_ERROR(MakeFolder(workspace.options_.folder + kind));
  }
  return workspace;
}

const TextSet& Workspace::set(const std::string& name) const {
  return *std::find_if(sets_.begin(), sets_.end(),
                       [&](const TextSet& set) { return set.name == name; });
}

LmRecipe Workspace::Recipe() const {
  LmRecipe recipe;
  static_cast<void>(ApplyLmPreset("lm-short", &recipe));
  recipe.network = options_.network;
  recipe.tokens = fs::absolute(tokens("train")).lexically_normal();
  recipe.validation = fs::absolute(tokens("valid")).lexically_normal();
  recipe.threads = threads();
  if (options_.quick) {
    recipe.network = "t5-d32-l1-h1-f32";
    recipe.batch = 4;
    recipe.warmup_steps = 2;
    recipe.validation_windows = 4;
    recipe.evaluate_every = 5;
  }
  return recipe;
}

Result<ResidualMemory> Workspace::OpenMemory(bool exact) const {
  return ResidualMemory::Open(memory(), {.verify_blocks = false, .exact = exact});
}

int64_t RowsOfDocuments(const TokenSet& set, int64_t documents) {
  return documents == 0 ? 0 : set.document(documents - 1).end - documents;
}

int64_t DocumentsHolding(const TokenSet& set, int64_t rows) {
  if (rows == 0) return set.documents();
  int64_t low = 1, high = set.documents();
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (RowsOfDocuments(set, middle) >= rows) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Result<std::unique_ptr<ModelRows>> ModelRows::Open(const Workspace& workspace,
                                                   const std::string& name, int64_t rows) {
  RESMEM_ASSIGN_OR_RETURN(TokenModel model, workspace.OpenModel());
  RESMEM_ASSIGN_OR_RETURN(TokenSet set, TokenSet::Open(workspace.tokens(name)));
  std::unique_ptr<ModelRows> opened(new ModelRows(std::move(model), std::move(set)));
  TokenRowsOptions options;
  options.documents = DocumentsHolding(opened->set_, rows);
  RESMEM_ASSIGN_OR_RETURN(opened->rows_, TokenRows::Make(opened->model_, opened->set_, options));
  return opened;
}

}  // namespace resmem::cli::reproduce::lm
