// Counts pairs of neighbouring characters inside words.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "counts.hpp"

namespace supratok {

// The bigrams of the words of some scripts. Words are of one script, so the marks that a letter
// carries, which have no script of their own, go with it. The space before a word is no part of it.
class Bigrams {
 public:
  Bigrams(const SharedCounts& words, const std::vector<uint8_t>& scripts);

  bool covers(std::string_view word) const { return scripts_[script_of(word)]; }
  int64_t count(uint32_t left, uint32_t right) const;

  struct Total {
    size_t bigrams;
    int64_t occurrences;
  };
  Total below(int64_t count) const;
  size_t size() const { return used_; }

 private:
  struct Slot {
    uint64_t bigram = 0;  // 0: free; no word holds the bigram of two NULs
    int64_t count = 0;
  };
  static uint64_t key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  size_t find(uint64_t bigram) const;  // its slot, or the free one where it belongs
  void add(uint64_t bigram, int64_t count);

  std::array<bool, 256> scripts_{};
  std::vector<Slot> slots_;  // open addressing
  size_t used_ = 0;
};

}  // namespace supratok
