// Memory for many numbers.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "memory.hpp"

namespace supratok {

// Takes pages from the system only where numbers are written: `resize` does not write.
template <class T>
struct Untouched : LargePages<T> {
  Untouched() = default;
  template <class U>
  Untouched(const Untouched<U>&) {}
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
};

using ManyNumbers = std::vector<uint32_t, Untouched<uint32_t>>;

// Hands out memory for numbers, and keeps it to the end.
class NumberBlocks {
 public:
  std::span<uint32_t> take(size_t count) {
    if (count > free_.size()) {
      blocks_.emplace_back().resize(std::max(count, kBlock));
      free_ = blocks_.back();
    }
    const std::span<uint32_t> taken = free_.first(count);
    free_ = free_.subspan(count);
    return taken;
  }

 private:
  static constexpr size_t kBlock = 1 << 20;
  std::vector<ManyNumbers> blocks_;
  std::span<uint32_t> free_;  // of the last block
};

}  // namespace supratok
