// The entries of an encoder: texts, each with a rank, its place in the list. Entries of one
// character are the alphabet, and come first.
#pragma once

#include "trie.hpp"

namespace supratok {

inline bool is_char(std::string_view text) {
  return text.size() == char_bytes(text[0]);
}

struct Entries {
  static constexpr uint32_t kNone = Trie::kNone;
  static constexpr size_t kMostBytes = 4096;  // of a token; encoding tries all of them at a place

  Entries(std::vector<std::string> list, const Counts& weights)
      : texts(std::move(list)), sizes(texts.size()),
        trie({texts.begin(), texts.end()}, weights, &prefixes) {
    for (uint32_t e = 0; e < texts.size(); ++e) {
      const std::string& text = texts[e];
      if (text.empty()) throw std::invalid_argument("an empty token");
      if (text.size() > kMostBytes)
        throw std::invalid_argument("a token of " + std::to_string(text.size()) +
                                    " bytes: at most " + std::to_string(kMostBytes));
      if (prefixes[e] != kNone && texts[prefixes[e]].size() == text.size())
        throw std::invalid_argument("the token '" + text + "' is listed twice");
      if (e && is_char(text) && !is_char(texts[e - 1]))
        throw std::invalid_argument("the character '" + text + "' must rank before all tokens");
      sizes[e] = static_cast<uint16_t>(text.size());
    }
  }

  // The longest entry that the text begins with, or kNone.
  uint32_t longest(const char* from, const char* end) const {
    uint32_t node = Trie::kRoot;
    while (from < end && trie.step(node, static_cast<unsigned char>(*from))) ++from;
    return trie.longest_at(node);
  }

  std::vector<std::string> texts;
  std::vector<uint16_t> sizes;  // in bytes: small, because it is read most
  Numbers prefixes;             // the longest other entry that each begins with, or kNone
  Trie trie;
};

}  // namespace supratok
