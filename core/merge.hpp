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

#include "crew.hpp"
#include "limits.hpp"
#include "pairs.hpp"

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
    Crew crew(work_.threads);
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
  Counts usage() const {
    std::vector<Counts> uses(threads_for(sequences_.cells.size()));
    in_parallel(
        uses.size(), uses.size(),
        [&](size_t part) {
          uses[part].resize(symbols_.size());
          each_cell(part, uses.size(), [&](size_t place, int64_t weight) {
            const uint32_t cell = sequences_.cells[place];
            if (cell < kBack) uses[part][cell] += weight;
          });
        },
        [] {});
    for (size_t part = 1; part < uses.size(); ++part)
      for (size_t i = 0; i < symbols_.size(); ++i) uses[0][i] += uses[part][i];
    return std::move(uses[0]);
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

  size_t threads_for(size_t cells) const {
    return std::clamp<size_t>(cells / (work_.share * 64), 1, work_.threads);
  }

  // Calls visit(place, weight) for each cell in one of several parts of about the same size.
  template <class Visit>
  void each_cell(size_t part, size_t parts, Visit visit) const {
    const size_t size = sequences_.cells.size();
    const size_t from = size * part / parts, to = size * (part + 1) / parts;
    sequences_.each_band([&](size_t start, size_t end, int64_t weight) {
      for (size_t i = std::max(start, from); i < std::min(end, to); breathe(++i)) visit(i, weight);
    });
  }

  // Counts all pairs, then keeps the places of those that are frequent enough.
  void count_pairs() {
    Pairs pairs(sequences_, threads_for(sequences_.cells.size()));
    const std::span<uint32_t> places = numbers_.take(sequences_.cells.size());
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

  // New pairs of one step on one side, by neighbour.
  struct Gain {
    int64_t weight = 0;
    uint32_t places = 0;  // how many
    uint32_t at = 0;      // how many of the pair's places are filled
    uint32_t pair = kNone;
  };
  struct Fresh {
    std::vector<Gain> gains;
    Numbers touched;                                    // neighbours
    std::vector<std::pair<uint32_t, uint32_t>> places;  // of a neighbour
    void add(uint32_t neighbour, int64_t weight, uint32_t place) {
      Gain& gain = gains[neighbour];
      if (gain.places++ == 0) touched.push_back(neighbour);
      gain.weight += weight;
      places.push_back({neighbour, place});
    }
    // Adds those of the places behind these.
    void add(Fresh& behind) {
      for (const uint32_t neighbour : behind.touched) {
        Gain &gain = gains[neighbour], &other = behind.gains[neighbour];
        if (gain.places == 0) touched.push_back(neighbour);
        other.at = gain.places;
        gain.places += other.places;
        gain.weight += other.weight;
      }
    }
  };
  // What one part of the places brings: pairs (neighbour, new) and (new, neighbour), and the weight
  // of b a that was joined on both sides: x y x y.
  struct Part {
    Fresh lefts, rights;
    int64_t twice = 0;
  };

  uint32_t add_symbol(uint32_t left, uint32_t right) {
    symbols_.push_back(symbols_[left].joined(symbols_[right]));
    width_.push_back(width_[left] + width_[right]);
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
    const std::vector<size_t> cuts = cut(places);
    const size_t parts = cuts.size() - 1;
    if (steps_.size() < parts) steps_.resize(parts);
    // 1. Join the pair wherever it is.
    crew.run(parts, [&](size_t p) {
      for (Fresh* fresh : {&steps_[p].lefts, &steps_[p].rights}) fresh->gains.resize(joined + 1);
      join(a, b, joined, places.subspan(cuts[p], cuts[p + 1] - cuts[p]), steps_[p]);
    });
    Part& all = steps_[0];
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
      for (Fresh* fresh : {&steps_[p].lefts, &steps_[p].rights}) {
        for (const uint32_t n : fresh->touched) fresh->gains[n] = {};
        fresh->touched.clear();
      }
    }
    for (uint32_t p = first; p < pairs_.size(); ++p) push(p);
  }

  // Cuts places into parts for the threads: where they begin and end. Each sequence is in one part.
  std::vector<size_t> cut(std::span<const uint32_t> places) const {
    const size_t parts = std::clamp<size_t>(places.size() / work_.share, 1, work_.threads);
    std::vector<size_t> cuts{0};
    const auto cell = [&](size_t i) { return sequences_.cells.begin() + places[i]; };
    for (size_t p = 1; p < parts; ++p) {
      size_t i = std::max(cuts.back() + 1, places.size() * p / parts);
      while (i < places.size() && std::find(cell(i - 1), cell(i), kGap) == cell(i)) ++i;
      if (i < places.size()) cuts.push_back(i);
    }
    cuts.push_back(places.size());
    return cuts;
  }

  void join(uint32_t a, uint32_t b, uint32_t joined, std::span<const uint32_t> places, Part& part) {
    constexpr size_t kAhead = 16;
    auto& cells = sequences_.cells;
    size_t band = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      if (i + kAhead < places.size()) __builtin_prefetch(&cells[places[i + kAhead]]);
      const uint32_t place = places[i];
      // 1. Is the pair still there? Either half may have gone into another symbol since.
      if (cells[place] != a) continue;
      const uint32_t second = next(place);
      if (cells[second] != b) continue;
      const int64_t weight = weight_at(place, band);
      const uint32_t after = next(second);
      // 2. Pairs of the neighbours with the whole.
      if (cells[place - 1] != kGap) {
        const uint32_t before = previous(place), neighbour = cells[before];
        if (neighbour == joined) {  // made by this very step: its pair with a is gone again
          part.rights.gains[a].weight -= weight;
          part.twice += weight;
        }
        part.lefts.add(neighbour, weight, before);
      }
      if (cells[after] != kGap) part.rights.add(cells[after], weight, place);
      // 3. The whole takes the place of both, and no symbol begins at the second any more.
      cells[place] = joined;
      cells[second] = kBack;
      cells[after - 1] = kBack + (after - place);
    }
  }

  // Makes a pair of the step's new neighbours, if frequent enough and allowed to join.
  void collect(uint32_t left, uint32_t right, Gain& gain) {
    if (may_join(left, right, gain.weight))
      gain.pair = insert(left, right, gain.weight, numbers_.take(gain.places));
  }

  // Gives the new pairs their places.
  void place(Fresh& part, const Fresh& all) {
    for (const auto& [neighbour, place] : part.places) {
      const uint32_t pair = all.gains[neighbour].pair;
      if (pair != kNone) places_[pair][part.gains[neighbour].at++] = place;
    }
    part.places.clear();
  }

  Limits limits_;
  int64_t min_count_;
  Screen screen_;
  Work work_;
  size_t candidates_ = 0, screened_ = 0;
  std::vector<Symbol> symbols_;
  Counts counts_;  // of the merges
  std::pair<Numbers, Numbers> parts_;
  Numbers width_;  // of each symbol, in cells
  Sequences sequences_;
  Numbers first_band_;  // by block of cells
  std::vector<Pair> pairs_;
  std::vector<std::span<uint32_t>> places_;  // of each pair: its cells when it was made, ascending
  NumberBlocks numbers_;                     // that hold the places
  FlatIndex index_;                          // of pairs_
  std::vector<Candidate> heap_;
  std::vector<Part> steps_;  // empty between steps
};

}  // namespace supratok
