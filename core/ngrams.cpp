#include "ngrams.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace supratok {
namespace {

constexpr uint32_t kGap = Sequences::kGap;

// Counts the pairs of neighbouring cells. Each cell becomes the number of the pair that begins
// there, or a gap.
FlatCounts count_pairs(Sequences& sequences) {
  constexpr size_t kAhead = 8;
  auto& [cells, bands] = sequences;
  FlatCounts pairs;
  for (size_t b = 0; b < bands.size(); ++b) {
    const size_t end = sequences.band_end(b);
    for (size_t i = bands[b].start; i < end; ++i) {
      if (i + kAhead + 1 < end)
        pairs.prefetch(FlatCounts::pair(cells[i + kAhead], cells[i + kAhead + 1]));
      // Invariant: the last cell of a band is a gap.
      if (cells[i] == kGap) continue;
      cells[i] = cells[i + 1] == kGap
                     ? kGap
                     : pairs.add(FlatCounts::pair(cells[i], cells[i + 1]), bands[b].weight);
    }
  }
  return pairs;
}

// Adds the frequent pairs to `found`, sorted. Returns the number that each pair has there, or a
// gap.
std::vector<uint32_t> keep_frequent(const std::vector<FlatCounts::Entry>& pairs, uint32_t symbols,
                                    int64_t min_count, Ngrams& found) {
  std::vector<uint32_t> frequent, numbers(pairs.size(), kGap);
  for (uint32_t p = 0; p < pairs.size(); ++p)
    if (pairs[p].count >= min_count) frequent.push_back(p);
  // Numbers of a level are in the order of their symbols, so those of the pairs are too.
  std::sort(frequent.begin(), frequent.end(),
            [&](uint32_t a, uint32_t b) { return pairs[a].key < pairs[b].key; });
  if (symbols + found.counts.size() + frequent.size() >= kGap)
    throw std::length_error("more than 4 billion frequent n-grams; raise the least count");
  for (const uint32_t p : frequent) {
    numbers[p] = static_cast<uint32_t>(symbols + found.counts.size());
    found.lefts.push_back(static_cast<uint32_t>(pairs[p].key >> 32));
    found.rights.push_back(static_cast<uint32_t>(pairs[p].key));
    found.counts.push_back(pairs[p].count);
  }
  found.tried.push_back(static_cast<int64_t>(pairs.size()));
  found.frequent.push_back(static_cast<int64_t>(frequent.size()));
  return numbers;
}

// Writes the new numbers into the cells and closes up, leaving out cells without a neighbour.
void renumber(Sequences& sequences, const std::vector<uint32_t>& numbers) {
  auto& [cells, bands] = sequences;
  size_t out = 1;  // the first cell is always a gap
  for (size_t b = 0; b < bands.size(); ++b) {
    const size_t end = sequences.band_end(b);
    const size_t start = std::exchange(bands[b].start, static_cast<uint32_t>(out));
    for (size_t i = start; i < end; ++i) {
      const uint32_t cell = cells[i] == kGap ? kGap : numbers[cells[i]];
      if (cell != kGap)
        cells[out++] = cell;
      else if (cells[out - 1] != kGap && cells[out - 2] == kGap)
        --out;
      else if (cells[out - 1] != kGap)
        cells[out++] = kGap;
    }
  }
  cells.resize(out);
}

}  // namespace

Ngrams count_ngrams(Sequences sequences, uint32_t symbols, size_t longest, int64_t min_count) {
  Ngrams found;
  for (size_t n = 2; n <= longest && sequences.cells.size() > 1; ++n) {
    const FlatCounts pairs = count_pairs(sequences);
    renumber(sequences, keep_frequent(pairs.entries(), symbols, min_count, found));
  }
  return found;
}

}  // namespace supratok
