#include "ngrams.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace supratok {
namespace {

constexpr uint32_t kGap = Sequences::kGap;

// The pairs of one level with their counts, numbered in the order they come.
class PairCounts {
 public:
  struct Entry {
    uint64_t pair;
    int64_t count;
  };

  PairCounts() : slots_(1 << 16, kGap) {}
  static uint64_t pair(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  void prefetch(uint64_t pair) const { __builtin_prefetch(&slots_[mix(pair) & mask()]); }

  uint32_t add(uint64_t pair, int64_t count) {
    size_t i = mix(pair) & mask();
    for (; slots_[i] != kGap; i = (i + 1) & mask())
      if (Entry& entry = entries_[slots_[i]]; entry.pair == pair) {
        entry.count += count;
        return slots_[i];
      }
    if (entries_.size() >= kGap) throw std::length_error("more than 4 billion different n-grams");
    slots_[i] = static_cast<uint32_t>(entries_.size());
    entries_.push_back({pair, count});
    if (entries_.size() * 2 > slots_.size()) grow();
    return static_cast<uint32_t>(entries_.size() - 1);
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  size_t mask() const { return slots_.size() - 1; }
  void grow() {
    slots_.assign(slots_.size() * 2, kGap);
    for (uint32_t e = 0; e < entries_.size(); ++e) {
      size_t i = mix(entries_[e].pair) & mask();
      while (slots_[i] != kGap) i = (i + 1) & mask();
      slots_[i] = e;
    }
  }

  std::vector<uint32_t> slots_;  // places in entries_
  std::vector<Entry> entries_;
};

// Counts the pairs of neighbouring cells. Each cell becomes the number of the pair that begins
// there, or a gap.
PairCounts count_pairs(Sequences& sequences) {
  constexpr size_t kAhead = 8;
  auto& [cells, bands] = sequences;
  PairCounts pairs;
  for (size_t b = 0; b < bands.size(); ++b) {
    const size_t end = b + 1 < bands.size() ? bands[b + 1].start : cells.size();
    for (size_t i = bands[b].start; i < end; ++i) {
      if (i + kAhead + 1 < end)
        pairs.prefetch(PairCounts::pair(cells[i + kAhead], cells[i + kAhead + 1]));
      // Invariant: the last cell of a band is a gap.
      if (cells[i] == kGap) continue;
      cells[i] = cells[i + 1] == kGap
                     ? kGap
                     : pairs.add(PairCounts::pair(cells[i], cells[i + 1]), bands[b].weight);
    }
  }
  return pairs;
}

// Adds the frequent pairs to `found`, sorted. Returns the number that each pair has there, or a
// gap.
std::vector<uint32_t> keep_frequent(const PairCounts& pairs, uint32_t symbols, int64_t min_count,
                                    Ngrams& found) {
  const auto& entries = pairs.entries();
  std::vector<uint32_t> frequent, numbers(entries.size(), kGap);
  for (uint32_t e = 0; e < entries.size(); ++e)
    if (entries[e].count >= min_count) frequent.push_back(e);
  // Numbers of a level are in the order of their symbols, so those of the pairs are too.
  std::sort(frequent.begin(), frequent.end(),
            [&](uint32_t a, uint32_t b) { return entries[a].pair < entries[b].pair; });
  if (symbols + found.counts.size() + frequent.size() >= kGap)
    throw std::length_error("more than 4 billion frequent n-grams; raise the least count");
  for (const uint32_t e : frequent) {
    numbers[e] = static_cast<uint32_t>(symbols + found.counts.size());
    found.lefts.push_back(static_cast<uint32_t>(entries[e].pair >> 32));
    found.rights.push_back(static_cast<uint32_t>(entries[e].pair));
    found.counts.push_back(entries[e].count);
  }
  found.tried.push_back(static_cast<int64_t>(entries.size()));
  found.frequent.push_back(static_cast<int64_t>(frequent.size()));
  return numbers;
}

// Writes the new numbers into the cells and closes up, leaving out what has no neighbour.
void renumber(Sequences& sequences, const std::vector<uint32_t>& numbers) {
  auto& [cells, bands] = sequences;
  size_t out = 1;  // the first cell is always a gap
  for (size_t b = 0; b < bands.size(); ++b) {
    const size_t end = b + 1 < bands.size() ? bands[b + 1].start : cells.size();
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
    const PairCounts pairs = count_pairs(sequences);
    renumber(sequences, keep_frequent(pairs, symbols, min_count, found));
  }
  return found;
}

}  // namespace supratok
