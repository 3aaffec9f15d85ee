#include "resmem/models/image_set.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "data/memory_guard.h"
#include "images/fit_image.h"
#include "images/found_images.h"
#include "resmem/data/array.h"
#include "support/checked_math.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {

struct ImageSet::State {
  FoundImages found;
  ImageFit fit;

  Status ReadOne(int64_t row, Image* scratch, std::span<uint8_t> out) const;
  Status Read(int64_t count, const std::function<int64_t(int64_t)>& row_of, std::span<uint8_t> out,
              int threads) const;
};

Status ImageSet::State::ReadOne(int64_t row, Image* scratch, std::span<uint8_t> out) const {
  RESMEM_RETURN_IF_ERROR(found.store->Read(row, scratch));
  const Status status = FitImage(fit, *scratch, out);
  if (status.ok()) return {};
  return {status.code(), Text(found.store->name(row), ": ", status.message())};
}

Status ImageSet::State::Read(int64_t count, const std::function<int64_t(int64_t)>& row_of,
                             std::span<uint8_t> out, int threads) const {
  const int64_t bytes = fit.shape.bytes();
  const std::optional<int64_t> wanted = CheckedMultiply(count, bytes);
  if (!wanted || out.size() != static_cast<size_t>(*wanted)) {
    return {ErrorCode::kInvalidArgument, Text(count, " images of ", ImageShapeText(fit.shape),
                                              " do not fill ", out.size(), " bytes")};
  }
  try {
    // Of several errors the one of the first row is told, whoever met it.
    std::mutex mutex;
    int64_t failed = count;
    Status status;
    constexpr int64_t kGrain = 4;
    ParallelFor(ResolveThreads(threads), count, kGrain, [&](int64_t begin, int64_t end, int) {
      Image scratch;
      for (int64_t i = begin; i < end; ++i) {
        Status problem =
            ReadOne(row_of(i), &scratch,
                    out.subspan(static_cast<size_t>(i * bytes), static_cast<size_t>(bytes)));
        if (problem.ok()) continue;
        const std::lock_guard lock(mutex);
        if (i >= failed) return;
        failed = i;
        status = std::move(problem);
        return;
      }
    });
    return status;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kResourceExhausted,
            "not enough memory to read the images; read fewer at a time"};
  }
}

namespace {

// Labels below the number of names, one an image.
Status CheckLabels(const FoundImages& found) {
  const auto names = static_cast<int32_t>(found.class_names.size());
  if (names == 0) return {};
  for (size_t row = 0; row < found.labels.size(); ++row) {
    if (found.labels[row] < names) continue;
    return {ErrorCode::kBadData,
            Text(found.store->name(static_cast<int64_t>(row)), ": has label ", found.labels[row],
                 ", but there are ", names, " classes, so labels are 0 to ", names - 1)};
  }
  return {};
}

// "aquarium_fish" and "Aquarium fish" are one class.
std::string Bare(const std::string& name) {
  std::string bare;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') bare.push_back(static_cast<char>(c - 'A' + 'a'));
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0) bare.push_back(c);
  }
  return bare;
}

// The images' class names beside the model's, which take their place.  Other names may be another
// language's; the same ones in another order are another numbering of the classes.
Status UseNames(const std::vector<std::string>& wanted, FoundImages* found) {
  if (wanted.empty()) return {};
  std::vector<std::string> theirs, ours;
  for (const std::string& name : found->class_names) theirs.push_back(Bare(name));
  for (const std::string& name : wanted) ours.push_back(Bare(name));
  const auto different = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  const bool equal =
      theirs.empty() || (different.first == ours.end() && theirs.size() == ours.size());
  const auto at = static_cast<size_t>(different.first - ours.begin());
  std::sort(theirs.begin(), theirs.end());
  std::sort(ours.begin(), ours.end());
  if (!equal && (theirs == ours || theirs.size() != ours.size())) {
    return {
        ErrorCode::kMismatch,
        theirs == ours
            ? Text(found->paths.front(), ": its class ", at, " is \"", found->class_names[at],
                   "\", but the model's is \"", wanted[at],
                   "\": the classes are the same in another order; renumber the labels")
            : Text(found->paths.front(), ": has ", theirs.size(), " classes, but the model has ",
                   ours.size(), "; they were not made for each other")};
  }
  if (!equal) {
    found->notes.push_back(Text(found->paths.front(), ": its class ", at, " is \"",
                                found->class_names[at], "\", the model's is \"", wanted[at],
                                "\"; the model's names are shown"));
  }
  found->class_names = wanted;
  return {};
}

}  // namespace

