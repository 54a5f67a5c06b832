// The words of all blocks of a store, numbered: what a table finds out about a word it finds out
// once, and not in every block again.
#pragma once

#include "text_counts.hpp"

namespace supratok {

// Filled by many threads; then read. The numbers of a part lie in one row: part + kParts * place.
class Lexicon {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kParts = 64;
  const uint64_t id = ++made_;  // no other has it
  bool by_class = true;         // how its words were cut

  // The number of a word; kNone if there is no room for more.
  uint32_t add(std::string_view word, uint64_t hash) {
    const size_t p = hash >> 58;  // TextCounts uses the low bits
    Part& part = parts_[p];
    const std::lock_guard guard(part.lock);
    auto place = static_cast<uint32_t>(part.words.find(word, hash));  // from 1
    if (!place) {
      if (part.words.size() == kMost) return kNone;
      place = static_cast<uint32_t>(part.words.size() + 1);
      part.words.add(word, hash, place);
    }
    return static_cast<uint32_t>(p + kParts * (place - 1));
  }
  // All numbers are below this.
  size_t end() const {
    size_t most = 0;
    for (const Part& part : parts_) most = std::max(most, part.words.size());
    return most * kParts;
  }
  // Calls visit(number, word) for the words of a part.
  template <class Visit>
  void each(size_t p, Visit visit) const {
    auto number = static_cast<uint32_t>(p);
    parts_[p].words.each([&](std::string_view word, int64_t) {
      visit(number, word);
      number += kParts;
    });
  }

 private:
  static constexpr size_t kMost = 1 << 15;  // words of a part: two million in all, about 150 MB
  struct Part {
    std::mutex lock;
    TextCounts words;  // with their places, from 1, for counts
  };
  std::array<Part, kParts> parts_;
  inline static std::atomic<uint64_t> made_{0};
};

}  // namespace supratok
