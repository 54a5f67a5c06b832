#include "sequences.hpp"

#include <stdexcept>

namespace supratok {

void Sequences::add(const std::vector<uint32_t>& sequence, int64_t weight) {
  if (sequence.size() < 2) return;  // nothing to join
  if (cells.size() + sequence.size() + 1 >= 0x80000000u)
    throw std::length_error("more than 2 billion symbols of unique text; use a smaller corpus");
  if (bands.empty() || bands.back().weight != weight)
    bands.push_back({static_cast<uint32_t>(cells.size()), weight});
  cells.insert(cells.end(), sequence.begin(), sequence.end());
  cells.push_back(kGap);
}

Sequences Sequences::of_words(const SharedCounts& words, const std::vector<uint32_t>& alphabet,
                              const Bigrams* bigrams, int64_t gate, const TextCounts& changes) {
  std::vector<uint32_t> symbol_of(kCodePoints, kGap);
  for (uint32_t symbol = 0; symbol < alphabet.size(); ++symbol)
    symbol_of[alphabet[symbol]] = symbol;
  Sequences all;
  std::vector<uint32_t> sequence;
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
  words.by_falling_count(lay_out, changes);
  return all;
}

Sequences Sequences::of_runs(const SharedCounts& runs) {
  Sequences all;
  runs.by_falling_count(
      [&](std::string_view run, int64_t count) { all.add(as_numbers(run), count); });
  return all;
}

Sequences Sequences::draining_runs(SharedCounts& runs) {
  Sequences all;
  runs.drain_by_falling_count(
      [&](std::string_view run, int64_t count) { all.add(as_numbers(run), count); });
  return all;
}

}  // namespace supratok