std::string ImageShapeText(const ImageShape& shape) {
  return Text(shape.height, " x ", shape.width, " x ", shape.channels);
}

Result<ImageSet> ImageSet::Open(const ImageSetSource& source) {
  return GuardMemory(source.path.empty() ? "images" : source.path, [&]() -> Result<ImageSet> {
    auto state = std::make_unique<State>();
    RESMEM_ASSIGN_OR_RETURN(state->found, FindImages(source));
    FoundImages& found = state->found;
    if (!source.labels.empty()) {
      RESMEM_ASSIGN_OR_RETURN(const Array array, OpenArray({source.labels, {}, {}}));
      RESMEM_ASSIGN_OR_RETURN(found.labels, ReadLabels(array, found.store->size(), 0));
      found.coarse_labels.clear();
      // Folders that are not the model's classes do not name its labels.
      if (source.classes > 0 && std::ssize(found.class_names) != source.classes) {
        found.class_names.clear();
      }
    }
    RESMEM_RETURN_IF_ERROR(UseNames(source.class_names, &found));
    RESMEM_RETURN_IF_ERROR(CheckLabels(found));
    // The first image is read at once: it gives the shape where none is wanted, and most
    // mistakes about shapes show here and not in the middle of the work.
    Image first;
    RESMEM_RETURN_IF_ERROR(found.store->Read(0, &first));
    RESMEM_ASSIGN_OR_RETURN(state->fit,
                            MakeImageFit(source.shape.value_or(first.shape), source.resize));
    std::vector<uint8_t> pixels(static_cast<size_t>(state->fit.shape.bytes()));
    RESMEM_RETURN_IF_ERROR(state->ReadOne(0, &first, pixels));
    return ImageSet(std::move(state));
  });
}

ImageSet::ImageSet(std::unique_ptr<const State> state) : state_(std::move(state)) {}
ImageSet::ImageSet(ImageSet&&) noexcept = default;
ImageSet& ImageSet::operator=(ImageSet&&) noexcept = default;
ImageSet::~ImageSet() = default;

int64_t ImageSet::size() const {
  return state_->found.store->size();
}
const ImageShape& ImageSet::shape() const {
  return state_->fit.shape;
}
const std::vector<int32_t>& ImageSet::labels() const {
  return state_->found.labels;
}
const std::vector<int32_t>& ImageSet::coarse_labels() const {
  return state_->found.coarse_labels;
}
const std::vector<std::string>& ImageSet::class_names() const {
  return state_->found.class_names;
}
const std::vector<std::string>& ImageSet::coarse_class_names() const {
  return state_->found.coarse_class_names;
}
const std::vector<std::string>& ImageSet::paths() const {
  return state_->found.paths;
}
const std::vector<std::string>& ImageSet::notes() const {
  return state_->found.notes;
}
std::string ImageSet::name(int64_t row) const {
  return state_->found.store->name(row);
}

Status ImageSet::Read(int64_t begin, int64_t count, std::span<uint8_t> out, int threads) const {
  if (begin < 0 || count < 0 || begin > size() || count > size() - begin) {
    return {ErrorCode::kInvalidArgument, Text("images ", begin, " to ", begin, " + ", count,
                                              " asked for, but there are ", size())};
  }
  return state_->Read(
      count, [begin](int64_t i) { return begin + i; }, out, threads);
}

Status ImageSet::ReadRows(std::span<const int64_t> rows, std::span<uint8_t> out,
                          int threads) const {
  for (const int64_t row : rows) {
    if (row >= 0 && row < size()) continue;
    return {ErrorCode::kInvalidArgument, Text("image ", row, " asked for, but there are ", size())};
  }
  return state_->Read(
      static_cast<int64_t>(rows.size()), [rows](int64_t i) { return rows[static_cast<size_t>(i)]; },
      out, threads);
}

}  // namespace resmem
