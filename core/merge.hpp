// The merge loop: joins the most frequent pair of neighbouring symbols, again and again.
//
// The traditional pass runs it over words made of characters, the multiword pass over runs made of
// words; the loop itself sees only symbols and the weights of their sequences.
//
//   sequences  l o w (5 times) · l o w e r (2 times)      pairs  lo:7 ow:7 we:2 er:2
//   join l+o   lo w (5)        · lo w e r (2)             pairs  low:7 we:2 er:2
//
// Several threads count the pairs, and share the places of a frequent pair. No result depends on
// their number: the order of merges is total.
#pragma once

#include <cmath>

#include "cells.hpp"
#include "crew.hpp"
#include "limits.hpp"

namespace supratok {

// Asked of a pair when it first appears: log2 of its count plus the weights of its symbols must
// reach the threshold, unless its joined text is exempt. A joined symbol weighs the sum of its
// parts. (Python sets the weights so that the sum is a pointwise mutual information.)
struct Screen {
  std::vector<double> weights;  // by symbol; empty: every pair passes
  double threshold = 0;
  std::unordered_set<std::string> exempt;
};

// How many threads work, and how many places of a pair are worth a thread.
struct Work {
  size_t threads, share;
};

class Merger {
 public:
  Merger(Sequences sequences, std::vector<Symbol> symbols, Limits limits, int64_t min_count,
         Screen screen, Work work)
      : limits_(std::move(limits)), min_count_(min_count), screen_(std::move(screen)), work_(work),
        symbols_(std::move(symbols)), cells_(std::move(sequences), symbols_.size()) {
    if (!screen_.weights.empty() && screen_.weights.size() != symbols_.size())
      throw std::invalid_argument("as many weights as symbols");
    count_pairs();
  }

  // Over the characters of words, or over runs of words, by their places in these lists.
  static Merger over_characters(Sequences words, const Numbers& alphabet, const Limits& limits,
                                int64_t min_count, Work work) {
    std::vector<Symbol> symbols;
    for (const uint32_t code : alphabet) symbols.push_back(Symbol::character(code));
    return Merger(std::move(words), std::move(symbols), limits, min_count, {}, work);
  }
  static Merger over_words(Sequences runs, const std::vector<std::string>& words, bool by_class,
                           const Limits& limits, int64_t min_count, Screen screen, Work work) {
    std::vector<Symbol> symbols;
    for (const std::string& text : words) symbols.push_back(Symbol::word(text, by_class));
    return Merger(std::move(runs), std::move(symbols), limits, min_count, std::move(screen), work);
  }

  // Makes up to `count` more merges; fewer when no pair is left that was seen min_count times.
  // It may be stopped between two merges. If memory runs out within one, there are no more.
  size_t run(size_t count) {
    Crew crew(std::min(work_.threads, kMostInStep));
    size_t done = 0;
    while (done < count && !heap_.empty()) {
      const Candidate top = pop();
      const int64_t now = pairs_[top.pair].count;
      if (now < min_count_) continue;
      if (now == top.count) {
        try {
          apply(top.pair, crew);
        } catch (...) {
          heap_.clear();
          throw;
        }
        if (++done % 4 == 0) breathe();
      } else {  // it fell since it was pushed
        push(top.pair);
      }
    }
    return done;
  }

  // The merges so far, in order: joined texts, counts, and the symbols that each joined (the given
  // symbols come first, then the merges).
  Texts texts() const {
    Texts all;
    for (size_t i = symbols_.size() - counts_.size(); i < symbols_.size(); ++i)
      all.push_back(symbols_[i].text);
    return all;
  }
  const Counts& counts() const { return counts_; }
  const std::pair<Numbers, Numbers>& parts() const { return parts_; }

  // How often each symbol occurs in the sequences now.
  Counts usage() const { return cells_.usage(threads_for(cells_.size())); }

  // How many pairs were frequent enough and allowed to join; how many of them the screen refused.
  size_t candidates() const { return candidates_; }
  size_t screened() const { return screened_; }

 private:
  // A pair of neighbours. Invariant: once the step that made its younger symbol is over, the count
  // of a pair only falls; so pairs below min_count are dropped then, for good.
  struct Pair {
    uint32_t left, right;
    int64_t count;
  };
  struct Candidate {
    int64_t count;
    uint32_t pair;
    uint32_t bytes;  // of the joined text
    uint64_t start;  // its first eight bytes
  };
  static constexpr uint32_t kNone = FlatIndex::kNone;

