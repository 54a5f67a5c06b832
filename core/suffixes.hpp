// All entries that a text ends with, and all that it ends in the middle of, as the text grows.
//
// A node of the trie of the entries stands for a text that some entry begins with. The state of a
// text is the longest of its ends that is a node; its `shorter` node is the longest but one, and so
// on down to the root, the empty end. So the chain of shorter nodes is every end of the text that
// an entry begins with, and the entries among them are all that the text ends with. Another byte
// makes each end longer or ends it: the next state is the child by that byte of the first node of
// the chain that has one. A step down the chain undoes one earlier step to a child, so a text of n
// bytes takes at most 2n steps. (This is Aho and Corasick's machine.)
#pragma once

#include "entries.hpp"

namespace supratok {

class Suffixes {
 public:
  static constexpr uint32_t kNone = Trie::kNone, kRoot = Trie::kRoot;

  // Of the entries for which keeps(entry) holds.
  template <class Keeps>
  Suffixes(const Entries& entries, Keeps keeps) : shorter_(entries.texts.size()) {
    const Texts texts(entries.texts.begin(), entries.texts.end());
    order_ = Trie::sorted(texts);
    std::erase_if(order_, [&](uint32_t e) { return !keeps(e); });
    const Trie trie(texts, Counts(texts.size(), 1), order_);
    nodes_.resize(trie.slots());
    noted_.resize(trie.slots(), kNone);
    sizes_.resize(trie.slots());
    longest_.resize(trie.slots());
    for (uint32_t node = 0; node < nodes_.size(); ++node) nodes_[node].link = trie.link(node);
    for (size_t i = 0; i < order_.size(); ++i) {
      const std::string_view text = texts[order_[i]], before = i ? texts[order_[i - 1]] : "";
      const auto differ = std::mismatch(before.begin(), before.end(), text.begin(), text.end());
      shared_.push_back(static_cast<uint16_t>(differ.first - before.begin()));
      if (i % kBlock == 0) least_.push_back(shared_[i]);
      least_.back() = std::min(least_.back(), shared_[i]);
    }
    link(texts, trie);
  }

  // The state after one more byte.
  uint32_t next(uint32_t state, char byte) const {
    const auto label = static_cast<unsigned char>(byte);
    while (true) {  // two nodes at a time: the processor reads the second while it waits
      const Node longer = nodes_[state], shorter = nodes_[longer.shorter];
      const uint32_t one = Trie::child(longer.link, label), two = Trie::child(shorter.link, label);
      if ((nodes_[one].link & 0xff) == label) return one;
      if ((nodes_[two].link & 0xff) == label) return two;
      if (longer.shorter == kRoot) return kRoot;
      state = shorter.shorter;
    }
  }
  uint32_t shorter(uint32_t node) const { return nodes_[node].shorter; }
  size_t size(uint32_t node) const { return sizes_[node]; }  // in bytes
  // Whether an entry begins with the node and is longer.
  bool goes_on(uint32_t node) const { return nodes_[node].link >> 9; }
  struct Ending {
    uint32_t entry = kNone;  // or none
    uint16_t bytes = 0;      // its size
  };
  // The longest entry that a text of this state ends with; the next shorter one that an entry ends
  // with.
  Ending longest(uint32_t state) const { return longest_[state]; }
  Ending shorter_than(uint32_t entry) const { return shorter_[entry]; }
  // What the text of a node says about the last token of a text in this state: it is `entry`, of so
  // many bytes, if the token that ends so many bytes `back` has `before` bytes. `longest`: no
  // longer entry ends here. The sizes are a shape, of which there are few: each step reads its
  // number.
  struct Shape {
    uint16_t bytes = 0, back = 0, before = 1;  // at first as no text is: no token ends here yet
    bool longest = false;
    bool operator==(const Shape&) const = default;
  };
  Shape shape(uint32_t state) const { return shapes_[nodes_[state].shape]; }
  uint32_t noted(uint32_t state) const { return noted_[state]; }  // the entry
  void note(uint32_t state, uint32_t entry, Shape shape) {
    const auto known = std::find(shapes_.begin(), shapes_.end(), shape);
    const bool fits = known != shapes_.end() || shapes_.size() < kMostShapes;
    noted_[state] = entry;
    nodes_[state].shape = fits ? static_cast<uint32_t>(known - shapes_.begin()) : 0;
    if (fits && known == shapes_.end()) shapes_.push_back(shape);
  }
  // The longest entry that the text of each node ends with, whatever is before it.
  void note_longest() {
    for (uint32_t node = 0; node < nodes_.size(); breathe(++node))
      if (const auto [entry, bytes] = longest_[node]; bytes) note(node, entry, {bytes, 0, 0, true});
  }

