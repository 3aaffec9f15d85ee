// The JSON values that the library works with.
//
// nlohmann's destructor allocates: it moves all children into a list rather than call itself.  A
// destructor cannot throw, so a process without memory would end there.  And where null becomes an
// object or a list, by [] or push_back(), it is called one before it has its empty container: if
// that fails, the destructor follows a null pointer.  For our types both come from a reserve if
// there is no memory.
#ifndef RESMEM_SUPPORT_JSON_H_
#define RESMEM_SUPPORT_JSON_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace resmem {

// Memory, if need be of a reserve for some ten thousand values; where that is not enough either,
// the program ends (std::terminate).
void* TakeSurely(size_t bytes) noexcept;
void GiveBack(void* place) noexcept;

// What a value points to, empty when it is made: an object, a list, a text.
template <class T, class = void>
inline constexpr bool kIsJsonContainer = false;
template <class T>
inline constexpr bool kIsJsonContainer<T, std::void_t<typename T::size_type>> =
    !nlohmann::detail::is_basic_json<T>::value;

// As std::allocator, which for our types is the destructor's alone; but containers never fail.
template <class T>
struct JsonAllocator {
  using value_type = T;
  JsonAllocator() = default;
  template <class U>
  JsonAllocator(const JsonAllocator<U>& /*other*/) {}  // NOLINT: as the standard wants it
  T* allocate(size_t count) {
    if constexpr (kIsJsonContainer<T>) return static_cast<T*>(TakeSurely(count * sizeof(T)));
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* place, size_t /*count*/) {
    if constexpr (kIsJsonContainer<T>) return GiveBack(place);
    ::operator delete(place);
  }
  bool operator==(const JsonAllocator& /*other*/) const { return true; }
};

// Keys in the order in which they were added, and keys in alphabetical order.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t,
                                  uint64_t, double, JsonAllocator>;
using SortedJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, int64_t, uint64_t,
                                        double, JsonAllocator>;

template <class T>
struct DestructorAllocator {
  using value_type = T;
  T* allocate(size_t count) { return static_cast<T*>(TakeSurely(count * sizeof(T))); }
  void deallocate(T* place, size_t /*count*/) { GiveBack(place); }
  bool operator==(const DestructorAllocator& /*other*/) const { return true; }
};

}  // namespace resmem

template <>
struct std::allocator<resmem::Json> : resmem::DestructorAllocator<resmem::Json> {};
template <>
struct std::allocator<resmem::SortedJson> : resmem::DestructorAllocator<resmem::SortedJson> {};

#endif  // RESMEM_SUPPORT_JSON_H_
