// libFuzzer's entry for what reads text: the first byte chooses the reader, the rest is what it
// reads.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "data/test_seeds.h"
#include "format/container_writer.h"
#include "resmem/lm/token_set.h"
#include "text/source/byte_stream.h"
#include "text/source/clean_text.h"
#include "text/source/document_reader.h"
#include "text/token_set_file.h"

namespace resmem {
namespace {

using Bytes = std::span<const std::byte>;

// Documents of at most 64 bytes, so that small inputs are cut as well.
void ReadDocuments(TextForm form, Bytes bytes) {
  TextCounts counts;
  std::string first_broken_record;
  auto stream = UnpackBytes("input", bytes);
  if (!stream.ok()) return;
  DocumentInput input{"input", LineReader(std::move(stream).value()), 64, &counts,
                      &first_broken_record};
  auto reader = MakeDocumentReader(form, &input);
  if (!reader.ok()) return;
  TextDocument document;
  while (true) {
    const auto more = reader.value()->Next(&document);
    if (!more.ok() || !*more) return;
    const std::string clean = CleanText(document.text, &counts);
    TextCounts none;
    if (CleanText(clean, &none) != clean || !(none == TextCounts())) std::abort();
  }
}

// Sizes of the sections in the first bytes, then their values.
void ReadTokenSet(Bytes bytes) {
  if (bytes.size() < 5) return;
  static const std::string kPath =
      std::filesystem::temp_directory_path() / ("resmem_text_fuzz_" + std::to_string(::getpid()));
  const auto size = [&](size_t i) { return static_cast<int64_t>(bytes[i]); };
  const TokenSetSizes sizes{size(0) + 2, size(1), size(2), size(3), size(4) * 4};
  auto writer = ContainerWriter::Create(FileSystem::Posix(), kPath, FileKind::kTokenSet,
                                        TokenSetSections(sizes));
  if (!writer.ok()) return;
  Bytes rest = bytes.subspan(5);
  const auto sections = TokenSetSections(sizes);
  for (size_t i = 0; i < sections.size(); ++i) {
    std::vector<std::byte> values(
        static_cast<size_t>(sections[i].rows * StoredBytes(sections[i].type)));
    const size_t given = std::min(values.size(), rest.size());
    if (given > 0) std::memcpy(values.data(), rest.data(), given);
    rest = rest.subspan(given);
    if (!writer->Append(i, values).ok()) return;
  }
  if (!writer->Finish().ok()) return;
  const auto set = TokenSet::Open(kPath);
  std::filesystem::remove(kPath);
  if (!set.ok()) return;
  for (int64_t d = 0; d < set->documents(); ++d) {
    std::vector<int32_t> ids(static_cast<size_t>(set->document(d).size()));
    set->Read(set->document(d).begin, ids);
    if (ids.back() != set->end_id() || set->DocumentAt(set->document(d).begin) != d) std::abort();
    (void)std::string(set->title(d));
  }
}

// A sound one, as ReadTokenSet() takes it.
std::string TokenSetSeed() {
  std::string json = DescriptionText({102, 1, "0123", {}});
  json.resize((json.size() + 3) / 4 * 4, ' ');
  std::string seed = {100, 6, 2, 3, static_cast<char>(json.size() / 4)};
  seed += BytesOf<uint16_t>({5, 6, 7, 1, 8, 1}) + BytesOf<uint64_t>({4, 6}) +
          BytesOf<uint64_t>({0, 1, 3}) + "abc";
  return seed + json;
}

}  // namespace

std::vector<Seed> Seeds() {
  const std::string json =
      "{\"text\":\"one two\",\"url\":\"u\"}\n{\"title\":\"t\",\"text\":\"\\u00e9\"}\n";
  const std::string tags =
      "<doc id=\"1\" title=\"A &amp; B\">\nbody of it\n</doc>\n<doc id=\"2\">\nx\n</doc>\n";
  const std::string wiki = " \n = Title = \n \n text \n = = Part = = \n \n = Other = \n \n more \n";
  return {{"found", json, false},
          {"text", wiki, false},
          {"paragraphs", "one\n\ntwo\nthree\n", false},
          {"wikitext", wiki, false},
          {"jsonl", json, false},
          {"doc", tags, false},
          {"tokens", TokenSetSeed(), false}};
}

}  // namespace resmem

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr uint8_t kReaders = 7;
  const uint8_t reader = data[0] % kReaders;
  const auto rest = std::as_bytes(std::span(data + 1, size - 1));
  if (reader == 6) {
    resmem::ReadTokenSet(rest);
  } else {
    resmem::ReadDocuments(static_cast<resmem::TextForm>(reader), rest);
  }
  return 0;
}
