// The fewest rule: the fewest tokens; among equals the one whose last token is longest, for every
// prefix of the text. In linear time.
#pragma once

#include "entries.hpp"

namespace supratok {

class Fewest {
 public:
  explicit Fewest(const Entries& entries) {
    std::vector<bool> alphabet(kCodePoints);
    for (const std::string& text : entries.texts) {
      while (ring_ <= text.size()) ring_ *= 2;
      if (is_char(text)) alphabet[decode_char(text.data())] = true;  // these come first
      each_char(text, [&](uint32_t code) { complete_ = complete_ && alphabet[code]; });
    }
  }

  // Returns the number of tokens; appends them, if asked to `emit` them: entries, and kNone for
  // each byte of a character outside the alphabet.
  size_t encode(const Entries& entries, std::string_view text, bool emit, Numbers& out) const {
    const Trie& trie = entries.trie;
    Scratch<uint32_t, 1> scratch(text.size() + 1);
    uint32_t* const last = scratch.values.data();
    const size_t total =
        complete_ ? search<true>(trie, text, last) : search<false>(trie, text, last);
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

  // By entry, the fewest other entries and bytes that its text can be written with.
  static Numbers parts_without(const Entries& entries) {
    Numbers all, fewest;
    for (uint32_t e = 0; e < entries.texts.size(); ++e) {
      breathe(e);
      const std::string& text = entries.texts[e];
      fewest.assign(text.size() + 1, kNone);
      fewest[0] = 0;
      for (size_t at = 0; at < text.size(); ++at) {
        if (!leads_char(text[at])) continue;
        const size_t next = at + char_bytes(text[at]);
        fewest[next] = std::min<uint32_t>(fewest[next], fewest[at] + (next - at));
        uint32_t node = Trie::kRoot;
        for (size_t to = at; to < text.size();) {
          if (!entries.trie.step(node, static_cast<unsigned char>(text[to++]))) break;
          if (entries.trie.ends_at(node) && entries.trie.longest_at(node) != e)
            fewest[to] = std::min(fewest[to], fewest[at] + 1);
        }
      }
      all.push_back(fewest.back());
    }
    return all;
  }

 private:
  static constexpr uint32_t kNone = Entries::kNone;

  // The fewest tokens up to a place are needed only as far ahead as the longest entry reaches: a
  // small ring of counts. The last of those tokens is kept for every place, as its node << 8 | its
  // size. Branch-free where prediction would fail: whether an entry ends at a byte, and is better.
  template <bool kComplete>
  size_t search(const Trie& trie, std::string_view text, uint32_t* last) const {
    const size_t mask = ring_ - 1;
    Scratch<uint32_t, 0> counts(ring_);
    uint32_t* const best = counts.values.data();
    std::fill_n(best, ring_, kNone);
    best[0] = 0;
    for (size_t at = 0, pause = kPause; at < text.size(); ++at) {
      const uint32_t count = std::exchange(best[at & mask], kNone);
      if (count == kNone) continue;  // inside a character
      bool found = false;
      uint32_t node = Trie::kRoot;
      for (size_t to = at; to < text.size();) {
        if (!trie.step(node, static_cast<unsigned char>(text[to++]))) break;
        const bool ends = trie.ends_at(node);
        found |= kComplete ? ends : ends && to == at + char_bytes(text[at]);
        // Starts come in order, so of equals the longest last token stays.
        uint32_t& old = best[to & mask];
        const bool better = ends & (count + 1 < old);
        old = better ? count + 1 : old;
        last[to] = better ? node << 8 | static_cast<uint32_t>(to - at) % 256 : last[to];
      }
      if (!found) {  // a character outside the alphabet: its bytes
        const size_t next = at + char_bytes(text[at]);
        const uint32_t all = count + static_cast<uint32_t>(next - at);
        if (!kComplete && best[next & mask] <= all) continue;  // an entry ends there
        best[next & mask] = all;
        last[next] = Trie::kRoot;
      }
      if (at >= pause) breathe(), pause += kPause;
    }
    return best[text.size() & mask];
  }

  static constexpr size_t kPause = 1 << 14;
  size_t ring_ = 8;       // a power of two above the size of the longest entry
  bool complete_ = true;  // all characters of the entries are in the alphabet
};

}  // namespace supratok
