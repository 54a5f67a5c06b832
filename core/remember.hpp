// What was found out about words, for many threads: rare words come again in other blocks. It keeps
// only as many as fit.
#pragma once

#include "text_counts.hpp"

namespace supratok {

class Remembered {
 public:
  // Appends the numbers of a word: those remembered, or what make() appends.
  template <class Make>
  void append(std::string_view word, uint64_t hash, Numbers& out, Make make) {
    Part& part = parts_[hash >> 58];
    {
      const std::lock_guard guard(part.lock);
      if (const auto place = static_cast<size_t>(part.words.find(word, hash))) {
        const uint32_t* const found = &part.numbers[place];
        out.insert(out.end(), found, found + found[-1]);
        return;
      }
    }
    const size_t start = out.size();
    make();
    if (word.size() > kLongest) return;
    const std::lock_guard guard(part.lock);
    if (part.words.size() >= kMost || part.words.find(word, hash)) return;
    part.numbers.push_back(static_cast<uint32_t>(out.size() - start));
    const auto place = static_cast<int64_t>(part.numbers.size());
    part.numbers.insert(part.numbers.end(), out.begin() + static_cast<ptrdiff_t>(start), out.end());
    part.numbers.push_back(0);  // so that a word without numbers has a place too
    part.words.add(word, hash, place);
  }

 private:
  static constexpr size_t kMost = 1 << 13;  // words of a part: about 40 MB in all
  static constexpr size_t kLongest = 64;    // bytes of a word
  struct Part {
    std::mutex lock;
    TextCounts words;  // the count of a word is the place of its numbers; before it, how many
    Numbers numbers;
  };
  std::array<Part, 64> parts_;  // by hash
};

}  // namespace supratok
