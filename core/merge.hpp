// The merge loop: joins the most frequent pair of neighbouring symbols, again and again.
//
// The traditional pass runs it over words made of characters, the multiword pass over runs made of
// words; the loop itself sees only symbols and the weights of their sequences.
//
//   sequences  l o w (5 times) · l o w e r (2 times)      pairs  lo:7 ow:7 we:2 er:2
//   join l+o   lo w (5)        · lo w e r (2)             pairs  low:7 we:2 er:2
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flat_map.hpp"
#include "limits.hpp"
#include "sequences.hpp"
#include "text.hpp"

namespace supratok {

// Asked of a pair when it first appears: log2 of its count plus the weights of its symbols must
// reach the threshold, unless its joined text is exempt. A joined symbol weighs the sum of its
// parts. (Python sets the weights so that the sum is a pointwise mutual information.)
struct Screen {
  std::vector<double> weights;  // by symbol; empty: every pair passes
  double threshold = 0;
  std::unordered_set<std::string> exempt;
};

class Merger {
 public:
  Merger(Sequences sequences, std::vector<Symbol> symbols, Limits limits, int64_t min_count,
         Screen screen = {});

  // Makes up to `count` more merges; fewer when no pair is left that was seen min_count times.
  size_t run(size_t count);

  // The merges so far, in order: joined texts, counts, and the symbols that each joined (the given
  // symbols come first, then the merges).
  Texts texts() const;
  std::vector<int64_t> counts() const;
  std::pair<std::vector<uint32_t>, std::vector<uint32_t>> parts() const;
  // How often each symbol occurs in the sequences now.
  std::vector<int64_t> usage() const;

  // How many pairs were frequent enough and allowed to join; how many of them the screen refused.
  size_t candidates() const { return candidates_; }
  size_t screened() const { return screened_; }

 private:
  static constexpr uint32_t kNone = FlatIndex::kNone;

  struct Merge {
    uint32_t left, right;
    int64_t count;
  };
  // A pair of neighbours. Invariant: once the step that made its younger symbol is over, the count
  // of a pair only falls; so pairs below min_count are dropped then, for good.
  struct Pair {
    uint32_t left, right;
    int64_t count;
    std::vector<uint32_t> places;  // its cells when it was made, ascending
  };
  struct Candidate {
    int64_t count;
    uint32_t pair;
    uint32_t bytes;  // of the joined text
  };

  // A symbol of several cells has its number in the first and the way back to it in the last: next
  // and previous need no links.
  static constexpr uint32_t kGap = Sequences::kGap;
  static constexpr uint32_t kBack = 0x80000000u;

  template <class Visit>
  void each_pair(Visit visit) const;
  void count_pairs();
  int64_t weight_at(uint32_t place, size_t& band) const;
  uint32_t next(uint32_t place) const { return place + width_[sequences_.cells[place]]; }
  uint32_t previous(uint32_t place) const {
    const uint32_t cell = sequences_.cells[place - 1];
    return cell != kGap && cell >= kBack ? place - (cell - kBack) : place - 1;
  }

  bool passes_screen(uint32_t left, uint32_t right, int64_t count);
  bool better(const Candidate& a, const Candidate& b) const;
  void push(uint32_t pair);
  Candidate pop();

  static uint64_t hash(uint32_t left, uint32_t right) { return mix(FlatCounts::pair(left, right)); }
  uint32_t find(uint32_t left, uint32_t right) const {
    return index_.find(hash(left, right), [&](uint32_t pair) {
      return pairs_[pair].left == left && pairs_[pair].right == right;
    });
  }
  uint32_t insert(Pair pair);
  void lower(uint32_t left, uint32_t right, int64_t weight);
  uint32_t add_symbol(uint32_t left, uint32_t right);
  void apply(uint32_t pair);
  void collect(uint32_t symbol);

  Limits limits_;
  int64_t min_count_;
  Screen screen_;
  size_t candidates_ = 0, screened_ = 0;
  std::vector<Symbol> symbols_;
  std::vector<Merge> merges_;
  std::vector<uint32_t> width_;  // of each symbol, in cells
  Sequences sequences_;
  std::vector<uint32_t> first_band_;  // by block of cells

  std::vector<Pair> pairs_;
  FlatIndex index_;  // of pairs_
  std::vector<Candidate> heap_;

  // New pairs of one step, by neighbour: their weights and places.
  struct Fresh {
    std::vector<int64_t> weight;
    std::vector<char> seen;
    std::vector<uint32_t> touched;
    struct Entry {
      uint32_t neighbour, place;
    };
    std::vector<Entry> entries;
    void add(uint32_t neighbour, int64_t by) {
      if (!std::exchange(seen[neighbour], true)) touched.push_back(neighbour);
      weight[neighbour] += by;
    }
  };
  Fresh lefts_, rights_;            // (neighbour, new) and (new, neighbour)
  std::vector<uint32_t> new_pair_;  // by neighbour, while a step's pairs are collected
};

}  // namespace supratok
