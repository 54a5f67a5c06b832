// Counting n-grams: windows of neighbouring symbols in weighted sequences, seen often enough.
//
// Level by level. A window of n symbols can be frequent only if its first and its last n-1 are; so
// each level numbers its frequent windows, writes the numbers where the windows begin, and a window
// of the next level is a pair of neighbouring numbers. All levels are the same small step: count
// the pairs in a table, keep the frequent ones.
//
//   sequences  a b c (5 times) · b c d (2 times), at least 5 times
//   level 2    ab:5 bc:7 cd:2  ->  the sequences become  ab bc (5 times)
//   level 3    abc:5
#pragma once

#include "sequences.hpp"

namespace supratok {

class Ngrams {
 public:
  // Windows of 2 to `longest` symbols that occur at least `min_count` times in the sequences, each
  // sequence counted by its weight. Windows that overlap all count: a a a holds "a a" twice.
  Ngrams(Sequences sequences, uint32_t symbols, size_t longest, int64_t min_count)
      : sequences_(std::move(sequences)), symbols_(symbols), min_count_(min_count) {
    for (size_t n = 2; n <= longest && sequences_.cells.size() > 1; ++n)
      renumber(keep_frequent(count_pairs().entries()));
  }

  // The frequent n-grams by length, those of one length in the order of their symbols. They are
  // numbered behind the symbols: the first is number `symbols`.
  Numbers lefts, rights;  // of each, the number of its first and its last n-1 symbols
  Counts counts;
  Counts tried;     // how many different windows were counted, by length from 2
  Counts frequent;  // how many of them were frequent

 private:
  static constexpr uint32_t kGap = Sequences::kGap;

  // Counts the pairs of neighbouring cells. Each cell becomes the number of the pair that begins
  // there, or a gap.
  FlatCounts count_pairs() {
    constexpr size_t kAhead = 8;
    auto& cells = sequences_.cells;
    FlatCounts pairs;
    sequences_.each_band([&](size_t start, size_t end, int64_t weight) {
      for (size_t i = start; i < end; ++i) {
        breathe(i);
        if (i + kAhead + 1 < end)
          pairs.prefetch(FlatCounts::pair(cells[i + kAhead], cells[i + kAhead + 1]));
        // Invariant: the last cell of a band is a gap.
        if (cells[i] == kGap) continue;
        cells[i] = cells[i + 1] == kGap
                       ? kGap
                       : pairs.add(FlatCounts::pair(cells[i], cells[i + 1]), weight);
      }
    });
    return pairs;
  }

  // Adds the frequent pairs to the result, sorted. Returns the number that each pair has there, or
  // a gap.
  Numbers keep_frequent(const std::vector<FlatCounts::Entry>& pairs) {
    Numbers kept, numbers(pairs.size(), kGap);
    for (uint32_t p = 0; p < pairs.size(); ++p)
      if (pairs[p].count >= min_count_) kept.push_back(p);
    // Numbers of a level are in the order of their symbols, so those of the pairs are too.
    sort(kept, [&](uint32_t a, uint32_t b) { return pairs[a].key < pairs[b].key; });
    if (symbols_ + counts.size() + kept.size() >= kGap)
      throw std::length_error("more than 4 billion frequent n-grams; raise the least count");
    for (const uint32_t p : kept) {
      numbers[p] = static_cast<uint32_t>(symbols_ + counts.size());
      lefts.push_back(static_cast<uint32_t>(pairs[p].key >> 32));
      rights.push_back(static_cast<uint32_t>(pairs[p].key));
      counts.push_back(pairs[p].count);
    }
    tried.push_back(static_cast<int64_t>(pairs.size()));
    frequent.push_back(static_cast<int64_t>(kept.size()));
    return numbers;
  }

  // Writes the new numbers into the cells and closes up, leaving out cells without a neighbour.
  void renumber(const Numbers& numbers) {
    auto& cells = sequences_.cells;
    size_t out = 1, band = 0;  // the first cell is always a gap
    sequences_.each_band([&](size_t start, size_t end, int64_t) {
      sequences_.bands[band++].start = static_cast<uint32_t>(out);
      for (size_t i = start; i < end; ++i) {
        breathe(i);
        const uint32_t cell = cells[i] == kGap ? kGap : numbers[cells[i]];
        if (cell != kGap)
          cells[out++] = cell;
        else if (cells[out - 1] != kGap && cells[out - 2] == kGap)
          --out;
        else if (cells[out - 1] != kGap)
          cells[out++] = kGap;
      }
    });
    cells.resize(out);
  }

  Sequences sequences_;
  uint32_t symbols_;
  int64_t min_count_;
};

}  // namespace supratok