  // --- Pairs
  static uint64_t hash_of(uint32_t left, uint32_t right) {
    return mix(FlatCounts::pair(left, right));
  }
  uint32_t find(uint32_t left, uint32_t right) const {
    return index_.find(hash_of(left, right), [&](uint32_t pair) {
      return pairs_[pair].left == left && pairs_[pair].right == right;
    });
  }
  uint32_t insert(uint32_t left, uint32_t right, int64_t count, std::span<uint32_t> places) {
    const auto number = static_cast<uint32_t>(pairs_.size());
    index_.add(hash_of(left, right), number);
    pairs_.push_back({left, right, count});
    places_.push_back(places);
    return number;
  }
  void lower(uint32_t left, uint32_t right, int64_t weight) {
    const uint32_t found = find(left, right);
    if (found != kNone) pairs_[found].count -= weight;
  }

  // Whether a new pair is frequent enough, within the limits, and passes the screen.
  bool may_join(uint32_t left, uint32_t right, int64_t count) {
    if (count < min_count_ || !limits_.allow(symbols_[left], symbols_[right])) return false;
    ++candidates_;
    const auto& weights = screen_.weights;
    const bool passes = weights.empty() ||
                        std::log2(static_cast<double>(count)) + weights[left] + weights[right] >=
                            screen_.threshold ||
                        screen_.exempt.contains(symbols_[left].text + symbols_[right].text);
    screened_ += !passes;
    return passes;
  }

  // Higher count, then shorter text, then code points (UTF-8 sorts like them), then shorter left
  // part, then the older symbols (two of them may have the same text).
  bool better(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) return a.count > b.count;
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    if (a.start != b.start) return a.start < b.start;
    const Pair &x = pairs_[a.pair], &y = pairs_[b.pair];
    const std::string_view xl = symbols_[x.left].text, yl = symbols_[y.left].text;
    if (xl.size() > yl.size()) return !better(b, a);
    // xl is the shorter left part: compare it with the start of yl, then xr with the rest.
    const std::string_view xr = symbols_[x.right].text, yr = symbols_[y.right].text;
    const size_t middle = yl.size() - xl.size();
    if (const int order = xl.compare(yl.substr(0, xl.size()))) return order < 0;
    if (const int order = xr.substr(0, middle).compare(yl.substr(xl.size()))) return order < 0;
    if (const int order = xr.substr(middle).compare(yr)) return order < 0;
    if (middle > 0) return true;
    return x.left != y.left ? x.left < y.left : x.right < y.right;
  }
  auto heap_order() const {
    return [this](const Candidate& a, const Candidate& b) { return better(b, a); };
  }
  Candidate candidate(uint32_t pair) const {
    const Pair& p = pairs_[pair];
    const std::string_view left = symbols_[p.left].text, right = symbols_[p.right].text;
    uint64_t start = 0;
    for (size_t i = 0; i < 8; ++i) {
      const size_t behind = i - left.size();
      const char byte = i < left.size() ? left[i] : behind < right.size() ? right[behind] : 0;
      start = start << 8 | static_cast<unsigned char>(byte);
    }
    return {p.count, pair, static_cast<uint32_t>(left.size() + right.size()), start};
  }
  void push(uint32_t pair) {
    heap_.push_back(candidate(pair));
    std::push_heap(heap_.begin(), heap_.end(), heap_order());
  }
  Candidate pop() {
    std::pop_heap(heap_.begin(), heap_.end(), heap_order());
    const Candidate top = heap_.back();
    heap_.pop_back();
    return top;
  }

  // Measured with 16 cores: more threads wait longer for each other than they save.
  static constexpr size_t kMostInStep = 4;
  size_t threads_for(size_t cells) const {
    return std::clamp<size_t>(cells / (work_.share * 64), 1, work_.threads);
  }

  // Counts all pairs, then keeps the places of those that are frequent enough.
  void count_pairs() {
    Pairs pairs(cells_.sequences(), threads_for(cells_.size()));
    const std::span<uint32_t> places = numbers_.take(cells_.size());
    uint32_t taken = 0;
    pairs.each([&](uint32_t left, uint32_t right, int64_t count, uint32_t size) {
      if (!may_join(left, right, count)) return kNone;
      insert(left, right, count, places.subspan(taken, size));
      return std::exchange(taken, taken + size);
    });
    pairs.write_places(places);
    for (uint32_t p = 0; p < pairs_.size(); ++p) heap_.push_back(candidate(p));
    std::make_heap(heap_.begin(), heap_.end(), heap_order());
  }

