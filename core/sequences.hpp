// Weighted sequences of symbols: the input of the merge loop and of counting n-grams.
#pragma once

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
  Numbers cells{kGap};
  std::vector<Band> bands;

  void add(const Numbers& sequence, int64_t weight) {
    if (sequence.size() < 2) return;  // nothing to join
    if (cells.size() + sequence.size() + 1 >= 0x80000000u)
      throw std::length_error("more than 2 billion symbols of unique text; use a smaller corpus");
    if (bands.empty() || bands.back().weight != weight)
      bands.push_back({static_cast<uint32_t>(cells.size()), weight});
    cells.insert(cells.end(), sequence.begin(), sequence.end());
    cells.push_back(kGap);
  }

  // Calls visit(first cell, last cell + 1, weight) for each band.
  template <class Visit>
  void each_band(Visit visit) const {
    for (size_t b = 0; b < bands.size(); ++b)
      visit(bands[b].start, b + 1 < bands.size() ? bands[b + 1].start : cells.size(),
            bands[b].weight);
  }

  // Words as characters, by their places in `alphabet`. A character outside it cuts its word in
  // two, and so does a bigram seen fewer than `gate` times, in the scripts that `bigrams` covers.
  // `changes` are added to the counts of words.
  static Sequences of_words(SharedCounts& words, const Numbers& alphabet, const Bigrams* bigrams,
                            int64_t gate, const TextCounts& changes) {
    Numbers symbol_of(kCodePoints, kGap);
    for (uint32_t symbol = 0; symbol < alphabet.size(); ++symbol)
      symbol_of[alphabet[symbol]] = symbol;
    Sequences all;
    Numbers sequence;
    const auto lay_out = [&](std::string_view text, int64_t count) {
      const auto cut = [&] {
        all.add(sequence, count);
        sequence.clear();
      };
      const bool gated = bigrams && bigrams->covers(text);
      uint32_t before = ' ';
      each_char(text, [&](uint32_t code) {
        if (gated && before != ' ' && bigrams->count(before, code) < gate) cut();
        if (symbol_of[code] == kGap)
          cut();
        else
          sequence.push_back(symbol_of[code]);
        before = code;
      });
      cut();
    };
    words.by_falling_count(lay_out, false, changes);
    return all;
  }

  // Runs as units, by their places among the known words. With `drain` the table is empty then.
  static Sequences of_runs(SharedCounts& runs, bool drain) {
    Sequences all;
    const auto add = [&](std::string_view run, int64_t count) { all.add(as_numbers(run), count); };
    runs.by_falling_count(add, drain, TextCounts());
    return all;
  }
};

}  // namespace supratok
