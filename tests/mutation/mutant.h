// What mutation.py writes into a copy of the source: every place that it changes asks here whether
// it is the one that is active, so that one build holds all mutants.  RESMEM_MUTANT names it;
// RESMEM_MUTANTS_SEEN a file to which the places that were reached are added.
#ifndef RESMEM_TESTS_MUTATION_MUTANT_H_
#define RESMEM_TESTS_MUTATION_MUTANT_H_

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace resmem_mutant {

inline constexpr int kMost = 1 << 14;

struct Seen {
  std::atomic<bool> places[kMost]{};
  ~Seen() {
    const char* path = std::getenv("RESMEM_MUTANTS_SEEN");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
    for (int i = 0; file != nullptr && i < kMost; ++i) {
      if (places[i]) std::fprintf(file, "%d\n", i);
    }
    if (file != nullptr) std::fclose(file);
  }
};

inline bool On(int place) {
  static const char* const name = std::getenv("RESMEM_MUTANT");
  static const int active = name == nullptr ? -1 : std::atoi(name);
  static const bool looks = std::getenv("RESMEM_MUTANTS_SEEN") != nullptr;
  static Seen seen;
  if (looks) seen.places[place].store(true, std::memory_order_relaxed);
  return place == active;
}

// `a < b` becomes `a < Less{7} > b`: the same precedence, and both sides are evaluated as before.
template <typename Kind, typename T>
struct Left {
  const T& value;
  int place;
};
#define RESMEM_MUTANT(kind, first, second, usual, changed)                         \
  struct kind {                                                                    \
    int place;                                                                     \
  };                                                                               \
  template <typename T>                                                            \
  Left<kind, T> operator first(const T& value, kind middle) {                      \
    return {value, middle.place};                                                  \
  }                                                                                \
  template <typename T, typename U>                                                \
  bool operator second(Left<kind, T> left, const U& right) {                       \
    return On(left.place) ? (left.value changed right) : (left.value usual right); \
  }                                                                                \
  template <typename T, typename U>                                                \
  bool operator second(Left<kind, T> left, const std::optional<U>& right) {        \
    return On(left.place) ? (left.value changed right) : (left.value usual right); \
  }
RESMEM_MUTANT(Less, <, >, <, <=)
RESMEM_MUTANT(LessEqual, <, >, <=, <)
RESMEM_MUTANT(Greater, <, >, >, >=)
RESMEM_MUTANT(GreaterEqual, <, >, >=, >)
RESMEM_MUTANT(Equal, ==, ==, ==, !=)
RESMEM_MUTANT(NotEqual, ==, ==, !=, ==)
#undef RESMEM_MUTANT

}  // namespace resmem_mutant

#endif  // RESMEM_TESTS_MUTATION_MUTANT_H_