  // The entries in the order of their bytes, and how many bytes each shares with the one before.
  const Numbers& order() const { return order_; }
  const std::vector<uint16_t>& shared() const { return shared_; }
  // Behind a place in that order, the first entry that does not begin with the same `size` bytes.
  size_t end_of_same(size_t place, size_t size) const {
    for (++place; place < shared_.size();) {
      if (place % kBlock == 0 && least_[place / kBlock] >= size)
        place += kBlock;
      else if (shared_[place] >= size)
        ++place;
      else
        return place;
    }
    return shared_.size();
  }
  // The places in that order of the entries that begin with a text; one that equals it is the
  // first.
  std::pair<size_t, size_t> beginning_with(const Entries& entries, std::string_view text) const {
    const auto head = [&](uint32_t e) {
      return std::string_view(entries.texts[e]).substr(0, text.size());
    };
    const auto first = std::partition_point(order_.begin(), order_.end(),
                                            [&](uint32_t e) { return head(e) < text; });
    const auto last =
        std::partition_point(first, order_.end(), [&](uint32_t e) { return head(e) == text; });
    return {first - order_.begin(), last - order_.begin()};
  }

 private:
  // By size, the shortest first: a node's shorter one is found from that of its parent.
  void link(const Texts& texts, const Trie& trie) {
    std::vector<std::pair<uint32_t, uint32_t>> open;  // places in the order, and the nodes reached
    for (uint32_t i = 0; i < order_.size(); ++i) open.emplace_back(i, kRoot);
    for (size_t size = 0; !open.empty(); ++size) {
      for (size_t k = 0; k < open.size(); breathe(++k)) {
        auto& [place, node] = open[k];
        if (shared_[place] > size) {  // the same node as the entry before
          node = open[k - 1].second;
          continue;
        }
        const uint32_t parent = node;
        const char byte = texts[order_[place]][size];
        trie.step(node, static_cast<unsigned char>(byte));
        if (parent != kRoot) nodes_[node].shorter = next(nodes_[parent].shorter, byte);
        sizes_[node] = static_cast<uint16_t>(size + 1);
        longest_[node] = longest_[shorter(node)];
        if (trie.ends_at(node)) {
          shorter_[trie.longest_at(node)] = longest_[node];
          longest_[node] = {trie.longest_at(node), sizes_[node]};
        }
      }
      std::erase_if(open,
                    [&](const auto& one) { return texts[order_[one.first]].size() == size + 1; });
    }
  }

  static constexpr size_t kMostShapes = 1 << 9;
  struct Node {     // small: each step waits for one
    uint32_t link;  // as in the trie
    uint32_t shorter : 23 = kRoot, shape : 9 = 0;
  };
  static_assert(TrieSlots::kMostNodes <= 1 << 23);
  Numbers order_;
  static constexpr size_t kBlock = 64;
  std::vector<uint16_t> shared_, least_;  // the least of each block
  LargeVector<Node> nodes_;
  LargeVector<uint32_t> noted_;  // by node
  std::vector<Shape> shapes_{1};
  std::vector<uint16_t> sizes_;  // by node
  LargeVector<Ending> longest_;  // by node
  std::vector<Ending> shorter_;  // by entry
};

}  // namespace supratok
