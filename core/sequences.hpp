// Weighted sequences of symbols: the input of the merge loop and of counting n-grams.
#pragma once

#include <cstdint>
#include <vector>

#include "bigrams.hpp"
#include "text_counts.hpp"

namespace supratok {

// All sequences in one array of cells, with kGap before, between and after them, laid out by
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
  size_t band_end(size_t band) const {
    return band + 1 < bands.size() ? bands[band + 1].start : cells.size();
  }

  // Words as characters, by their places in `alphabet`. A character outside it cuts its word in
  // two, and so does a bigram seen fewer than `gate` times, in the scripts that `bigrams` covers.
  // `changes` are added to the counts of words.
  static Sequences of_words(const SharedCounts& words, const std::vector<uint32_t>& alphabet,
                            const Bigrams* bigrams, int64_t gate, const TextCounts& changes);
  // Runs as units, by their places among the known words.
  static Sequences of_runs(const SharedCounts& runs);
  static Sequences draining_runs(SharedCounts& runs);  // the same, and empties the table
};

}  // namespace supratok
