#include "search/approximate/lists/list_scan.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/amx.h"

namespace resmem {

ListScan::ListScan(const ListSearch& search, std::span<const Question> questions,
                   const CodedVectors& queries, int64_t first_row, std::span<CandidatePool> pools)
    : search_(search),
      file_(search.file()),
      questions_(questions),
      queries_(queries),
      first_row_(first_row),
      pools_(pools),
      gathered_(static_cast<size_t>(kGroupQueries * file_.width())),
      decoded_(static_cast<size_t>(file_.code_bits() == 8 ? 0 : kRowsACall * file_.width())) {}

void ListScan::Run(std::span<const Visit> visits) {
  std::optional<TileScope> tiles;
  if (AmxActive() && questions_.size() > 1) tiles.emplace();
  for (size_t begin = 0; begin < visits.size();) {
    size_t end = begin + 1;
    while (end < visits.size() && end - begin < static_cast<size_t>(kGroupQueries) &&
           visits[end].list == visits[begin].list) {
      ++end;
    }
    if (end < visits.size() && visits[end].list != visits[begin].list)
      file_.Prefetch(visits[end].list);
    ScanList(visits.subspan(begin, end - begin));
    begin = end;
  }
}

// For up to 16 queries.
void ListScan::ScanList(std::span<const Visit> visits) {
  const int64_t list = visits.front().list, width = file_.width();
  QueryGroup group;
  group.count = static_cast<int64_t>(visits.size());
  group.codes = group.count == 1 ? queries_.codes(visits.front().query) : gathered_.data();
  for (int64_t i = 0; i < group.count; ++i) {
    queries_.PutScales(visits[i].query, i, &group);
    group.bases[i] = visits[i].base;
    if (group.count == 1) break;
    std::memcpy(gathered_.data() + i * width, queries_.codes(visits[i].query),
                static_cast<size_t>(width));
  }
  const uint32_t* numbers = file_.row_numbers(list);
  const int64_t rows = file_.list_rows(list);
  CellFound cells[kMostCells];
  for (int64_t row = 0; row < rows; row += kRowsACall) {
    for (int64_t i = 0; i < group.count; ++i) {
      group.thresholds[i] = pools_[visits[i].query].threshold();
    }
    const int64_t count = std::min(kRowsACall, rows - row);
    const CodeBlocks blocks = file_.Blocks(list, row, count, group.count, decoded_.data());
    const int64_t found = ScanBlocks(group, blocks, count, width, cells);
    for (int64_t i = 0; i < found; ++i) {
      Offer(visits[cells[i].query].query, {cells[i].value, numbers[row + cells[i].row]});
    }
  }
}

void ListScan::Offer(uint32_t query, Candidate candidate) {
  // A number that is no row's is kept, so that whoever measures it tells of it.
  const int64_t row = candidate.number();
  if (row < file_.rows() && search_.hidden(row)) return;
  if (first_row_ + row == questions_[query].excluded) return;
  pools_[query].Offer(candidate);
}

}  // namespace resmem
