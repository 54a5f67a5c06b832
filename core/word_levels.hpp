// The merges rule in two levels (levels.hpp) over a store: each word is encoded once.
#pragma once

#include "known_words.hpp"
#include "levels.hpp"

namespace supratok {

class WordLevels {
 public:
  explicit WordLevels(const Levels& levels) : levels_(levels) {}

  void prepare(const Lexicon& lexicon, size_t threads) { known_.prepare(lexicon, threads, *this); }

 private:
  // Of a word: how many tokens it has, and the tokens.
  struct Known {
    char lead = 0, end = 0;  // its first and last byte
    const uint32_t* list = nullptr;
  };
  Known look_up(std::string_view word, Numbers& tokens) const {
    const size_t start = tokens.size();
    tokens.push_back(0);
    levels_.encode_words(word, tokens);
    tokens[start] = static_cast<uint32_t>(tokens.size() - start - 1);
    return {word.front(), word.back()};
  }

 public:
  // The words of a block.
  class Words {
   public:
    Words(const WordLevels& all, const Block& block)
        : levels_(all.levels_), block_(block), known_(all.known_.of(block, tokens_, all)) {}

    // Appends the entries of a document; kNone is a byte.
    void encode(const Numbers& words, Numbers& out) {
      first_.clear();
      for (size_t i = 0, end; i < words.size(); i = end) {
        for (end = i + 1; end < words.size() && !cuts(words[end - 1], words[end]);) ++end;
        if (end == i + 1) {
          const uint32_t* const list = known_[words[i]].list;
          first_.insert(first_.end(), list + 1, list + 1 + list[0]);
          continue;
        }
        text_.clear();
        for (size_t w = i; w < end; ++w) text_ += block_.words[words[w]];
        levels_.encode_words(text_, first_);
      }
      const size_t start = out.size();
      levels_.join(first_, out);
      for (size_t i = start; i < out.size(); ++i)
        if (Entries::is_byte(out[i])) out[i] = Entries::kNone;
    }

   private:
    bool cuts(uint32_t left, uint32_t right) const {
      return levels_.cuts(known_[left].end, known_[right].lead);
    }

    const Levels& levels_;
    const Block& block_;
    Numbers tokens_;
    std::vector<Known> known_;
    std::string text_;
    Numbers first_;  // what level 1 makes of a document
  };

 private:
  friend class KnownWords<Known>;
  const Levels& levels_;
  KnownWords<Known> known_;
};

}  // namespace supratok
