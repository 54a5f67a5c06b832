// Runs: the longest sequences of neighbouring words that are all known, may join, and whose every
// pair may have been seen often enough.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "encode.hpp"
#include "words.hpp"

namespace supratok {

// Unknown words of some scripts do not end a run, but are cut into pieces by an encoder.
struct Pieces {
  const Encoder* encoder = nullptr;
  std::array<bool, 256> scripts{};
};

// Counts runs. A run is kept as the places of its units in the list of known words, 32 bits each. A
// unit is a known word or a known piece of another; any other word ends a run. The bounds for pairs
// of words do not hold for pieces, so where there are pieces, `UnitPairs` must bound the pairs.
class RunTable {
 public:
  RunTable(std::vector<std::string> known_words, const PairSketch& pairs, Joints joints,
           uint32_t floor, const Pieces& pieces)
      : known_(std::move(known_words)),
        pairs_(pairs),
        joints_(std::move(joints)),
        floor_(floor),
        pieces_(pieces) {}
  void add(const Texts& documents);
  size_t known_words() const { return known_.size(); }
  // From now on these bounds hold for pairs of units, instead of those for pairs of words.
  void bound_units(std::unique_ptr<PairSketch> pairs) { unit_pairs_ = std::move(pairs); }

  SharedCounts runs;

 private:
  friend class UnitPairs;
  template <class Visit>
  void each_unit(std::string_view document, std::vector<uint32_t>& ids, Visit visit) const;

  WordIndex known_;
  const PairSketch& pairs_;
  Joints joints_;
  uint32_t floor_;
  Pieces pieces_;
  std::unique_ptr<PairSketch> unit_pairs_;
};

// Bounds the pairs of a run table's units in a reading of its own, and counts the units.
class UnitPairs {
 public:
  UnitPairs(const RunTable& table, int sketch_bits)
      : pairs(std::make_unique<PairSketch>(sketch_bits)),
        uses(table.known_words()),
        table_(table) {}
  void add(const Texts& documents);

  std::unique_ptr<PairSketch> pairs;
  std::vector<int64_t> uses;

 private:
  const RunTable& table_;
  std::mutex lock_;
};

}  // namespace supratok
