// A set of byte strings, for finding all of them that begin at a place in a text.
//
// A double-array trie: the child of node n by byte c is at base(n) ^ c, if the label there is c.
// No two nodes share a base, so the label alone shows whose child a node is, and a step reads four
// bytes. The string that a walk found is read once, where it ended.
#pragma once

#include <bit>
#include <bitset>
#include <numeric>
#include <queue>

#include "memory.hpp"
#include "text.hpp"

namespace supratok {

// Hands out bases: the slots base ^ label must be free for all labels of a node. A base and its
// slots lie in one block of 256. Only the last few blocks are searched, so building is linear.
class TrieSlots {
 public:
  static constexpr uint32_t kMostNodes = 1 << 23;
  TrieSlots() {
    add_block();
    blocks_[0].take(0);
    blocks_[0].taken[0] = true;  // the base of leaves
  }

  uint32_t place(const std::vector<unsigned char>& labels) {
    for (size_t i = 0; i < open_.size(); ++i) {
      Block& block = blocks_[open_[i]];
      if (block.free < static_cast<int>(labels.size())) continue;
      for (uint32_t word = 0; word < 4; ++word) {
        for (uint64_t bits = block.open[word]; bits; bits &= bits - 1) {
          const uint32_t base = (word * 64 + std::countr_zero(bits)) ^ labels[0];
          if (block.taken[base]) continue;
          if (!std::all_of(labels.begin() + 1, labels.end(),
                           [&](unsigned char label) { return block.is_open(base ^ label); }))
            continue;
          block.taken[base] = true;
          for (const unsigned char label : labels) block.take(base ^ label);
          const uint32_t found = open_[i] * 256 + base;
          if (block.free < 4) open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
          return found;
        }
      }
    }
    add_block();
    return place(labels);
  }

  uint32_t size() const { return static_cast<uint32_t>(blocks_.size() * 256); }
  bool used(uint32_t slot) const { return !blocks_[slot / 256].is_open(slot % 256); }
  bool taken(uint32_t base) const { return blocks_[base / 256].taken[base % 256]; }

 private:
  struct Block {
    std::array<uint64_t, 4> open{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};  // slots
    std::bitset<256> taken;                                                                // bases
    int free = 256;

    bool is_open(uint32_t slot) const { return open[slot / 64] >> (slot % 64) & 1; }
    void take(uint32_t slot) {
      open[slot / 64] &= ~(uint64_t{1} << (slot % 64));
      --free;
    }
  };
  void add_block() {
    if (size() >= kMostNodes) throw std::length_error("the vocabulary needs too large a trie");
    if (open_.size() == 8) open_.erase(open_.begin());
    open_.push_back(static_cast<uint32_t>(blocks_.size()));
    blocks_.emplace_back();
  }

  std::vector<Block> blocks_;
  Numbers open_;
};

class Trie {
 public:
  static constexpr uint32_t kNone = 0x7fffffffu;
  static constexpr uint32_t kRoot = 0;

  Trie() = default;

