// Pairs of neighbouring characters (code points): inside words, and their entropy in whole texts.
#pragma once

#include "flat_map.hpp"
#include "text.hpp"
#include "text_counts.hpp"

namespace supratok {

// The bigrams of the words of some scripts. A word has one script, so the marks on its letters,
// which have none, go with it. The space before a word is no part of it.
class Bigrams {
 public:
  Bigrams(const SharedCounts& words, const std::vector<uint8_t>& scripts);
  bool covers(std::string_view word) const { return scripts_[script_of(word)]; }
  int64_t count(uint32_t left, uint32_t right) const {
    return counts_.count(FlatCounts::pair(left, right));
  }
  // How many bigrams were seen less often than this, and how often in all.
  std::pair<size_t, int64_t> below(int64_t count) const;
  size_t size() const { return counts_.entries().size(); }

 private:
  std::array<bool, 256> scripts_{};
  FlatCounts counts_;
};

// The entropy, in bits, of the bigrams of a text: how evenly its pairs of neighbours are spread.
// "abab" has the pairs ab ba ab, so 2/3 and 1/3: 0.918 bits. Less than two characters have 0 bits.
double bigram_entropy(std::string_view text);
std::vector<double> bigram_entropies(const Texts& texts, size_t threads);  // of each text

}  // namespace supratok
