// The merge loop: joins the most frequent pair of neighbouring symbols, again and again.
//
// The traditional pass runs it over words made of characters, the multiword pass over runs made of
// words; the loop itself sees only symbols and the weights of their sequences.
//
//   sequences  l o w (5 times) · l o w e r (2 times)      pairs  lo:7 ow:7 we:2 er:2
//   join l+o   lo w (5)        · lo w e r (2)             pairs  low:7 we:2 er:2
#pragma once

#include <cmath>

#include "limits.hpp"
#include "sequences.hpp"

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
         Screen screen)
      : limits_(std::move(limits)), min_count_(min_count), screen_(std::move(screen)),
        symbols_(std::move(symbols)), width_(symbols_.size(), 1), sequences_(std::move(sequences)) {
    for (const uint32_t cell : sequences_.cells)
      if (cell != kGap && cell >= symbols_.size())
        throw std::invalid_argument("a sequence holds a symbol that is not given");
    if (!screen_.weights.empty() && screen_.weights.size() != symbols_.size())
      throw std::invalid_argument("as many weights as symbols");
    const auto& bands = sequences_.bands;
    for (size_t band = 0, start = 0; start < sequences_.cells.size(); start += kBlock) {
      while (band + 1 < bands.size() && bands[band + 1].start <= start) ++band;
      first_band_.push_back(static_cast<uint32_t>(band));
    }
    count_pairs();
  }

  // Over the characters of words, or over runs of words, by their places in these lists.
  static Merger over_characters(Sequences words, const Numbers& alphabet, const Limits& limits,
                                int64_t min_count) {
    std::vector<Symbol> symbols;
    for (const uint32_t code : alphabet) symbols.push_back(Symbol::character(code));
    return Merger(std::move(words), std::move(symbols), limits, min_count, {});
  }
  static Merger over_words(Sequences runs, const std::vector<std::string>& words, bool by_class,
                           const Limits& limits, int64_t min_count, Screen screen) {
    std::vector<Symbol> symbols;
    for (const std::string& text : words) symbols.push_back(Symbol::word(text, by_class));
    return Merger(std::move(runs), std::move(symbols), limits, min_count, std::move(screen));
  }

  // Makes up to `count` more merges; fewer when no pair is left that was seen min_count times.
  // It may be stopped between two merges. If memory runs out within one, there are no more.
  size_t run(size_t count) {
    size_t done = 0;
    while (done < count && !heap_.empty()) {
      const Candidate top = pop();
      const int64_t now = pairs_[top.pair].count;
      if (now < min_count_) continue;
      if (now == top.count) {
        try {
          apply(top.pair);
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
  Counts usage() const {
    Counts uses(symbols_.size());
    sequences_.each_band([&](size_t start, size_t end, int64_t weight) {
      for (size_t i = start; i < end; ++i)
        if (const uint32_t cell = sequences_.cells[i]; cell < kBack) uses[cell] += weight;
    });
    return uses;
  }

  // How many pairs were frequent enough and allowed to join; how many of them the screen refused.
  size_t candidates() const { return candidates_; }
  size_t screened() const { return screened_; }

 private:
  // A pair of neighbours. Invariant: once the step that made its younger symbol is over, the count
  // of a pair only falls; so pairs below min_count are dropped then, for good.
  struct Pair {
    uint32_t left, right;
    int64_t count;
    Numbers places;  // its cells when it was made, ascending
  };
  struct Candidate {
    int64_t count;
    uint32_t pair;
    uint32_t bytes;  // of the joined text
  };
  static constexpr uint32_t kNone = FlatIndex::kNone;

  // --- Pairs
  uint32_t find(uint32_t left, uint32_t right) const {
    return index_.find(mix(FlatCounts::pair(left, right)), [&](uint32_t pair) {
      return pairs_[pair].left == left && pairs_[pair].right == right;
    });
  }
  uint32_t insert(uint32_t left, uint32_t right, int64_t count) {
    const auto number = static_cast<uint32_t>(pairs_.size());
    index_.add(mix(FlatCounts::pair(left, right)), number);
    pairs_.push_back({left, right, count, {}});
    return number;
  }
  void lower(uint32_t left, uint32_t right, int64_t weight) {
    const uint32_t found = find(left, right);
    if (found == kNone) return;
    Pair& pair = pairs_[found];
    pair.count -= weight;
    if (pair.count < min_count_) Numbers().swap(pair.places);
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
  // part.
  bool better(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) return a.count > b.count;
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    const Pair &x = pairs_[a.pair], &y = pairs_[b.pair];
    const std::string_view xl = symbols_[x.left].text, yl = symbols_[y.left].text;
    if (xl.size() > yl.size()) return !better(b, a);
    // xl is the shorter left part: compare it with the start of yl, then xr with the rest.
    const std::string_view xr = symbols_[x.right].text, yr = symbols_[y.right].text;
    const size_t middle = yl.size() - xl.size();
    if (const int order = xl.compare(yl.substr(0, xl.size()))) return order < 0;
    if (const int order = xr.substr(0, middle).compare(yl.substr(xl.size()))) return order < 0;
    if (const int order = xr.substr(middle).compare(yr)) return order < 0;
    return middle > 0;
  }
  auto heap_order() const {
    return [this](const Candidate& a, const Candidate& b) { return better(b, a); };
  }
  void push(uint32_t pair) {
    const Pair& p = pairs_[pair];
    const size_t bytes = symbols_[p.left].text.size() + symbols_[p.right].text.size();
    heap_.push_back({p.count, pair, static_cast<uint32_t>(bytes)});
    std::push_heap(heap_.begin(), heap_.end(), heap_order());
  }
  Candidate pop() {
    std::pop_heap(heap_.begin(), heap_.end(), heap_order());
    const Candidate top = heap_.back();
    heap_.pop_back();
    return top;
  }

  // --- Cells
  static constexpr uint32_t kGap = Sequences::kGap;
  static constexpr size_t kBlock = 1 << 12;

  // A symbol of several cells has its number in the first and the way back to it in the last: next
  // and previous need no links.
  static constexpr uint32_t kBack = 0x80000000u;
  uint32_t next(uint32_t place) const { return place + width_[sequences_.cells[place]]; }
  uint32_t previous(uint32_t place) const {
    const uint32_t cell = sequences_.cells[place - 1];
    return cell != kGap && cell >= kBack ? place - (cell - kBack) : place - 1;
  }

  // The weight at a place, for places in ascending order; `band` is the band of the one before.
  int64_t weight_at(uint32_t place, size_t& band) const {
    const auto& bands = sequences_.bands;
    band = std::max<size_t>(band, first_band_[place / kBlock]);
    while (band + 1 < bands.size() && bands[band + 1].start <= place) ++band;
    return bands[band].weight;
  }

  // Counts all pairs, then keeps the places of those that are frequent enough.
  void count_pairs() {
    const auto& cells = sequences_.cells;
    const auto each_pair = [&](auto visit) {
      sequences_.each_band([&](size_t start, size_t end, int64_t weight) {
        for (size_t i = start; i + 1 < end; breathe(++i))
          if (cells[i] != kGap && cells[i + 1] != kGap) visit(i, weight);
      });
    };
    FlatCounts counts;
    Numbers places;  // how many, by pair
    each_pair([&](size_t i, int64_t weight) {
      const uint32_t pair = counts.add(FlatCounts::pair(cells[i], cells[i + 1]), weight);
      if (pair == places.size()) places.push_back(0);
      ++places[pair];
    });
    for (size_t p = 0; p < places.size(); ++p) {
      const auto& [key, count] = counts.entries()[p];
      const auto left = static_cast<uint32_t>(key >> 32), right = static_cast<uint32_t>(key);
      if (may_join(left, right, count))
        pairs_[insert(left, right, count)].places.reserve(places[p]);
    }
    counts = FlatCounts();
    each_pair([&](size_t i, int64_t) {
      if (const uint32_t pair = find(cells[i], cells[i + 1]); pair != kNone)
        pairs_[pair].places.push_back(static_cast<uint32_t>(i));
    });
    heap_.reserve(pairs_.size());
    for (uint32_t p = 0; p < pairs_.size(); ++p) push(p);
  }

  // --- A step

  // New pairs of one step, by neighbour: their weights and places.
  struct Fresh {
    Counts weight;
    std::vector<char> seen;
    Numbers touched;
    std::vector<std::pair<uint32_t, uint32_t>> places;  // of a neighbour
    void add(uint32_t neighbour, int64_t by) {
      if (!std::exchange(seen[neighbour], true)) touched.push_back(neighbour);
      weight[neighbour] += by;
    }
  };

  uint32_t add_symbol(uint32_t left, uint32_t right) {
    symbols_.push_back(symbols_[left].joined(symbols_[right]));
    width_.push_back(width_[left] + width_[right]);
    parts_.first.push_back(left);
    parts_.second.push_back(right);
    auto& weights = screen_.weights;
    if (!weights.empty()) weights.push_back(weights[left] + weights[right]);
    for (Fresh* fresh : {&lefts_, &rights_}) {
      fresh->weight.resize(symbols_.size());
      fresh->seen.resize(symbols_.size());
    }
    new_pair_.resize(symbols_.size(), kNone);
    return static_cast<uint32_t>(symbols_.size() - 1);
  }

  void apply(uint32_t pair) {
    const uint32_t a = pairs_[pair].left, b = pairs_[pair].right;
    const Numbers places = std::move(pairs_[pair].places);
    const uint32_t joined = add_symbol(a, b);
    counts_.push_back(std::exchange(pairs_[pair].count, 0));
    auto& cells = sequences_.cells;
    size_t band = 0;
    int64_t twice = 0;  // the weight of b a that was joined on both sides: x y x y
    for (const uint32_t place : places) {
      // 1. Is the pair still there? Either half may have gone into another symbol since.
      if (cells[place] != a) continue;
      const uint32_t second = next(place);
      if (cells[second] != b) continue;
      const int64_t weight = weight_at(place, band);
      const uint32_t after = next(second);
      // 2. The neighbours gain pairs with the whole.
      if (cells[place - 1] != kGap) {
        const uint32_t before = previous(place), neighbour = cells[before];
        if (neighbour == joined) {  // made by this very step: its pair with a is gone again
          rights_.add(a, -weight);
          twice += weight;
        }
        lefts_.add(neighbour, weight);
        lefts_.places.push_back({neighbour, before});
      }
      if (cells[after] != kGap) {
        rights_.add(cells[after], weight);
        rights_.places.push_back({cells[after], place});
      }
      // 3. The whole takes the place of both, and no symbol begins at the second any more.
      cells[place] = joined;
      cells[second] = kBack;
      cells[after - 1] = kBack + (after - place);
    }
    // 4. And they lose as much of their pairs with the halves.
    if (twice) lower(b, a, twice);
    for (const uint32_t n : lefts_.touched)
      if (n != joined) lower(n, a, lefts_.weight[n]);
    for (const uint32_t n : rights_.touched) lower(b, n, rights_.weight[n]);
    for (Fresh* fresh : {&lefts_, &rights_}) collect(joined, *fresh);
  }

  // Turns the step's new neighbours into pairs, if frequent enough and allowed to join.
  void collect(uint32_t symbol, Fresh& fresh) {
    const auto first = static_cast<uint32_t>(pairs_.size());
    for (const uint32_t neighbour : fresh.touched) {
      const int64_t weight = std::exchange(fresh.weight[neighbour], 0);
      fresh.seen[neighbour] = false;
      const uint32_t left = &fresh == &lefts_ ? neighbour : symbol;
      const uint32_t right = &fresh == &lefts_ ? symbol : neighbour;
      if (may_join(left, right, weight)) new_pair_[neighbour] = insert(left, right, weight);
    }
    for (const auto& [neighbour, place] : fresh.places)
      if (new_pair_[neighbour] != kNone) pairs_[new_pair_[neighbour]].places.push_back(place);
    for (uint32_t p = first; p < pairs_.size(); ++p) push(p);
    for (const uint32_t neighbour : fresh.touched) new_pair_[neighbour] = kNone;
    fresh.touched.clear();
    fresh.places.clear();
  }

  Limits limits_;
  int64_t min_count_;
  Screen screen_;
  size_t candidates_ = 0, screened_ = 0;
  std::vector<Symbol> symbols_;
  Counts counts_;  // of the merges
  std::pair<Numbers, Numbers> parts_;
  Numbers width_;  // of each symbol, in cells
  Sequences sequences_;
  Numbers first_band_;  // by block of cells
  std::vector<Pair> pairs_;
  FlatIndex index_;  // of pairs_
  std::vector<Candidate> heap_;
  Fresh lefts_, rights_;  // (neighbour, new) and (new, neighbour)
  Numbers new_pair_;      // by neighbour, in `collect`
};

}  // namespace supratok
