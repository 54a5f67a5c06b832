// The entries of an encoder: texts, each with a rank, its place in the list. Entries of one
// character are the alphabet, and come first.
#pragma once

#include "flat_map.hpp"
#include "trie.hpp"

namespace supratok {

inline bool is_char(std::string_view text) {
  return text.size() == char_bytes(text[0]);
}

struct Entries {
  static constexpr uint32_t kNone = Trie::kNone;
  static constexpr size_t kMostBytes = 4096;  // of a token; encoding tries all of them at a place

  explicit Entries(std::vector<std::string> list)
      : texts(std::move(list)), sizes(texts.size()), prefixes(texts.size(), kNone) {
    index_.clear(std::bit_ceil(texts.size() * 2 + 64));
    find_prefixes();
    for (uint32_t e = 0; e < texts.size(); breathe(++e)) {
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
      index_.add(hash_bytes(text), e);
    }
  }

  // The entry with this text, or kNone; until there is a trie.
  uint32_t find(std::string_view text) const {
    return std::min(kNone, index_.find(hash_bytes(text),
                                       [&](uint32_t e) { return same_text(texts[e], text); }));
  }

  // Makes the trie, of the entries for which keeps(entry) holds. `weights` are those of all.
  template <class Keeps>
  void make_trie(const Counts& weights, Keeps keeps) {
    std::erase_if(order_, [&](uint32_t e) { return !keeps(e); });
    trie = Trie({texts.begin(), texts.end()}, weights, std::exchange(order_, {}));
    prefixes = {};
    index_ = FlatIndex();
  }

  // The longest entry that the text begins with, or kNone.
  uint32_t longest(const char* from, const char* end) const {
    uint32_t node = Trie::kRoot;
    while (from < end && trie.step(node, static_cast<unsigned char>(*from))) ++from;
    return trie.longest_at(node);
  }

  std::vector<std::string> texts;
  std::vector<uint16_t> sizes;  // in bytes: small, because it is read most
  // The longest other entry that each begins with, or kNone; until there is a trie.
  Numbers prefixes;
  Trie trie;

 private:
  // Texts that begin with another follow it in the order, and all between do so too.
  void find_prefixes() {
    Numbers open;
    for (const uint32_t e : order_) {
      while (!open.empty() && !std::string_view(texts[e]).starts_with(texts[open.back()]))
        open.pop_back();
      if (!open.empty()) prefixes[e] = open.back();
      open.push_back(e);
    }
  }

  Numbers order_ = Trie::sorted({texts.begin(), texts.end()});
  FlatIndex index_;
};

}  // namespace supratok
