// A set of byte strings, for finding all of them that begin at a place in a text.
//
// A double-array trie: the child of node n by byte c is at base(n) ^ c, if the label there is c.
// No two nodes share a base, so the label alone shows whose child a node is, and a step reads four
// bytes. What a walk found is read once, where it ended.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "memory.hpp"

namespace supratok {

class Trie {
 public:
  static constexpr uint32_t kNone = 0x7fffffffu;
  static constexpr uint32_t kRoot = 0;

  // The value of a string is its place in `strings`; of equal strings the first counts, and an
  // empty one is left out. Strings of great weight, met often, are laid close together: the trie
  // is larger than a fast cache, so this decides its speed, and nothing else.
  Trie(const std::vector<std::string_view>& strings, const std::vector<int64_t>& weights);

  // Steps to the child of `node`; false, and nowhere, if it has none by this byte.
  bool step(uint32_t& node, unsigned char byte) const {
    const uint32_t to = (links_[node] >> 9) ^ byte;
    if ((links_[to] & 0xff) != byte) return false;
    node = to;
    return true;
  }
  // Whether a string ends at the node.
  bool ends_at(uint32_t node) const { return links_[node] >> 8 & 1; }
  // The longest string on the way to the node, or kNone.
  uint32_t longest_at(uint32_t node) const { return longest_[node]; }

  uint32_t find(std::string_view text) const;

 private:
  LargeVector<uint32_t> links_;    // base << 9 | whether a string ends here << 8 | label
  LargeVector<uint32_t> longest_;  // by node
};

}  // namespace supratok
