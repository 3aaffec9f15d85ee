#include "command.h"

// group, name, function that makes it
#define RESMEM_COMMANDS(ADD)                                        \
  ADD("Make a memory", "memorize", MakeMemorize)                    \
  ADD("Make a memory", "tune", MakeTune)                            \
  ADD("Make a memory", "index", MakeIndex)                          \
  ADD("Judge it", "eval", MakeEval)                                 \
  ADD("Judge it", "doctor", MakeDoctor)                             \
  ADD("Judge it", "compare", MakeCompare)                           \
  ADD("Judge it", "report", MakeReport)                             \
  ADD("Judge it", "examples", MakeExamples)                         \
  ADD("Use it", "predict", MakePredict)                             \
  ADD("Use it", "explain", MakeExplain)                             \
  ADD("Keep it", "append", MakeAppend)                              \
  ADD("Keep it", "delete", MakeDelete)                              \
  ADD("Keep it", "compact", MakeCompact)                            \
  ADD("Keep it", "info", MakeInfo)                                  \
  ADD("Keep it", "verify", MakeVerify)                              \
  ADD("Base models", "model inspect", MakeModelInspect)             \
  ADD("Base models", "model prepare", MakeModelPrepare)             \
  ADD("Base models", "embed", MakeEmbed)                            \
  ADD("Base models", "train", MakeTrain)                            \
  ADD("A base of our own", "base train", MakeBaseTrain)             \
  ADD("A base of our own", "base run", MakeBaseRun)                 \
  ADD("Language models", "tokenizer train", MakeTokenizerTrain)     \
  ADD("Language models", "tokenizer inspect", MakeTokenizerInspect) \
  ADD("Language models", "lm tokens", MakeLmTokens)                 \
  ADD("Language models", "lm train", MakeLmTrain)                   \
  ADD("Language models", "lm memorize", MakeLmMemorize)             \
  ADD("Language models", "lm tune", MakeLmTune)                     \
  ADD("Language models", "lm index", MakeLmIndex)                   \
  ADD("Language models", "lm eval", MakeLmEval)                     \
  ADD("Language models", "lm examples", MakeLmExamples)             \
  ADD("Language models", "lm explain", MakeLmExplain)               \
  ADD("Language models", "lm generate", MakeLmGenerate)             \
  ADD("Understand it", "theory", MakeTheory)                        \
  ADD("Understand it", "reproduce cifar100", MakeReproduceCifar100) \
  ADD("Understand it", "reproduce lm", MakeReproduceLm)             \
  ADD("Other", "version", MakeVersion)                              \
  ADD("Other", "completion", MakeCompletion)

namespace resmem::cli {

#define RESMEM_DECLARE(group, name, make) std::unique_ptr<Command> make();
RESMEM_COMMANDS(RESMEM_DECLARE)
#undef RESMEM_DECLARE

std::span<const CommandEntry> Commands() {
#define RESMEM_ENTRY(group, name, make) {group, name, make},
  static constexpr CommandEntry kCommands[] = {RESMEM_COMMANDS(RESMEM_ENTRY)};
#undef RESMEM_ENTRY
  return kCommands;
}

Declared Declare(const CommandEntry& entry) {
  Declared declared{entry.make(), CommandLine(entry.name), std::make_unique<bool>(false)};
  declared.command->Declare(declared.line);
  declared.line.Group("General");
  declared.line.Flag("--quiet", declared.quiet.get(), "no notes and no progress on stderr");
  bool unused = false;
  declared.line.Flag("--help", &unused, "this text").Short("-h");
  return declared;
}

}  // namespace resmem::cli
