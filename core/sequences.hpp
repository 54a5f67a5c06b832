// Weighted sequences of symbols: the input of the merge loop and of counting n-grams.
#pragma once

#include "bigrams.hpp"
#include "numbers.hpp"
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
  ManyNumbers cells{kGap};
  std::vector<Band> bands;

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
  static Sequences of_words(const SharedCounts& words, const Numbers& alphabet,
                            const Bigrams* bigrams, int64_t gate, const TextCounts& changes) {
    Numbers symbol_of(kCodePoints, kGap), sequence;
    for (uint32_t symbol = 0; symbol < alphabet.size(); ++symbol)
      symbol_of[alphabet[symbol]] = symbol;
    const auto each_sequence = [&](std::string_view text, int64_t count, const auto& visit) {
      const auto cut = [&] {
        visit(as_bytes(sequence.data(), sequence.size()), count);
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
    return lay_out([&](auto visit, bool) {
      TextCounts changed;  // those of the changes that are in the table
      words.each([&](std::string_view text, int64_t count) {
        if (changes.size()) {
          const uint64_t hash = hash_bytes(text);
          const int64_t by = changes.find(text, hash);
          if (by) changed.add(text, hash, 1);
          count += by;
        }
        each_sequence(text, count, visit);
      });
      changes.each([&](std::string_view text, int64_t count) {
        if (!changed.find(text, hash_bytes(text))) each_sequence(text, count, visit);
      });
    });
  }

  // Runs as units, by their places among the known words. With `drain` the table is empty then.
  static Sequences of_runs(SharedCounts& runs, bool drain) {
    return lay_out([&](auto visit, bool last) {
      if (drain && last)
        runs.drain(visit);
      else
        runs.each(visit);
    });
  }

 private:
  // Takes sequences from each(visit, last), which calls visit(bytes of the symbols, weight) for
  // all of them, twice, in the same order: first they are measured, then they find their places. A
  // sequence with nothing to join, or no weight, is left out.
  template <class Each>
  static Sequences lay_out(Each each) {
    const auto if_kept = [](auto visit) {
      return [visit](std::string_view bytes, int64_t weight) {
        if (weight > 0 && bytes.size() > sizeof(uint32_t)) visit(bytes, weight);
      };
    };
    FlatCounts sizes;  // by weight: how many cells, with a gap behind each sequence
    each(if_kept([&](std::string_view bytes, int64_t weight) {
           sizes.add(weight, static_cast<int64_t>(bytes.size() / sizeof(uint32_t) + 1));
         }),
         false);
    std::vector<FlatCounts::Entry> falling = sizes.entries();
    std::sort(falling.begin(), falling.end(), [](auto& a, auto& b) { return a.key > b.key; });
    Sequences all;
    Numbers ends(falling.size());  // of what is laid out of each band
    size_t size = 1;
    for (const auto& [weight, cells] : falling) {
      if (size + static_cast<size_t>(cells) >= 0x80000000u)
        throw std::length_error("more than 2 billion symbols of unique text; use a smaller corpus");
      ends[sizes.find(weight)] = static_cast<uint32_t>(size);
      all.bands.push_back({static_cast<uint32_t>(size), static_cast<int64_t>(weight)});
      size += static_cast<size_t>(cells);
    }
    all.cells.resize(size);
    each(if_kept([&](std::string_view bytes, int64_t weight) {
           uint32_t& end = ends[sizes.find(weight)];
           std::memcpy(&all.cells[end], bytes.data(), bytes.size());
           end += static_cast<uint32_t>(bytes.size() / sizeof(uint32_t));
           all.cells[end++] = kGap;
         }),
         true);
    return all;
  }
};

}  // namespace supratok