  // --- A step

  uint32_t add_symbol(uint32_t left, uint32_t right) {
    symbols_.push_back(symbols_[left].joined(symbols_[right]));
    cells_.add_symbol(left, right);
    parts_.first.push_back(left);
    parts_.second.push_back(right);
    auto& weights = screen_.weights;
    if (!weights.empty()) weights.push_back(weights[left] + weights[right]);
    return static_cast<uint32_t>(symbols_.size() - 1);
  }

  void apply(uint32_t pair, Crew& crew) {
    const uint32_t a = pairs_[pair].left, b = pairs_[pair].right;
    const std::span<const uint32_t> places = places_[pair];
    const uint32_t joined = add_symbol(a, b);
    counts_.push_back(std::exchange(pairs_[pair].count, 0));
    const size_t wanted =
        std::clamp<size_t>(places.size() / work_.share, 1, std::min(work_.threads, kMostInStep));
    const std::vector<size_t> cuts = cells_.cut(places, wanted);
    const size_t parts = cuts.size() - 1;
    if (steps_.size() < parts) steps_.resize(parts);
    // 1. Join the pair wherever it is.
    crew.run(parts, [&](size_t p) {
      cells_.join(a, b, joined, places.subspan(cuts[p], cuts[p + 1] - cuts[p]), steps_[p]);
    });
    Step& all = steps_[0];
    for (size_t p = 1; p < parts; ++p) {
      all.lefts.add(steps_[p].lefts);
      all.rights.add(steps_[p].rights);
      all.twice += steps_[p].twice;
    }
    // 2. The neighbours gain pairs with the whole, and lose as much of their pairs with the halves.
    if (all.twice) lower(b, a, all.twice);
    const auto first = static_cast<uint32_t>(pairs_.size());
    constexpr size_t kAhead = 8;
    const auto& lefts = all.lefts.touched;
    for (size_t i = 0; i < lefts.size(); ++i) {
      if (i + kAhead < lefts.size()) index_.prefetch(hash_of(lefts[i + kAhead], a));
      const uint32_t n = lefts[i];
      Gain& gain = all.lefts.gains[n];
      if (n != joined) lower(n, a, gain.weight);
      collect(n, joined, gain);
    }
    const auto& rights = all.rights.touched;
    for (size_t i = 0; i < rights.size(); ++i) {
      if (i + kAhead < rights.size()) index_.prefetch(hash_of(b, rights[i + kAhead]));
      const uint32_t n = rights[i];
      Gain& gain = all.rights.gains[n];
      lower(b, n, gain.weight);
      collect(joined, n, gain);
    }
    crew.run(parts, [&](size_t p) {
      place(steps_[p].lefts, all.lefts);
      place(steps_[p].rights, all.rights);
    });
    for (size_t p = 0; p < parts; ++p) {
      steps_[p].twice = 0;
      for (Gains* gains : {&steps_[p].lefts, &steps_[p].rights}) gains->clear();
    }
    for (uint32_t p = first; p < pairs_.size(); ++p) push(p);
  }

  // Makes a pair of the step's new neighbours, if frequent enough and allowed to join.
  void collect(uint32_t left, uint32_t right, Gain& gain) {
    if (may_join(left, right, gain.weight))
      gain.pair = insert(left, right, gain.weight, numbers_.take(gain.places));
  }

  // Gives the new pairs their places.
  void place(Gains& part, const Gains& all) {
    for (const auto& [neighbour, place] : part.places) {
      const uint32_t pair = all.gains[neighbour].pair;
      if (pair != kNone) places_[pair][part.gains[neighbour].at++] = place;
    }
  }

  Limits limits_;
  int64_t min_count_;
  Screen screen_;
  Work work_;
  size_t candidates_ = 0, screened_ = 0;
  std::vector<Symbol> symbols_;
  Counts counts_;  // of the merges
  std::pair<Numbers, Numbers> parts_;
  Cells cells_;
  std::vector<Pair> pairs_;
  std::vector<std::span<uint32_t>> places_;  // of each pair: its cells when it was made, ascending
  NumberBlocks numbers_;                     // that hold the places
  FlatIndex index_;                          // of pairs_
  std::vector<Candidate> heap_;
  std::vector<Step> steps_;  // empty between steps
};

}  // namespace supratok