  // Of the strings at these places, which are sorted. The value of a string is its place; of equal
  // ones the first counts. Strings of great weight, met often, are laid close together: the trie is
  // larger than a fast cache, so this decides its speed, and nothing else.
  Trie(const Texts& strings, const Counts& weights, const Numbers& order) {
    if (weights.size() != strings.size()) throw std::invalid_argument("as many weights as entries");
    std::string bytes;  // of the sorted strings, end to end: neighbours are read together
    std::vector<size_t> begins;
    for (const uint32_t s : order) {
      begins.push_back(bytes.size());
      bytes += strings[s];
    }
    begins.push_back(bytes.size());
    Counts weight_before{0};        // of the strings before a place in `order`
    for (const uint32_t s : order)  // capped, for the sum must not overflow
      weight_before.push_back(weight_before.back() +
                              std::clamp<int64_t>(weights[s], 0, int64_t{1} << 32));

    struct Range {  // a node, and the strings below it
      uint32_t node, begin, end, depth;
      int64_t weight;
      bool operator<(const Range& other) const { return weight < other.weight; }
    };
    TrieSlots slots;
    // The heaviest node comes next; below a node with few strings, whole branches are laid at once.
    constexpr uint32_t kFew = 16;
    std::priority_queue<Range> open;
    std::vector<Range> branch{
        {kRoot, 0, static_cast<uint32_t>(order.size()), 0, weight_before.back()}};
    std::vector<unsigned char> labels;
    Numbers starts;
    fit(slots);
    for (size_t step = 0; !branch.empty() || !open.empty(); breathe(++step)) {
      if (branch.empty()) branch.push_back(open.top()), open.pop();
      auto [node, begin, end, depth, weight] = branch.back();
      branch.pop_back();
      for (; begin < end && begins[begin + 1] - begins[begin] == depth; ++begin) {
        if (depth == 0 || ends_at(node)) continue;
        links_[node] |= 1u << 8;
        longest_[node] = order[begin];
      }
      if (begin == end) continue;  // a leaf: its base stays 0, which no other node has
      labels.clear();
      starts.clear();
      for (uint32_t i = begin; i < end; ++i) {
        const auto label = static_cast<unsigned char>(bytes[begins[i] + depth]);
        if (!labels.empty() && labels.back() == label) continue;
        labels.push_back(label);
        starts.push_back(i);
      }
      starts.push_back(end);
      const uint32_t base = slots.place(labels);
      if (slots.size() > links_.size()) fit(slots);
      links_[node] |= base << 9;
      // An only child weighs as much, so it is next.
      const bool few = end - begin <= kFew || labels.size() == 1;
      for (size_t i = 0; i < labels.size(); ++i) {
        const uint32_t child = base ^ labels[i];
        links_[child] = labels[i];
        longest_[child] = longest_[node];
        const Range next{child, starts[i], starts[i + 1], depth + 1,
                         weight_before[starts[i + 1]] - weight_before[starts[i]]};
        few ? branch.push_back(next) : open.push(next);
      }
    }
    label_unused(slots);
  }

  // The places of the strings, sorted; equal ones in order. Most differ in their first bytes.
  static Numbers sorted(const Texts& strings) {
    std::vector<std::pair<uint64_t, uint32_t>> keys;
    keys.reserve(strings.size());
    for (const std::string_view string : strings) {
      uint64_t key = 0;
      for (size_t i = 0; i < 8; ++i)
        key = key << 8 | (i < string.size() ? static_cast<unsigned char>(string[i]) : 0);
      keys.push_back({key, static_cast<uint32_t>(keys.size())});
    }
    std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      const int order = strings[a.second].compare(strings[b.second]);
      return order ? order < 0 : a.second < b.second;
    });
    Numbers places;
    for (const auto& [key, place] : keys) places.push_back(place);
    return places;
  }

  // Steps to the child of `node`; false, and nowhere, if it has none by this byte.
  bool step(uint32_t& node, unsigned char byte) const {
    const uint32_t to = (links_[node] >> 9) ^ byte;
    if ((links_[to] & 0xff) != byte) return false;
    node = to;
    return true;
  }
  // For many walks at once: the child of a link, if its label is the byte. A link is the base of a
  // node << 9 | whether a string ends there << 8 | its label; a node without children has base 0.
  uint32_t link(uint32_t node) const { return links_[node]; }
  static uint32_t child(uint32_t link, uint32_t byte) { return (link >> 9) ^ byte; }
  // Whether a string ends at the node.
  bool ends_at(uint32_t node) const { return links_[node] >> 8 & 1; }
  size_t slots() const { return links_.size(); }  // nodes are numbers below this
  // The longest string on the way to the node, or kNone.
  uint32_t longest_at(uint32_t node) const { return longest_[node]; }

 private:
  void fit(const TrieSlots& slots) {
    links_.resize(slots.size());
    longest_.resize(slots.size(), kNone);
  }

  // An unused slot (and the root) gets a label by which no node reaches it.
  void label_unused(const TrieSlots& slots) {
    for (uint32_t slot = 0; slot < slots.size(); ++slot) {
      if (slot != kRoot && slots.used(slot)) continue;
      uint32_t label = 0;
      while (label < 256 && slots.taken(slot ^ label)) ++label;
      if (label == 256) throw std::logic_error("a trie slot that every byte reaches");
      links_[slot] |= label;
    }
  }

  LargeVector<uint32_t> links_;    // base << 9 | whether a string ends here << 8 | label
  LargeVector<uint32_t> longest_;  // by node
};

}  // namespace supratok
