#include "memory/index/index_advice.h"

#include "support/text.h"

namespace resmem {
namespace {

std::string DeleteCommand(const std::string& memory, const IndexObstacle& obstacle) {
  std::string command = Text("resmem delete ", memory, " --ids ");
  for (size_t i = 0; i < obstacle.ids.size(); ++i) {
    command += Text(i == 0 ? "" : ",", obstacle.ids[i]);
  }
  return command;
}

}  // namespace

std::string RepairAdvice(const std::string& memory, const IndexRecord& index) {
  std::string advice = Text("rebuild the index with: resmem index ", memory, " --recall ",
                            index.recall, " --codes ", index.code_bits);
  if (index.seed != 0) advice += Text(" --seed ", index.seed);
  if (index.queries) {
    advice += Text(", with rows such as the ", index.queries->rows,
                   " that were given then (--data, --keys or --images; text: resmem lm index)");
  }
  return advice;
}

std::string ObstacleText(const std::string& memory, const IndexRecord& index) {
  const IndexObstacle& obstacle = *index.obstacle;
  if (obstacle.ids.empty()) return Text(obstacle.why, "; ", RepairAdvice(memory, index));
  return Text(obstacle.why, "; delete with: ", DeleteCommand(memory, obstacle),
              " && resmem compact ", memory);
}

std::string RefusalText(const std::string& memory, const IndexObstacle& obstacle, bool is_new) {
  if (is_new) {
    return Text(memory, ": ", obstacle.why,
                "; leave such rows out, or --recall, for exact search; nothing was written");
  }
  return Text(
      memory, ": ", obstacle.why, "; ",
      obstacle.ids.empty() ? "" : "delete with: " + DeleteCommand(memory, obstacle) + "; or ",
      "go back to exact search with: resmem index ", memory, " --remove");
}

}  // namespace resmem
