// Runs: the longest sequences of neighbouring words that are all known, may join, and whose every
// pair may have been seen often enough.
#pragma once

#include "encode.hpp"
#include "remember.hpp"
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
// of words do not hold for pieces: where there are pieces, the pairs of units must be bounded in a
// reading of its own (UnitBounds), before the table counts.
class RunTable {
 public:
  RunTable(std::vector<std::string> known_words, const PairSketch& pairs, Joints joints,
           uint32_t floor, Pieces pieces, bool of_units)
      : known_(std::move(known_words)), pairs_(pairs), joints_(std::move(joints)), floor_(floor),
        pieces_(std::move(pieces)), of_units_(of_units) {}

  void add(const Texts& documents) {
    Runs found;
    for (const std::string_view document : documents) {
      each_unit(document, [&](const Unit& unit) { found.units.push_back(bounded(unit)); });
      cut(found);
    }
    add(found);
  }
  void add(const Block& block) {
    if (block.by_class != joints_.by_class()) {
      std::string room;
      return add(block.texts(room));
    }
    Runs found;
    const Words words(*this, block);
    block.each_document([&](const Numbers& numbers) {
      words.each_unit(numbers, [&](const Unit& unit) { found.units.push_back(bounded(unit)); });
      cut(found);
    });
    add(found);
  }

  // Whether bytes from outside can be a run.
  bool fits(std::string_view bytes) const {
    if (bytes.size() % sizeof(uint32_t) || bytes.size() < 2 * sizeof(uint32_t)) return false;
    const Numbers units = as_numbers(bytes);
    return *std::max_element(units.begin(), units.end()) < known_.size();
  }

  SharedCounts runs;
  size_t known_words() const { return known_.size(); }

 private:
  friend class UnitBounds;
  static constexpr uint32_t kNone = WordIndex::kNone;

  // A unit of a document. A place of kNone ends a run. `joins`: it may join the unit before, which
  // is known. `left` and `right` are the hashes of the words, for units that are whole words.
  struct Unit {
    uint32_t last, place;
    bool joins, whole;
    uint64_t left, right;
  };

  // What the table knows of a word: the place of its unit; or, where it is cut, of its pieces
  // among all pieces.
  struct Known {
    uint32_t place = kNone, pieces = 0;
    uint8_t as_last = 0, as_next = 0;
  };
  // `pieces` receives the number of its pieces and their places.
  Known look_up(const Word& word, uint64_t hash, Numbers& pieces) const {
    Known found;
    found.as_last = joints_.side_of_last(word);
    found.as_next = joints_.side_of_next(word);
    if (word.joinable()) found.place = known_.find(word.text, hash);
    if (found.place != kNone || !pieces_.cuts(word)) return found;
    const size_t start = pieces.size();
    pieces.push_back(0);
    cut_words_.append(word.text, hash, pieces, [&] { cut_up(word.text, pieces); });
    pieces[start] = static_cast<uint32_t>(pieces.size() - start - 1);
    found.pieces = static_cast<uint32_t>(start) + 1;
    return found;
  }
  // Appends the places of a word's pieces.
  void cut_up(std::string_view word, Numbers& places) const {
    Numbers ids;
    pieces_.encoder->encode(word, ids);
    for (const uint32_t id : ids) {
      const std::string_view piece = pieces_.encoder->bytes_of(id);
      places.push_back(known_.find(piece, hash_bytes(piece)));
    }
  }

  // Goes through the units of a document, word by word.
  template <class Visit>
  struct Walk {
    Visit& visit;
    uint64_t hash = 0;      // of the word before
    uint8_t as_last = 0;    // its side
    uint32_t last = kNone;  // the unit before

    void step(const Known& word, uint64_t next_hash, const Numbers& pieces) {
      const bool joins = as_last & word.as_next;
      if (word.pieces) {
        const uint32_t* const first = &pieces[word.pieces];
        for (uint32_t i = 0; i < first[-1]; ++i) unit(first[i], i > 0 || joins, false, 0);
      } else {
        unit(word.place, joins, true, next_hash);
      }
      hash = next_hash;
      as_last = word.as_last;
    }
    void unit(uint32_t place, bool joins, bool whole, uint64_t next_hash) {
      visit(Unit{last, place, joins && last != kNone, whole, hash, next_hash});
      last = place;
    }
  };
  template <class Visit>
  void each_unit(std::string_view document, Visit visit) const {
    static thread_local Numbers pieces;
    WordReader reader(document, joints_.by_class());
    Walk<Visit> walk{visit};
    for (Word word; reader.next(word);) {
      const uint64_t hash = hash_bytes(word.text);
      pieces.clear();
      walk.step(look_up(word, hash, pieces), hash, pieces);
    }
  }

