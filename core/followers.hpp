// Which entries may not follow one, by merges, without asking each of them.
//
// Two entries are no neighbours if, while they are made, a join across their border comes first.
// `left` is made from the right by its last joins: it, its right part, the right part of that, and
// so on are its edge; the edge of the right entry is made of left parts. Let l be in the edge of
// `left`, x in that of the right one, and let the two join to q. That join comes first if q ranks
// before the next of both edges: before the entry of which l is the right part, and not behind the
// entry c of which x is the left part (of equals the left one comes first). So, given l and q, the
// entries that may not follow are x, and those in whose edge such a c is.
//
// The edges of right entries are the paths of a forest: an entry's parent is its left part.
// Children are in the order of rank, so those from q on, and all below them, are neighbours in a
// tour of the forest. And the joins of l to its right are the children of l. Without ties.
#pragma once

#include <span>

#include "merges.hpp"

namespace supratok {

class Followers {
 public:
  static constexpr uint32_t kNone = Entries::kNone;

  // It keeps the reference.
  explicit Followers(const Merges& merges) : merges_(merges), starts_(merges.pieces.size() + 2) {
    const auto size = static_cast<uint32_t>(merges.pieces.size());
    for (const Merges::Piece& piece : merges.pieces)
      if (piece.left != kNone) ++starts_[piece.left + 2];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    children_.resize(starts_.back());
    for (uint32_t e = 0; e < size; ++e)
      if (merges.pieces[e].left != kNone) children_[starts_[merges.pieces[e].left + 1]++] = e;
    // Parents come before their children in rank: sizes from the last on, places from the first.
    Numbers sizes(size, 1);
    for (uint32_t e = size; e-- > 0;)
      if (merges.pieces[e].left != kNone) sizes[merges.pieces[e].left] += sizes[e];
    places_.resize(size);
    tour_.resize(size);
    uint32_t free = 0;
    for (uint32_t e = 0; e < size; breathe(++e)) {
      if (merges.pieces[e].left == kNone) places_[e] = std::exchange(free, free + sizes[e]);
      uint32_t place = places_[e];
      tour_[place++] = e;
      for (const uint32_t child : children(e))
        places_[child] = std::exchange(place, place + sizes[child]);
    }
    ends_.resize(size);
    for (uint32_t e = 0; e < size; ++e) ends_[e] = places_[e] + sizes[e];
  }

  // Calls visit(entry) for those that may not follow `left`, for some more than once.
  template <class Visit>
  void each_excluded(uint32_t left, Visit visit) const {
    for (uint32_t next = kNone; left != kNone; next = left, left = merges_.pieces[left].right)
      for (const uint32_t q : children(left)) {
        if (q >= next) break;
        const uint32_t x = merges_.pieces[q].right;
        visit(x);
        const std::span<const uint32_t> above = children(x);
        const auto c = std::lower_bound(above.begin(), above.end(), q);
        if (c == above.end()) continue;
        for (uint32_t place = places_[*c]; place < ends_[x]; ++place) visit(tour_[place]);
      }
  }

 private:
  std::span<const uint32_t> children(uint32_t entry) const {
    return {children_.data() + starts_[entry], starts_[entry + 1] - starts_[entry]};
  }

  const Merges& merges_;
  Numbers starts_, children_;     // by entry, those of which it is the left part
  Numbers tour_, places_, ends_;  // the forest from left to right; by entry, its place and its end
};

}  // namespace supratok
