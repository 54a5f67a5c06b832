// All entries that begin at each place of a text.
#pragma once

#include <cstring>

#include "entries.hpp"

namespace supratok {

// A block of a text, and the entries that begin at its places.
class Matches {
 public:
  static constexpr size_t kPlaces = 512;  // of a block, at most: a power of two
  static constexpr size_t kLongest = 64;  // bytes of an entry that a mask holds

  // By two bytes: the link of their node, and 1 | 2 if entries of one and two bytes end there.
  static std::vector<uint32_t> pairs_of(const Trie& trie) {
    std::vector<uint32_t> pairs(1 << 16);
    for (uint32_t first = 0; first < 256; ++first) {
      const uint32_t one = trie.link(Trie::child(trie.link(Trie::kRoot), first));
      if (!is_child(one, first)) continue;
      for (uint32_t second = 0; second < 256; ++second) {
        const uint32_t two = trie.link(Trie::child(one, second));
        uint32_t& pair = pairs[first << 8 | second];
        pair = ends(one);
        if (is_child(two, second)) pair |= ends(two) << 1 | (two & ~kPlace);
      }
    }
    return pairs;
  }

  Matches(const Trie& trie, const std::vector<uint32_t>& pairs)
      : trie_(trie), pairs_(pairs), scratch_(kPlaces * kLongest), nodes_(scratch_.values.data()) {}

  // Finds the entries that begin at the first places of a text, and returns how many places. All
  // walks step at once, so that none waits for another, and one that ends makes room for the next
  // without a branch.
  size_t find(std::string_view text) {
    const size_t count = std::min(kPlaces, text.size());
    const size_t seen = std::min(count + kLongest, text.size());
    std::memcpy(bytes_.data(), text.data(), seen);
    std::memset(&bytes_[seen], 0xff, bytes_.size() - seen);  // in no entry
    std::array<uint32_t, kPlaces> walks;                     // a link, and in its low bits a place
    size_t live = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t pair = pairs_[bytes_[i] << 8 | bytes_[i + 1]], byte = bytes_[i + 2];
      const uint32_t node = Trie::child(pair, byte), link = trie_.link(node);
      const bool found = is_child(link, byte);
      masks_[i] = (pair & 3) | static_cast<uint64_t>(found & ends(link)) << 2;
      nodes_[2 * kPlaces + i] = node;
      walks[live] = (link & ~kPlace) | i;
      live += found & (link > kPlace);
    }
    for (size_t depth = 3; live; ++depth) {
      const unsigned char* const next = &bytes_[depth];
      uint32_t* const nodes = nodes_ + depth * kPlaces;
      size_t left = 0;
      for (size_t walk = 0; walk < live; ++walk) {
        const uint32_t place = walks[walk] & kPlace, byte = next[place];
        const uint32_t node = Trie::child(walks[walk], byte), link = trie_.link(node);
        const bool found = is_child(link, byte);
        masks_[place] |= static_cast<uint64_t>(found & ends(link)) << depth;
        nodes[place] = node;
        walks[left] = (link & ~kPlace) | place;
        left += found & (link > kPlace);
      }
      live = left;
    }
    return count;
  }

  unsigned char byte(size_t place) const { return bytes_[place]; }
  // Bit n - 1: an entry of n bytes begins at the place.
  const uint64_t* masks() const { return masks_.data(); }
  // One of them.
  uint32_t entry(size_t place, size_t size) const {
    if (size > 2) return trie_.longest_at(nodes_[(size - 1) * kPlaces + place]);
    const uint32_t one = Trie::child(trie_.link(Trie::kRoot), bytes_[place]);
    if (size == 2) return trie_.longest_at(Trie::child(trie_.link(one), bytes_[place + 1]));
    return trie_.longest_at(one);
  }

 private:
  static constexpr uint32_t kPlace = kPlaces - 1;
  static bool is_child(uint32_t link, uint32_t byte) { return (link & 0xff) == byte; }
  static uint32_t ends(uint32_t link) { return link >> 8 & 1; }

  const Trie& trie_;
  const std::vector<uint32_t>& pairs_;
  std::array<unsigned char, kPlaces + kLongest + 2> bytes_;
  std::array<uint64_t, kPlaces> masks_;
  Scratch<uint32_t, 1> scratch_;
  uint32_t* const nodes_;  // by size of an entry, from 1, and place
};

}  // namespace supratok
