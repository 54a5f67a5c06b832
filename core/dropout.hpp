// Encoding with some phrases written as words, at random.
//
// A text has two encodings: one by all entries, one by those of one word. Between two places where
// both have a border each has a part of its own; the parts differ only where the first has a
// phrase. (A part without one is the words' encoding too: every join of merges that made it is
// among the words' joins, and the fewest of all tokens are the fewest of those words.) Each part
// that differs is drawn by itself: from the words with a given probability, else from all entries.
#pragma once

#include "cutting.hpp"

namespace supratok {

template <class Coder>
class Dropout {
 public:
  // Of two coders that cut out the same texts. It keeps the references.
  Dropout(const Encoder& encoder, const Coder& all, const Coder& words, double probability,
          uint64_t seed)
      : encoder_(encoder), all_(all), words_(words), probability_(probability), seed_(seed) {}

  // The text of this number has a row of random numbers of its own.
  void encode(std::string_view text, size_t number, Numbers& ids) const {
    Numbers by_all, by_words;
    all_.encode(text, by_all);
    words_.encode(text, by_words);
    const uint64_t row = mix(seed_ + mix(number + kStep));
    size_t a = 0, w = 0, drawn = 0;
    while (a < by_all.size() || w < by_words.size()) {
      const size_t all_from = a, words_from = w;
      // The parts end where both have come equally far.
      for (size_t far_a = size(by_all[a++]), far_w = size(by_words[w++]); far_a != far_w;)
        far_a < far_w ? far_a += size(by_all[a++]) : far_w += size(by_words[w++]);
      const bool differ =
          a - all_from != w - words_from || by_all[all_from] != by_words[words_from];
      const bool drop = differ && uniform(mix(row + ++drawn * kStep)) < probability_;
      const auto take = [&](const Numbers& from, size_t begin, size_t end) {
        ids.insert(ids.end(), from.begin() + static_cast<ptrdiff_t>(begin),
                   from.begin() + static_cast<ptrdiff_t>(end));
      };
      drop ? take(by_words, words_from, w) : take(by_all, all_from, a);
      breathe(a);
    }
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;
  static double uniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
  // In bytes. What is cut out stands alone in both encodings, so any size does, if it is one.
  size_t size(uint32_t id) const { return encoder_.knows(id) ? encoder_.bytes_of(id).size() : 1; }

  const Encoder& encoder_;
  const Coder &all_, &words_;
  double probability_;
  uint64_t seed_;
};

}  // namespace supratok
