// Memory for large tables that are read at random places.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace supratok {

// Large tables come in pages of 2 MB, where the system has them: with small pages, looking up the
// address of a random place takes longer than reading it.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  static bool large(std::size_t count) { return count * sizeof(T) >= kPage / 2; }
  T* allocate(std::size_t count) {
    if (!large(count)) return static_cast<T*>(::operator new(count * sizeof(T)));
    const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    void* memory = ::operator new(bytes, std::align_val_t(kPage));
#ifdef __linux__
    madvise(memory, bytes, MADV_HUGEPAGE);  // advice: it is no loss if it is not taken
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (large(count))
      ::operator delete(memory, std::align_val_t(kPage));
    else
      ::operator delete(memory);
  }
  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

// Gives freed memory back to the system: what the threads of one phase have freed is of no use to
// the next, which has other threads.
inline void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace supratok
