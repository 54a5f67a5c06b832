// Sequences in which neighbours are joined, in their cells.
#pragma once

#include "pairs.hpp"

namespace supratok {

// A new pair of one step, by its neighbour; and all on one side of the joined symbol.
struct Gain {
  int64_t weight = 0;
  uint32_t places = 0;          // how many
  uint32_t at = 0;              // how many of the pair's places are filled
  uint32_t pair = 0xffffffffu;  // none yet
};
struct Gains {
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
  void add(Gains& behind) {
    for (const uint32_t neighbour : behind.touched) {
      Gain &gain = gains[neighbour], &other = behind.gains[neighbour];
      if (gain.places == 0) touched.push_back(neighbour);
      other.at = gain.places;
      gain.places += other.places;
      gain.weight += other.weight;
    }
  }
  void clear() {
    for (const uint32_t neighbour : touched) gains[neighbour] = {};
    touched.clear();
    places.clear();
  }
};
// What one part of the places brings: pairs (neighbour, new) and (new, neighbour), and the weight
// of b a that was joined on both sides: x y x y.
struct Step {
  Gains lefts, rights;
  int64_t twice = 0;
};

class Cells {
 public:
  static constexpr uint32_t kGap = Sequences::kGap;

  Cells(Sequences sequences, size_t symbols)
      : sequences_(std::move(sequences)), width_(symbols, 1) {
    for (const uint32_t cell : sequences_.cells)
      if (cell != kGap && cell >= symbols)
        throw std::invalid_argument("a sequence holds a symbol that is not given");
    const auto& bands = sequences_.bands;
    for (size_t band = 0, start = 0; start < size(); start += kBlock) {
      while (band + 1 < bands.size() && bands[band + 1].start <= start) ++band;
      first_band_.push_back(static_cast<uint32_t>(band));
    }
  }

  size_t size() const { return sequences_.cells.size(); }
  const Sequences& sequences() const { return sequences_; }

  // How often each symbol occurs.
  Counts usage(size_t threads) const {
    std::vector<Counts> uses(threads, Counts(width_.size()));
    in_parallel(
        threads, threads,
        [&](size_t part) {
          const size_t from = size() * part / threads, to = size() * (part + 1) / threads;
          sequences_.each_band([&](size_t start, size_t end, int64_t weight) {
            for (size_t i = std::max(start, from); i < std::min(end, to); breathe(++i))
              if (sequences_.cells[i] < kBack) uses[part][sequences_.cells[i]] += weight;
          });
        },
        [] {});
    for (size_t part = 1; part < threads; ++part)
      for (size_t i = 0; i < width_.size(); ++i) uses[0][i] += uses[part][i];
    return std::move(uses[0]);
  }

  // Cuts ascending places into parts, or fewer: where they begin and end. No sequence is cut.
  std::vector<size_t> cut(std::span<const uint32_t> places, size_t parts) const {
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

  // From now on there is a symbol that joins these two.
  void add_symbol(uint32_t left, uint32_t right) { width_.push_back(width_[left] + width_[right]); }

  // Joins a and b at those of the places where they still are. Several threads may do so with parts
  // of the places.
  void join(uint32_t a, uint32_t b, uint32_t joined, std::span<const uint32_t> places, Step& step) {
    constexpr size_t kAhead = 16;
    for (Gains* gains : {&step.lefts, &step.rights}) gains->gains.resize(width_.size());
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
          step.rights.gains[a].weight -= weight;
          step.twice += weight;
        }
        step.lefts.add(neighbour, weight, before);
      }
      if (cells[after] != kGap) step.rights.add(cells[after], weight, place);
      // 3. The whole takes the place of both, and no symbol begins at the second any more.
      cells[place] = joined;
      cells[second] = kBack;
      cells[after - 1] = kBack + (after - place);
    }
  }

 private:
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

  Sequences sequences_;
  Numbers width_;       // of each symbol, in cells
  Numbers first_band_;  // by block of cells
};

}  // namespace supratok
