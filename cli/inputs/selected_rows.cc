#include "inputs/selected_rows.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "console/format.h"
#include "console/interrupt.h"
#include "inputs/images/image_options.h"

namespace resmem::cli {
namespace {

// The rows of `block` with that role, copied; row numbers count from `begin`.
void Compact(const Rows& block, int64_t begin, Role role, Dataset::Block* out) {
  std::vector<int64_t> rows;
  std::vector<uint64_t> ids;
  for (int64_t row = 0; row < block.count(); ++row) {
    if (block.roles[static_cast<size_t>(row)] != role) continue;
    rows.push_back(row);
    ids.push_back(block.ids.empty() ? static_cast<uint64_t>(begin + row)
                                    : block.ids[static_cast<size_t>(row)]);
  }
  GatherRows(block, rows, ids, out);
}

}  // namespace

void RoleOptions::Declare(CommandLine& line, Role made_for) {
  made_for_ = made_for;
  Option& option = line.Choice<std::optional<std::optional<Role>>, std::optional<Role>>(
      "--only", &only_,
      {{"all", std::nullopt},
       {"train", Role::kTrain},
       {"validation", Role::kValidation},
       {"test", Role::kTest}},
      "which rows to take if the data have a split");
  option.Default(std::string(RoleName(made_for)) + " if any row is marked so")
      .Needs(kRowInputs)
      .Excludes({"--leave-one-out"});
}

Result<std::optional<Role>> RoleOptions::Choose(const Dataset& dataset, Console& console) const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, dataset.CountRoles());
  const auto count = [&](Role role) { return counts[static_cast<size_t>(role)]; };
  const bool any = only_.has_value() ? !only_->has_value() : count(made_for_) == 0;
  const bool tests =
      count(Role::kTest) > 0 && (any || (only_.has_value() && *only_ == Role::kTest));
  const auto refuse = [&](const char* why) {
    return Status(ErrorCode::kInvalidArgument, Count(count(Role::kTest)) + " of " +
                                                   Counted(dataset.rows(), "row") +
                                                   " are marked test, " + why);
  };
  if (tests && made_for_ == Role::kValidation) {
    return refuse("and tuning on them would make the test meaningless; give validation rows");
  }
  if (tests && made_for_ == Role::kTrain && !only_.has_value()) {
    return refuse(
        "and a memory that holds them cannot be evaluated on them; give training rows, or --only "
        "all if you are sure");
  }
  if (any) return std::optional<Role>();
  const Role role = only_.has_value() ? **only_ : made_for_;
  if (count(role) == 0) {
    return Status(ErrorCode::kBadData, std::string("no row of the data is marked ") +
                                           RoleName(role) + "; give --split FILE or --only all");
  }
  if (count(role) < dataset.rows()) {
    console.Note("taking the " + Counted(count(role), "row") + " marked " + RoleName(role) +
                 " of " + Count(dataset.rows()));
  }
  RESMEM_RETURN_IF_ERROR(dataset.Want(role));
  return std::optional<Role>(role);
}

Result<RowSource> SelectRows(const Dataset& dataset, std::optional<Role> role) {
  RowSource all = ReadDataset(dataset);
  if (!role.has_value()) return all;
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, dataset.CountRoles());
  const int64_t selected = counts[static_cast<size_t>(*role)];
  if (selected == dataset.rows()) return all;
  return RowSource(selected, [all, role = *role](const RowSource::Use& use) {
    Dataset::Block block;
    int64_t done = 0;
    return all.Read([&](int64_t begin, const Rows& rows) {
      Compact(rows, begin, role, &block);
      if (block.view.count() == 0) return Status();
      const int64_t first = done;
      done += block.view.count();
      return use(first, block.view);
    });
  });
}

Status WriteRows(const RowSource& rows, MemoryWriter* writer, Console& console) {
  // Small pieces, so that a signal is heard soon whatever the size of a block.
  constexpr int64_t kPieceRows = 8192;
  console.progress()->Report("memorizing", 0, rows.rows());
  const Status status = rows.Read([&](int64_t begin, const Rows& block) {
    for (int64_t done = 0; done < block.count(); done += kPieceRows) {
      RESMEM_RETURN_IF_ERROR(CheckInterrupt());
      const int64_t count = std::min(kPieceRows, block.count() - done);
      RESMEM_RETURN_IF_ERROR(writer->Add(block.Slice(done, count)));
      console.progress()->Report("memorizing", begin + done + count, rows.rows());
    }
    return Status();
  });
  RESMEM_RETURN_IF_ERROR(status);
  RESMEM_RETURN_IF_ERROR(CheckInterrupt());
  return writer->Finish(console.progress());
}

}  // namespace resmem::cli
