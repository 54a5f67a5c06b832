// The merge loop: joins the most frequent pair of neighbouring symbols, again and again.
//
// It knows nothing of characters or words: symbols have a text, a size in bytes, a number of
// "units" and a script; sequences of symbols have a weight. The traditional pass runs it over words
// made of characters, the multiword pass over runs made of words.
//
//   sequences  l o w (5 times) · l o w e r (2 times)      pairs  lo:7 ow:7 we:2 er:2
//   join l+o   lo w (5)        · lo w e r (2)             pairs  low:7 we:2 er:2
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bigrams.hpp"
#include "counts.hpp"

namespace supratok {

struct Symbol {
  std::string text;
  uint32_t units;
  uint8_t script;
  uint32_t spaces = 0;
};

struct Merge {
  uint32_t left, right;
  int64_t count;
};

struct Limits {
  uint32_t bytes;                 // a joined text's size
  uint32_t units;                 // digits in the traditional pass, words in the multiword pass
  bool one_script;                // two scripts do not join
  uint32_t spaces = 0xffffffffu;  // plain spaces, where characters of several words may join
  uint32_t digits = 0xffffffffu;  // in a row, where pieces of words may join
  std::unordered_set<std::string> names{};  // texts that mean something else
};

// What a pair must show when it first appears, beyond being frequent: log2 of its count plus the
// bits of all its symbols must reach `least`, unless the joined text is one of `always`.
struct Screen {
  std::vector<double> bits;  // by symbol; empty: every pair is welcome
  double least = 0;
  std::unordered_set<std::string> always;
};

// Sequences of symbols in one array of cells, with kGap before, between and after them, laid out by
// falling weight: all cells from a band's start to the next band's have its weight.
struct Sequences {
  static constexpr uint32_t kGap = 0xffffffffu;
  struct Band {
    uint32_t start;
    int64_t weight;
  };
  std::vector<uint32_t> cells{kGap};
  std::vector<Band> bands;

  void add(const std::vector<uint32_t>& sequence, int64_t weight);

  // Words as characters. A character that is not in `alphabet` cuts its word in two, and so does
  // a bigram seen fewer than `gate` times, in the scripts whose bigrams were counted.
  // `changes` are added to the counts of some words here; the table keeps its own.
  static Sequences of_words(SharedCounts& words, const std::vector<uint32_t>& alphabet,
                            const Bigrams* bigrams = nullptr, int64_t gate = 0,
                            const TextCounts* changes = nullptr);
  // Runs as words, by their places among the known ones. Empties the table of runs, if told to.
  static Sequences of_runs(SharedCounts& runs, bool drain);
};

class Merger {
 public:
  Merger(Sequences sequences, std::vector<Symbol> symbols, Limits limits, int64_t min_count,
         Screen screen = {});

  static std::vector<Symbol> characters(const std::vector<uint32_t>& alphabet);
  static std::vector<Symbol> words(const std::vector<std::string>& words, bool by_class);

  // Makes up to `count` more merges; fewer when no pair is left that was seen min_count times.
  size_t run(size_t count);

  // How often each symbol stands in the sequences as they are now.
  std::vector<int64_t> usage() const;

  // How many pairs were frequent enough and allowed to join, and how many of them the screen left
  // out.
  size_t candidates() const { return candidates_; }
  size_t screened() const { return screened_; }

  const std::vector<Symbol>& symbols() const { return symbols_; }
  const std::vector<Merge>& merges() const { return merges_; }  // of the last symbols, in order

 private:
  // A pair of neighbours. Invariant: once the step that made its younger symbol is over, the count
  // of a pair only falls; so pairs below min_count are dropped then, for good.
  struct Pair {
    uint32_t left, right;
    int64_t count;
    std::vector<uint32_t> places;  // cells where it stood when it was made, ascending
  };
  struct Slot {
    uint32_t left = 0, right = 0;
    uint32_t pair = 0xffffffffu;  // its place in pairs_, if taken
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

  void count_pairs();
  int64_t weight_at(uint32_t place, size_t& band) const;
  uint32_t next(uint32_t place) const { return place + width_[cells_[place]]; }
  uint32_t previous(uint32_t place) const {
    const uint32_t cell = cells_[place - 1];
    return cell != kGap && cell >= kBack ? place - (cell - kBack) : place - 1;
  }

  bool may_join(uint32_t left, uint32_t right) const;
  bool is_name(const std::string& left, const std::string& right) const;
  bool passes(uint32_t left, uint32_t right, int64_t count);
  bool better(const Candidate& a, const Candidate& b) const;
  void push(uint32_t pair);
  Candidate pop();

  Slot& find(uint32_t left, uint32_t right);
  void insert(Pair pair);
  void lower(uint32_t left, uint32_t right, int64_t weight);
  void apply(uint32_t pair);
  void collect(uint32_t symbol);

  Limits limits_;
  size_t longest_name_ = 0;
  std::array<bool, 256> begins_name_{}, ends_name_{};
  int64_t min_count_;
  Screen screen_;
  size_t candidates_ = 0, screened_ = 0;
  std::vector<Symbol> symbols_;
  std::vector<Merge> merges_;
  std::vector<uint32_t> width_;  // of each symbol, in cells
  std::vector<uint32_t> cells_;
  std::vector<Sequences::Band> bands_;
  std::vector<uint32_t> first_band_;  // by block of cells

  std::vector<Pair> pairs_;
  std::vector<Slot> table_;  // open addressing
  std::vector<Candidate> heap_;

  // What one step makes: by neighbour, the weight and the places of its new pairs.
  struct Fresh {
    std::vector<int64_t> weight;
    std::vector<char> seen;
    std::vector<uint32_t> touched;
    struct Entry {
      uint32_t neighbour, place;
    };
    std::vector<Entry> entries;
    void resize(size_t symbols) {
      weight.resize(symbols);
      seen.resize(symbols);
    }
    void add(uint32_t neighbour, int64_t by) {
      if (!std::exchange(seen[neighbour], true)) touched.push_back(neighbour);
      weight[neighbour] += by;
    }
  };
  Fresh lefts_, rights_;  // (neighbour, new) and (new, neighbour)
  std::vector<uint32_t> slot_;
};

}  // namespace supratok
