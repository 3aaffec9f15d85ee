#include "resmem/lm/token_set.h"

#include <algorithm>
#include <atomic>

#include "format/checksum.h"
#include "format/container_reader.h"
#include "support/check.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "text/token_set_file.h"

namespace resmem {

struct TokenSet::State {
  explicit State(ContainerReader reader_in) : reader(std::move(reader_in)) {}

  ContainerReader reader;
  TokenSetDescription description;
  bool narrow = true;
  std::span<const uint16_t> narrow_ids;
  std::span<const uint32_t> wide_ids;
  std::span<const uint64_t> ends, title_offsets;
  std::string_view titles;

  // `visit` is given the ids in the form in which they are stored.
  template <typename Visit>
  auto WithIds(Visit visit) const {
    return narrow ? visit(narrow_ids) : visit(wide_ids);
  }
  int64_t size() const {
    return WithIds([](auto ids) { return static_cast<int64_t>(ids.size()); });
  }
};

namespace {

// Gives the first bad position, or -1.
template <typename T>
int64_t FindIdOutside(std::span<const T> ids, int64_t vocabulary_size) {
  constexpr int64_t kGrain = 1 << 20;
  const auto count = static_cast<int64_t>(ids.size());
  std::atomic<int64_t> first = count;
  ParallelFor(ResolveThreads(0), count, kGrain, [&](int64_t begin, int64_t end, int) {
    T largest = 0;
    for (int64_t i = begin; i < end; ++i) largest = std::max(largest, ids[static_cast<size_t>(i)]);
    if (static_cast<int64_t>(largest) < vocabulary_size) return;
    const auto bad = std::find_if(ids.begin() + begin, ids.begin() + end, [&](T id) {
      return static_cast<int64_t>(id) >= vocabulary_size;
    });
    int64_t now = first.load();
    const int64_t at = bad - ids.begin();
    while (at < now && !first.compare_exchange_weak(now, at)) {
    }
  });
  return first < count ? first.load() : -1;
}

Status CheckTitleOffsets(const ContainerReader& reader, std::span<const uint64_t> offsets,
                         size_t title_bytes) {
  const bool sound = offsets.front() == 0 && offsets.back() == title_bytes &&
                     std::is_sorted(offsets.begin(), offsets.end());
  if (sound) return {};
  return reader.Corrupt("the offsets of the titles do not ascend from 0 to the titles' size");
}

}  // namespace

TokenSet::TokenSet(std::unique_ptr<const State> state) : state_(std::move(state)) {}
TokenSet::TokenSet(TokenSet&&) noexcept = default;
TokenSet& TokenSet::operator=(TokenSet&&) noexcept = default;
TokenSet::~TokenSet() = default;

Result<TokenSet> TokenSet::Open(const std::string& path) try {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader opened,
                          ContainerReader::Open(FileSystem::Posix(), path, FileKind::kTokenSet));
  auto state = std::make_unique<State>(std::move(opened));
  const ContainerReader& reader = state->reader;
  const auto& sections = reader.sections();
  if (sections.size() <= kDescription || sections[kDescription].shape.type != StoredType::kU8 ||
      sections[kDescription].bytes > kMaxDescriptionBytes) {
    return reader.Corrupt("the sections of a token set are not there");
  }
  RESMEM_RETURN_IF_ERROR(reader.VerifyBlocks());
  const auto text_of = [&](size_t section) {
    const auto bytes = reader.Bytes(section);
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  auto description = ParseDescription(text_of(kDescription));
  if (!description.ok()) return reader.Corrupt(description.status().message());
  state->description = std::move(description).value();
  const int64_t vocabulary_size = state->description.vocabulary_size;
  const int64_t documents = sections[kDocumentEnds].shape.rows;
  if (documents < 1) return reader.Corrupt("it has no documents");
  RESMEM_RETURN_IF_ERROR(reader.ExpectSections(
      TokenSetSections({vocabulary_size, sections[kIds].shape.rows, documents,
                        sections[kTitleBytes].shape.rows, sections[kDescription].shape.rows})));

  state->narrow = HasNarrowIds(vocabulary_size);
  if (state->narrow) {
    state->narrow_ids = reader.Values<uint16_t>(kIds);
  } else {
    state->wide_ids = reader.Values<uint32_t>(kIds);
  }
  state->ends = reader.Values<uint64_t>(kDocumentEnds);
  state->title_offsets = reader.Values<uint64_t>(kTitleOffsets);
  state->titles = text_of(kTitleBytes);
  RESMEM_RETURN_IF_ERROR(CheckTitleOffsets(reader, state->title_offsets, state->titles.size()));
  const int64_t outside =
      state->WithIds([&](auto ids) { return FindIdOutside(ids, vocabulary_size); });
  TokenSet set(std::move(state));
  if (outside >= 0) {
    return set.state_->reader.Corrupt(Text("token ", outside, " is ", set.id(outside),
                                           ", but the vocabulary has ", vocabulary_size));
  }
  uint64_t begin = 0;
  const auto tokens = static_cast<uint64_t>(set.size());
  for (const uint64_t end : set.state_->ends) {
    if (end > tokens || end < begin + 2 || set.id(static_cast<int64_t>(end) - 1) != set.end_id()) {
      return set.state_->reader.Corrupt(
          Text("a document of tokens ", begin, " to ", end,
               ", but each has at least 2, lies in the file and ends with ", set.end_id()));
    }
    begin = end;
  }
  if (begin != tokens) {
    return set.state_->reader.Corrupt(
        Text("the documents end at token ", begin, ", but there are ", tokens));
  }
  return set;
} catch (...) {
  return CaughtException(Text("open ", path));
}

const std::string& TokenSet::path() const {
  return state_->reader.path();
}

const TokenSetDescription& TokenSet::description() const {
  return state_->description;
}

std::string TokenSet::fingerprint() const {
  return HexOfHash(state_->reader.header_hash());
}

int64_t TokenSet::size() const {
  return state_->size();
}

int64_t TokenSet::documents() const {
  return static_cast<int64_t>(state_->ends.size());
}

TokenRange TokenSet::document(int64_t document) const {
  RESMEM_DCHECK(document >= 0 && document < documents());
  const auto i = static_cast<size_t>(document);
  return {i == 0 ? 0 : static_cast<int64_t>(state_->ends[i - 1]),
          static_cast<int64_t>(state_->ends[i])};
}

int64_t TokenSet::DocumentAt(int64_t position) const {
  RESMEM_DCHECK(position >= 0 && position < size());
  return std::upper_bound(state_->ends.begin(), state_->ends.end(),
                          static_cast<uint64_t>(position)) -
         state_->ends.begin();
}

std::string_view TokenSet::title(int64_t document) const {
  RESMEM_DCHECK(document >= 0 && document < documents());
  const auto i = static_cast<size_t>(document);
  const uint64_t begin = state_->title_offsets[i];
  return state_->titles.substr(begin, state_->title_offsets[i + 1] - begin);
}

int32_t TokenSet::id(int64_t position) const {
  RESMEM_DCHECK(position >= 0 && position < size());
  return state_->WithIds(
      [&](auto ids) { return static_cast<int32_t>(ids[static_cast<size_t>(position)]); });
}

void TokenSet::Read(int64_t begin, std::span<int32_t> out) const {
  RESMEM_DCHECK(begin >= 0 && begin + static_cast<int64_t>(out.size()) <= size());
  state_->WithIds([&](auto ids) {
    const auto wanted = ids.subspan(static_cast<size_t>(begin), out.size());
    std::copy(wanted.begin(), wanted.end(), out.begin());
  });
}

void TokenSet::Read(int64_t begin, std::span<int64_t> out) const {
  RESMEM_DCHECK(begin >= 0 && begin + static_cast<int64_t>(out.size()) <= size());
  state_->WithIds([&](auto ids) {
    const auto wanted = ids.subspan(static_cast<size_t>(begin), out.size());
    std::copy(wanted.begin(), wanted.end(), out.begin());
  });
}

}  // namespace resmem