  // The words of a block, each looked up once.
  class Words {
   public:
    Words(const RunTable& table, const Block& block) {
      for (const std::string_view text : block.words) hashes_.push_back(hash_bytes(text));
      for (size_t i = 0; i < hashes_.size(); breathe(++i)) {
        if (i + kAhead < hashes_.size()) table.known_.prefetch(hashes_[i + kAhead]);
        Word word{};
        WordReader(block.words[i], block.by_class).next(word);
        words_.push_back(table.look_up(word, hashes_[i], pieces_));
      }
    }
    template <class Visit>
    void each_unit(const Numbers& numbers, Visit visit) const {
      Walk<Visit> walk{visit};
      for (const uint32_t number : numbers) walk.step(words_[number], hashes_[number], pieces_);
    }

   private:
    std::vector<uint64_t> hashes_;
    std::vector<Known> words_;
    Numbers pieces_;
  };

  // A unit, and where its bound is; units without one join, or do not.
  struct Bounded {
    static constexpr size_t kJoins = ~size_t{0}, kEnds = kJoins - 1;
    size_t bound;
    uint32_t place;
  };
  Bounded bounded(const Unit& unit) const {
    if (!unit.joins || unit.place == kNone) return {Bounded::kEnds, unit.place};
    if (of_units_) return {pairs_.place(unit.last, unit.place), unit.place};
    if (unit.whole) return {pairs_.place(unit.left, unit.right), unit.place};
    return {Bounded::kJoins, unit.place};
  }

  struct Runs {
    std::vector<Bounded> units;     // of the document
    Numbers places;                 // of the units of all runs, end to end
    std::vector<size_t> starts{0};  // of each run, among them
  };
  // Cuts the units of a document into runs.
  void cut(Runs& found) const {
    const auto close = [&] {
      if (found.places.size() - found.starts.back() > 1)
        found.starts.push_back(found.places.size());
      else
        found.places.resize(found.starts.back());  // a unit by itself has nothing to join
    };
    for (size_t i = 0; i < found.units.size(); ++i) {
      if (i + kAhead < found.units.size() && found.units[i + kAhead].bound < Bounded::kEnds)
        pairs_.prefetch(found.units[i + kAhead].bound);
      const auto [bound, place] = found.units[i];
      if (bound == Bounded::kEnds || (bound != Bounded::kJoins && pairs_.at(bound) < floor_))
        close();
      if (place != kNone) found.places.push_back(place);
    }
    close();
    found.units.clear();
  }
  void add(const Runs& found) {
    static thread_local SharedCounts::Batch batch;
    batch.clear();
    for (size_t i = 0; i + 1 < found.starts.size(); ++i)
      batch.add(as_bytes(&found.places[found.starts[i]], found.starts[i + 1] - found.starts[i]), 1);
    runs.add(batch);
  }

  static constexpr size_t kAhead = 16;
  WordIndex known_;
  const PairSketch& pairs_;
  Joints joints_;
  uint32_t floor_;
  Pieces pieces_;
  mutable Remembered cut_words_;
  bool of_units_;
};

// Bounds the pairs of a table's units, and counts the units.
class UnitBounds {
 public:
  UnitBounds(const RunTable& table, PairSketch& pairs)
      : uses(table.known_words()), table_(table), pairs_(pairs) {}

  void add(const Texts& documents) {
    Counts seen(uses.size());
    PairSketch::Adder adder(pairs_);
    for (const std::string_view document : documents)
      table_.each_unit(document, [&](const RunTable::Unit& unit) { note(unit, seen, adder); });
    add(seen);
  }
  void add(const Block& block) {
    if (block.by_class != table_.joints_.by_class()) {
      std::string room;
      return add(block.texts(room));
    }
    Counts seen(uses.size());
    PairSketch::Adder adder(pairs_);
    const RunTable::Words words(table_, block);
    block.each_document([&](const Numbers& numbers) {
      words.each_unit(numbers, [&](const RunTable::Unit& unit) { note(unit, seen, adder); });
    });
    add(seen);
  }

  Counts uses;  // how often each known word was seen

 private:
  static void note(const RunTable::Unit& unit, Counts& seen, PairSketch::Adder& adder) {
    if (unit.place == RunTable::kNone) return;
    ++seen[unit.place];
    if (unit.joins) adder.add(unit.last, unit.place);
  }
  void add(const Counts& seen) {
    const std::lock_guard guard(lock_);
    for (size_t i = 0; i < seen.size(); ++i) uses[i] += seen[i];
  }

  const RunTable& table_;
  PairSketch& pairs_;
  std::mutex lock_;
};

}  // namespace supratok
