// All rows of a memory as they lie on disk: the segments in order, and which rows are deleted.
//
// Immutable after Load(): const methods may be called from any number of threads.
#ifndef RESMEM_MEMORY_ROWS_STORED_ROWS_H_
#define RESMEM_MEMORY_ROWS_STORED_ROWS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memory/keys/key_transformer.h"
#include "memory/manifest/manifest.h"
#include "memory/rows/segment.h"
#include "resmem/progress.h"
#include "support/file_system.h"
#include "support/part_finder.h"

namespace resmem {

class StoredRows {
 public:
  // A consistent state, even while another process compacts the memory.  Segments that `former`
  // has, too, are shared with it: neither mapped nor checked again.
  static Result<StoredRows> Load(FileSystem& files, const std::string& folder,
                                 const StoredRows* former = nullptr);
  // The state that this manifest tells of; a file that is gone is kNotFound.
  static Result<StoredRows> Load(FileSystem& files, const std::string& folder, Manifest manifest,
                                 const StoredRows* former = nullptr);

  // Of several memories, one after the other, without their indexes:
  // resmem_program/joined_memory.h.
  static Result<StoredRows> LoadJoined(std::span<const std::string> folders);

  // The same files, without an index, with only these of the living rows.
  StoredRows Keep(const std::function<bool(int64_t row)>& keeps) const;

  const Manifest& manifest() const { return manifest_; }
  const KeyTransformer& transformer() const { return transformer_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // Ascending.
  const std::vector<int64_t>& deleted() const { return deleted_; }
  bool deleted(int64_t row) const;
  int64_t capacity() const { return parts_.end(); }
  int64_t living() const { return capacity() - static_cast<int64_t>(deleted_.size()); }

  // The segment of a row, and the row's number in it.
  std::pair<const Segment*, int64_t> Find(int64_t row) const;
  uint64_t id(int64_t row) const;
  bool has_tags() const;  // any segment

  // As those of ResidualMemory, but a broken block is a StatusError that is thrown.
  std::span<const float> target(int64_t row) const;
  std::span<const float> logits(int64_t row) const;
  // The key as it is stored: transformed.
  void DecodeKey(int64_t row, std::span<float> key) const;
  // The key as it was given.
  void GivenKey(int64_t row, std::span<float> key) const;
  // Of these rows, one after the other.
  void GivenKeys(std::span<const int64_t> rows, int threads, std::span<float> keys) const;
  void Residual(int64_t row, float temperature, std::span<float> out) const;
  void AddResidual(int64_t row, float temperature, float weight, std::span<float> scratch,
                   std::span<float> accumulator) const;

  // Every block of every segment was found sound.
  bool checked() const;
  // Segment::VerifyNarrow() of all.
  Status VerifyNarrow() const;
  // Every checksum, and the values that no checksum makes right.  Ids are compared by IdIndex.
  Status Verify(Progress* progress) const;
  Status VerifyIds() const;

 private:
  void Append(StoredRows&& other);

  Manifest manifest_;
  KeyTransformer transformer_;
  std::vector<Segment> segments_;
  PartFinder parts_;  // the segments
  std::vector<int64_t> deleted_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_STORED_ROWS_H_
