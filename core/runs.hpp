// Runs: the longest sequences of neighbouring words that are all known, may join, and whose every
// pair may have been seen often enough.
#pragma once

#include "encode.hpp"
#include "words.hpp"

namespace supratok {

// Cuts the unknown words of some scripts into pieces.
struct Pieces {
  const Encoder* encoder;  // or nullptr
  std::vector<uint8_t> scripts;
  bool cuts(const Word& word) const {
    return encoder && word.joinable() &&
           std::find(scripts.begin(), scripts.end(), word.script) != scripts.end();
  }
};

// Counts runs. A run is kept as the places of its units in the list of known words, 32 bits each. A
// unit is a known word or a known piece of another; any other word ends a run. The bounds for pairs
// of words do not hold for pieces: where there are pieces, the table must `bound` the pairs of
// units in a reading of its own, before it counts.
class RunTable {
 public:
  RunTable(std::vector<std::string> known_words, const PairSketch& pairs, Joints joints,
           uint32_t floor, Pieces pieces)
      : known_(std::move(known_words)), pairs_(pairs), joints_(std::move(joints)), floor_(floor),
        pieces_(std::move(pieces)) {}

  void add(const Texts& documents) {
    static thread_local SharedCounts::Batch batch;
    static thread_local Numbers units;               // of all runs found here, end to end
    static thread_local std::vector<size_t> starts;  // of each run, among them
    batch.clear();
    units.clear();
    starts.assign(1, 0);
    const auto close = [&] {
      if (units.size() - starts.back() > 1)
        starts.push_back(units.size());
      else
        units.resize(starts.back());  // a unit by itself has nothing to join
    };
    for (const std::string_view document : documents) {
      each_unit(document, [&](uint32_t place, uint32_t bound) {
        if (place == kNone || bound < floor_) close();
        if (place != kNone) units.push_back(place);
      });
      close();
    }
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      batch.add(as_bytes(&units[starts[i]], starts[i + 1] - starts[i]), 1);
    runs.add(batch);
  }

  // Bounds the pairs of units in `pairs`, and counts the units.
  void bound(const Texts& documents, PairSketch& pairs, Counts& uses) {
    Counts seen(uses.size());
    PairSketch::Adder adder(pairs);
    for (const std::string_view document : documents) {
      uint32_t last = kNone;
      each_unit(document, [&](uint32_t place, uint32_t bound) {
        if (place != kNone) ++seen[place];
        if (place != kNone && bound > 0) adder.add(last, place);
        last = place;
      });
    }
    const std::lock_guard guard(lock_);
    for (size_t i = 0; i < seen.size(); ++i) uses[i] += seen[i];
  }
  // From now on these bounds hold for pairs of units, instead of those for pairs of words.
  void use_bounds(std::unique_ptr<PairSketch> pairs) { unit_pairs_ = std::move(pairs); }

  // Whether bytes from outside can be a run.
  bool fits(std::string_view bytes) const {
    if (bytes.size() % sizeof(uint32_t) || bytes.size() < 2 * sizeof(uint32_t)) return false;
    const Numbers units = as_numbers(bytes);
    return *std::max_element(units.begin(), units.end()) < known_.size();
  }

  SharedCounts runs;
  size_t known_words() const { return known_.size(); }

 private:
  static constexpr uint32_t kNone = WordIndex::kNone;

  // Calls visit(place, bound) for each unit of a document, where `bound` limits how often the unit
  // was seen behind the one before; 0 if they may not join. A place of kNone ends a run.
  template <class Visit>
  void each_unit(std::string_view document, Visit visit) const {
    constexpr uint32_t kUnbounded = 0xffffffffu;
    static thread_local Numbers ids;
    WordReader reader(document, joints_.by_class());
    Word before{};
    uint64_t before_hash = 0;
    uint32_t last = kNone;  // the unit before
    const auto unit = [&](uint32_t place, bool may_join, uint32_t bound) {
      if (unit_pairs_ && may_join && last != kNone && place != kNone)
        bound = unit_pairs_->bound(last, place);
      visit(place, may_join && last != kNone ? bound : 0);
      last = place;
    };
    for (Word word; reader.next(word); before = word) {
      const uint64_t hash = hash_bytes(word.text);
      const uint32_t place = word.joinable() ? known_.find(word.text, hash) : kNone;
      const bool may_join = last != kNone && joints_.allow(before, word);
      if (place == kNone && pieces_.cuts(word)) {
        ids.clear();
        pieces_.encoder->encode(word.text, ids);
        for (size_t i = 0; i < ids.size(); ++i) {
          const std::string_view piece = pieces_.encoder->bytes_of(ids[i]);
          unit(known_.find(piece, hash_bytes(piece)), i > 0 || may_join, kUnbounded);
        }
      } else {
        const bool bounded = place != kNone && may_join && !unit_pairs_;
        unit(place, may_join, bounded ? pairs_.bound(before_hash, hash) : kUnbounded);
      }
      before_hash = hash;
    }
  }

  WordIndex known_;
  const PairSketch& pairs_;
  Joints joints_;
  uint32_t floor_;
  Pieces pieces_;
  std::unique_ptr<PairSketch> unit_pairs_;
  std::mutex lock_;
};

}  // namespace supratok
