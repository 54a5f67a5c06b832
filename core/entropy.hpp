// The entropy of the character bigrams of a text: how evenly its pairs of neighbours are spread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory.hpp"

namespace supratok {

// Counts the pairs of neighbouring characters (code points) of one text after another. "abab" has
// the pairs ab ba ab, so 2/3 and 1/3: 0.918 bits. Keep one for each thread: making it costs more
// than counting a short text.
class BigramCounter {
 public:
  BigramCounter();
  // In bits; 0 for a text of less than two characters. `text` is valid UTF-8.
  double entropy(std::string_view text);

 private:
  struct Slot {
    uint64_t pair = 0;
    uint64_t count = 0;
  };

  void count(std::string_view text);
  void count_ascii(uint32_t pair);
  void count_other(uint32_t left, uint32_t right);
  size_t find(uint64_t pair) const;
  void grow();
  void tally(uint64_t count);
  double sum_of_tallies();

  // Pairs of ASCII characters have their own places, all others share a hash table. Invariant:
  // between two texts every count is 0; `ascii_seen_` and `others_seen_` list those that are not,
  // so that a short text after a long one has little to clear.
  std::vector<uint64_t> ascii_;
  std::vector<uint16_t> ascii_seen_;
  size_t ascii_size_ = 0;
  LargeVector<Slot> others_;
  std::vector<size_t> others_seen_;
  size_t others_size_ = 0;
  size_t mask_ =
      0;  // the slots that this text uses, less 1: those of a short one stay in the cache
  // How many pairs were seen how often: a place for each small count, a list of the large ones.
  std::vector<uint64_t> small_;
  uint64_t most_ = 0;  // of the small counts seen
  std::vector<uint64_t> large_;
};

}  // namespace supratok
