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

// Puts large tables on pages of 2 MB, where the system has them: with small pages, looking up the
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
    madvise(memory, bytes, MADV_HUGEPAGE);  // advice: the system may ignore it
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

// Gives freed memory back to the system: the next phase has other threads, which cannot use the
// memory that the threads of this one have freed.
inline void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// At least `size` values, not initialised. The thread keeps the memory for its next use of the same
// kind, unless one very long text needed it. A use inside another has memory of its own.
template <class T, int kUse>
struct Scratch {
  explicit Scratch(size_t size) : kept_(of_thread()), values(std::move(kept_)) {
    if (values.size() < size) values.resize(size);
  }
  ~Scratch() {
    if (values.capacity() <= 1u << 22) kept_.swap(values);
  }

 private:
  static std::vector<T>& of_thread() {
    static thread_local std::vector<T> kept;
    return kept;
  }
  std::vector<T>& kept_;

 public:
  std::vector<T> values;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace supratok
