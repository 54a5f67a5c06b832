// The fewest rule: the fewest tokens; among equals the one whose last token is longest, for every
// prefix of the text. In linear time.
#pragma once

#include "entries.hpp"

namespace supratok {

class Fewest {
 public:
  explicit Fewest(const Entries& entries) {
    for (const uint16_t size : entries.sizes)
      while (ring_ <= size) ring_ *= 2;
  }

  // Returns the number of tokens; appends them, if asked to `emit` them: entries, and kNone for
  // each byte of a character outside the alphabet.
  size_t encode(const Entries& entries, std::string_view text, bool emit, Numbers& out) const {
    // The fewest tokens up to a place are needed only as far ahead as the longest entry reaches: a
    // small ring of counts. The last of those tokens is kept for every place, as its node << 8 |
    // its size. Branch-free where prediction would fail: whether an entry ends at a byte, and is
    // better.
    const Trie& trie = entries.trie;
    const size_t mask = ring_ - 1;
    uint32_t* const best = scratch<uint32_t, 0>(ring_);
    uint32_t* const last = scratch<uint32_t, 1>(text.size() + 1);
    std::fill_n(best, ring_, kNone);
    best[0] = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      const uint32_t count = std::exchange(best[at & mask], kNone);
      if (count == kNone) continue;  // inside a character
      bool found = false;
      uint32_t node = Trie::kRoot;
      for (size_t to = at; to < text.size();) {
        if (!trie.step(node, static_cast<unsigned char>(text[to++]))) break;
        const bool ends = trie.ends_at(node);
        found |= ends;
        // Starts come in order, so of equals the longest last token stays.
        uint32_t& old = best[to & mask];
        const bool better = ends & (count + 1 < old);
        old = better ? count + 1 : old;
        last[to] = better ? node << 8 | static_cast<uint32_t>(to - at) % 256 : last[to];
      }
      if (!found) {  // a character outside the alphabet: its bytes
        const size_t bytes = char_bytes(text[at]);
        best[(at + bytes) & mask] = count + static_cast<uint32_t>(bytes);
        last[at + bytes] = Trie::kRoot;  // nothing ends there
      }
    }
    const size_t total = best[text.size() & mask];
    if (!emit) return total;
    const bool small = ring_ <= 256;  // no entry is larger than 255 bytes
    out.resize(out.size() + total);
    size_t slot = out.size();
    for (size_t to = text.size(); to > 0;) {
      if (last[to] != Trie::kRoot) {
        out[--slot] = trie.longest_at(last[to] >> 8);
        // With the size beside the node, the next token need not wait for this one.
        to -= small ? last[to] & 0xff : entries.sizes[out[slot]];
        continue;
      }
      do out[--slot] = kNone;
      while (!leads_char(text[--to]));
    }
    return total;
  }

  // By entry, the fewest other entries that its text can be written with.
  static Numbers parts_without(const Entries& entries) {
    Numbers all, fewest;
    for (uint32_t e = 0; e < entries.texts.size(); ++e) {
      const std::string& text = entries.texts[e];
      fewest.assign(text.size() + 1, kNone);
      fewest[0] = 0;
      for (size_t at = 0; at < text.size(); ++at) {
        uint32_t node = Trie::kRoot;
        for (size_t to = at; to < text.size() && fewest[at] != kNone;) {
          if (!entries.trie.step(node, static_cast<unsigned char>(text[to++]))) break;
          if (entries.trie.ends_at(node) && entries.trie.longest_at(node) != e)
            fewest[to] = std::min(fewest[to], fewest[at] + 1);
        }
      }
      all.push_back(is_char(text) ? static_cast<uint32_t>(text.size()) : fewest[text.size()]);
    }
    return all;
  }

 private:
  static constexpr uint32_t kNone = Entries::kNone;
  size_t ring_ = 8;  // a power of two above the size of the longest entry
};

}  // namespace supratok
