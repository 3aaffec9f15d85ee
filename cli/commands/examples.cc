// resmem examples: single rows that the memory fixed, and rows that it harmed.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/answer_options.h"
#include "inputs/class_names.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/images/source_images.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/document_output.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

class Examples : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status FindImages(const Input& input, const ResidualMemory& memory,
                    std::vector<resmem::Example>* examples, Console& console) const;
  std::string Text(const std::vector<resmem::Example>& examples,
                   const MemoryDescription& memory) const;

  std::string memory_path_, memory_images_;
  SearchedMemory searched_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  AnswerOptions answer_;
  ExampleOptions options_;
  DocumentOutput output_;
};

Result<Array> OpenImages(const std::string& text) {
  RESMEM_ASSIGN_OR_RETURN(const ArraySource source, ParseArraySource(text));
  return OpenArray(source);
}

void Examples::Declare(CommandLine& line) {
  line.About("rows that the memory fixed, and rows that it harmed",
             "Picks the same number of each kind by a stated rule, of the memory's own answer (of "
             "ResMem's where tuning left it the base's). The page shows each row with its ledger, "
             "and with its image if there is one.");
  DeclareMemory(line, &memory_path_);
  data_.Declare(line, DatasetUse::kShow);
  roles_.Declare(line, Role::kTest);
  line.Group("Choice");
  line.Choice<ExampleRule, ExampleRule>(
      "--rule", &options_.rule,
      {{"largest-change", ExampleRule::kLargestChange}, {"random", ExampleRule::kRandom}},
      "the largest changes of the true class's score, or drawn at random");
  line.Value("--count", &options_.count, "N", "rows of each kind");
  line.Value("--seed", &options_.seed, "N", "seed of --rule random");
  line.Group("Images on the page");
  line.Value("--memory-images", &memory_images_, "FILE",
             "images of the memory's rows in their order, rows x height x width; --images then "
             "names the same kind of array for the input rows")
      .File()
      .Default("found through the memory's sources if it was made from images");
  answer_.Declare(line);
  searched_.Declare(line);
  model_.Declare(line, /*check=*/true);
  output_.Declare(line);
  DeclareThreads(line, &options_.threads);
  line.AddExample("from images, through the memory's own model",
                  "resmem examples my.resmem --images cifar100 --part test --report e.html");
  line.AddExample("from arrays, with their images",
                  "resmem examples my.resmem --data test --images test.gz \\\n"
                  "    --memory-images train.gz --report examples.html");
}

Status Examples::FindImages(const Input& input, const ResidualMemory& memory,
                            std::vector<resmem::Example>* examples, Console& console) const {
  std::optional<Array> query_array, memory_array;
  ImageOf of_queries, of_memory;
  if (input.images != nullptr) {
    of_queries = [&](int64_t row) {
      return ReadThumbnail(input.images->images(), input.images->image_of(row));
    };
  } else if (!data_.images().empty()) {
    RESMEM_ASSIGN_OR_RETURN(query_array, OpenImages(data_.images()));
    RESMEM_ASSIGN_OR_RETURN(of_queries, ImagesIn(*query_array));
  } else {
    return {};
  }
  if (!memory_images_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(memory_array, OpenImages(memory_images_));
    RESMEM_ASSIGN_OR_RETURN(of_memory, ImagesIn(*memory_array));
    return AddImages(of_queries, of_memory, examples);
  }
  SourceImages sources;
  of_memory = [&](int64_t row) { return sources.Read(std::string(memory.source(row))); };
  const Status status = AddImages(of_queries, of_memory, examples);
  if (status.ok()) return {};
  console.Note("neighbors are shown without images: " + status.message());
  return AddImages(of_queries, nullptr, examples);
}

std::string Examples::Text(const std::vector<resmem::Example>& examples,
                           const MemoryDescription& memory) const {
  using Align = Table::Align;
  Table table({{"row"},
               {"", Align::kLeft},
               {"truth", Align::kLeft},
               {"base", Align::kLeft},
               {AnswerName(*options_.method), Align::kLeft},
               {"change of the truth's score"}});
  for (const resmem::Example& example : examples) {
    const bool fixed = example.explanation.prediction == example.truth;
    table.AddRow({Count(example.row), fixed ? "fixed" : "harmed",
                  ClassText(memory.class_names, example.truth),
                  ClassText(memory.class_names, example.explanation.base_prediction),
                  ClassText(memory.class_names, example.explanation.prediction),
                  Fixed(example.change, 3)});
  }
  return "rule: " + DescribeRule(options_) + "\n\n" + table.Text();
}

Result<ExitCode> Examples::Run(Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, searched_.Open(memory_path_, console));
  std::vector<std::string> inputs = data_.Paths();
  inputs.push_back(memory_path_);
  if (!memory_images_.empty()) inputs.push_back(FilePart(memory_images_));
  if (!data_.from_images() && data_.images().empty() != memory_images_.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  "--images and --memory-images belong together; give both");
  }
  RESMEM_RETURN_IF_ERROR(output_.CheckPaths(inputs));
  const MemoryDescription& description = memory.description();
  if (description.task != Task::kClassification) {
    return Status(
        ErrorCode::kUnsupported,
        memory_path_ +
            " is a regression memory, and its answers are not right or wrong; try resmem explain");
  }
  RESMEM_ASSIGN_OR_RETURN(const Input input,
                          model_.OpenInput(data_, memory_path_, memory, options_.threads, console));
  RESMEM_ASSIGN_OR_RETURN(options_.only, roles_.Choose(input.dataset, console));
  options_.progress = console.progress();
  const Predictor predictor(memory);
  RESMEM_ASSIGN_OR_RETURN(const PredictOptions answer, answer_.ChooseShown(predictor));
  options_.method = answer.method;
  options_.parameters = answer.parameters;
  RESMEM_ASSIGN_OR_RETURN(std::vector<resmem::Example> examples,
                          ChooseExamples(predictor, ReadDataset(input.dataset), options_));
  if (output_.wanted()) {
    RESMEM_RETURN_IF_ERROR(FindImages(input, memory, &examples, console));
  }
  if (output_.wanted()) {
    RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
    run.memory = DescribeMemory(memory_path_, memory);
    run.seeds["examples"] = options_.seed;
    RESMEM_RETURN_IF_ERROR(
        output_.Write(ExamplesJson(examples, DescribeRule(options_), description.class_names,
                                   FinishedRun(std::move(run), console)),
                      console));
  }
  if (!output_.on_stdout()) RESMEM_RETURN_IF_ERROR(PrintResult(Text(examples, description)));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeExamples() {
  return std::make_unique<Examples>();
}

}  // namespace resmem::cli
