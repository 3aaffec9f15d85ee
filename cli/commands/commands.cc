#include "commands/commands.h"

// group, name, function that makes it
#define RESMEM_COMMANDS(ADD)                                        \
  ADD("Make a memory", "memorize", MakeMemorize)                    \
  ADD("Make a memory", "tune", MakeTune)                            \
  ADD("Make a memory", "index", MakeIndex)                          \
  ADD("Make a memory", "intervals", MakeIntervals)                  \
  ADD("Judge it", "eval", MakeEval)                                 \
  ADD("Judge it", "doctor", MakeDoctor)                             \
  ADD("Judge it", "audit", MakeAudit)                               \
  ADD("Judge it", "privacy", MakePrivacy)                           \
  ADD("Judge it", "compare", MakeCompare)                           \
  ADD("Judge it", "report", MakeReport)                             \
  ADD("Judge it", "examples", MakeExamples)                         \
  ADD("Use it", "predict", MakePredict)                             \
  ADD("Use it", "explain", MakeExplain)                             \
  ADD("Use it", "neighbors", MakeNeighbors)                         \
  ADD("Use it", "export", MakeExport)                               \
  ADD("Keep it", "append", MakeAppend)                              \
  ADD("Keep it", "delete", MakeDelete)                              \
  ADD("Keep it", "compact", MakeCompact)                            \
  ADD("Keep it", "compress", MakeCompress)                          \
  ADD("Keep it", "snapshot take", MakeSnapshotTake)                 \
  ADD("Keep it", "snapshot list", MakeSnapshotList)                 \
  ADD("Keep it", "snapshot drop", MakeSnapshotDrop)                 \
  ADD("Keep it", "diff", MakeDiff)                                  \
  ADD("Keep it", "rollback", MakeRollback)                          \
  ADD("Keep it", "bundle", MakeBundle)                              \
  ADD("Keep it", "info", MakeInfo)                                  \
  ADD("Keep it", "verify", MakeVerify)                              \
  ADD("Keep it", "scrub", MakeScrub)                                \
  ADD("Base models", "model inspect", MakeModelInspect)             \
  ADD("Base models", "model prepare", MakeModelPrepare)             \
  ADD("Base models", "embed", MakeEmbed)                            \
  ADD("Base models", "runtime install", MakeRuntimeInstall)         \
  ADD("Base models", "runtime info", MakeRuntimeInfo)               \
  ADD("Language models", "tokenizer train", MakeTokenizerTrain)     \
  ADD("Language models", "tokenizer inspect", MakeTokenizerInspect) \
  ADD("Language models", "lm tokens", MakeLmTokens)                 \
  ADD("Language models", "lm memorize", MakeLmMemorize)             \
  ADD("Language models", "lm tune", MakeLmTune)                     \
  ADD("Language models", "lm index", MakeLmIndex)                   \
  ADD("Language models", "lm eval", MakeLmEval)                     \
  ADD("Language models", "lm examples", MakeLmExamples)             \
  ADD("Language models", "lm explain", MakeLmExplain)               \
  ADD("Language models", "lm neighbors", MakeLmNeighbors)           \
  ADD("Language models", "lm generate", MakeLmGenerate)             \
  ADD("Language models", "lm export", MakeLmExport)                 \
  ADD("Many machines", "plan", MakePlan)                            \
  ADD("Many machines", "shard plan", MakeShardPlan)                 \
  ADD("Many machines", "shard memorize", MakeShardMemorize)         \
  ADD("Many machines", "shard index", MakeShardIndex)               \
  ADD("Many machines", "shard search", MakeShardSearch)             \
  ADD("Many machines", "shard merge", MakeShardMerge)               \
  ADD("Many machines", "shard eval", MakeShardEval)                 \
  ADD("Many machines", "cluster config", MakeClusterConfig)         \
  ADD("Many machines", "cluster leave", MakeClusterLeave)           \
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

std::span<const SiblingCommand> SiblingCommands() {
  // tests/cli/siblings.test compares these with what resmem-lab says of itself.
  static constexpr SiblingCommand kSiblings[] = {
      {"Use it", "serve", "answer over HTTP, and learn and forget while running", "resmem-serve",
       "RESMEM_BUILD_SERVER"},
      {"Base models", "train", "train a base network on images or a table", "resmem-lab"},
      {"A base of our own", "base train", "train a small base model: linear or one hidden layer",
       "resmem-lab"},
      {"A base of our own", "base run", "compute keys and logits with a model from 'base train'",
       "resmem-lab"},
      {"Language models", "lm train", "train a language model on tokens", "resmem-lab"},
      {"Data to try", "data list", "list public data sets that 'data get' can fetch", "resmem-lab"},
      {"Data to try", "data get", "fetch a public data set, each file compared with its SHA-256",
       "resmem-lab"},
      {"Understand it", "theory", "simulate the paper's linear regression: risk against n",
       "resmem-lab"},
      {"Understand it", "reproduce cifar100", "the paper's experiments on real CIFAR-100",
       "resmem-lab"},
      {"Understand it", "reproduce imagenet", "the paper's table of MobileNet-V2 on ImageNet",
       "resmem-lab"},
      {"Understand it", "reproduce lm", "the paper's experiments on language models, on real text",
       "resmem-lab"},
  };
  return kSiblings;
}

}  // namespace resmem::cli
