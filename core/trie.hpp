// A set of byte strings, for finding all of them that begin at a place in a text.
//
// A double-array trie: the child of node n by byte c is at base(n) ^ c, if the label there is c.
// No two nodes share a base, so the label alone shows whose child a slot is, and a node takes
// eight bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace supratok {

class Trie {
 public:
  static constexpr uint32_t kNone = 0x7fffffffu;

  // The value of a string is its place in `strings`; of equal strings the first counts, and an
  // empty one is left out. Strings of great weight, met often, are laid close together: the trie
  // is larger than a fast cache, so this decides its speed, and nothing else.
  Trie(const std::vector<std::string_view>& strings, const std::vector<int64_t>& weights);

  struct Node {
    uint32_t link;   // base << 8 | label
    uint32_t match;  // the longest string on the way here, with kHere if it ends here

    uint32_t longest() const { return match & kNone; }
    bool ends_here() const { return match & kHere; }
  };

  const Node* root() const { return nodes_.data(); }
  // The child of `node`, or null.
  const Node* child(const Node* node, unsigned char byte) const {
    const Node* to = nodes_.data() + ((node->link >> 8) ^ byte);
    return (to->link & 0xff) == byte ? to : nullptr;
  }
  uint32_t find(std::string_view text) const;

 private:
  static constexpr uint32_t kHere = 0x80000000u;
  std::vector<Node> nodes_;
};

}  // namespace supratok
