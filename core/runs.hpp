// Runs: the longest sequences of neighbouring words that are all known, may join, and whose every
// pair may have been seen often enough.
#pragma once

#include "encode.hpp"
#include "known_words.hpp"
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

// The units of documents: known words, and the known pieces of others. Any other word ends a run.
class Units {
 public:
  static constexpr uint32_t kNone = WordIndex::kNone;
  Units(std::vector<std::string> known_words, Joints joints, Pieces pieces)
      : known_(std::move(known_words)), joints_(std::move(joints)), pieces_(std::move(pieces)) {}
  size_t size() const { return known_.size(); }

  // A unit of a document. A place of kNone ends a run. `joins`: it may join the unit before, which
  // is known. `left` and `right` are the hashes of the words, for units that are whole words.
  struct Unit {
    uint32_t last, place;
    bool joins, whole;
    uint64_t left, right;
  };

  // Calls visit(unit) for each unit of each document, and end() after each document.
  template <class Visit, class End>
  void each(const Texts& documents, Visit visit, End end) const {
    Numbers pieces;
    for (const std::string_view document : documents) {
      WordReader reader(document, joints_.by_class());
      Walk<Visit> walk{visit};
      for (Word word; reader.next(word);) {
        pieces.clear();
        const uint64_t hash = hash_bytes(word.text);
        Known known = look_up(word, hash, pieces);
        if (!pieces.empty()) known.list = pieces.data();
        walk.step(known, hash);
      }
      end();
    }
  }
  template <class Visit, class End>
  void each(const Block& block, Visit visit, End end) const {
    if (block.by_class != joints_.by_class()) {
      std::string room;
      return each(block.texts(room), visit, end);
    }
    std::vector<uint64_t> hashes(block.words.size());
    for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash_bytes(block.words[i]);
    Numbers pieces;
    const std::vector<Known> words = known_words_.of(block, pieces, *this);
    block.each_document([&](const Numbers& numbers) {
      Walk<Visit> walk{visit};
      for (const uint32_t number : numbers) walk.step(words[number], hashes[number]);
      end();
    });
  }

  // Looks the words of a lexicon up, for the blocks that have its numbers.
  void prepare(const Lexicon& lexicon, size_t threads) {
    const std::lock_guard guard(lock_);
    known_words_.prepare(lexicon, threads, *this);
  }

 private:
  // What is known of a word: the place of its unit; or, where it is cut, how many pieces it has,
  // and their places.
  struct Known {
    uint32_t place = kNone;
    uint8_t as_last = 0, as_next = 0;
    const uint32_t* list = nullptr;
  };
  Known look_up(std::string_view text, Numbers& pieces) const {
    Word word{};
    WordReader(text, joints_.by_class()).next(word);
    return look_up(word, hash_bytes(text), pieces);
  }
  // `pieces` receives the number of its pieces and their places.
  Known look_up(const Word& word, uint64_t hash, Numbers& pieces) const {
    Known found;
    found.as_last = joints_.side_of_last(word);
    found.as_next = joints_.side_of_next(word);
    if (word.joinable()) found.place = known_.find(word.text, hash);
    if (found.place != kNone || !pieces_.cuts(word)) return found;
    static thread_local Numbers ids;
    ids.clear();
    pieces_.encoder->encode(word.text, ids);
    pieces.push_back(static_cast<uint32_t>(ids.size()));
    for (const uint32_t id : ids) {
      const std::string_view piece = pieces_.encoder->bytes_of(id);
      pieces.push_back(known_.find(piece, hash_bytes(piece)));
    }
    return found;
  }

  // Goes through the units of a document, word by word.
  template <class Visit>
  struct Walk {
    Visit& visit;
    uint64_t hash = 0;      // of the word before
    uint8_t as_last = 0;    // its side
    uint32_t last = kNone;  // the unit before

    void step(const Known& word, uint64_t next_hash) {
      const bool joins = as_last & word.as_next;
      if (word.list) {
        for (uint32_t i = 0; i < word.list[0]; ++i)
          unit(word.list[1 + i], i > 0 || joins, false, 0);
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

  WordIndex known_;
  Joints joints_;
  Pieces pieces_;
  std::mutex lock_;
  friend class KnownWords<Known>;
  KnownWords<Known> known_words_;
};

// Counts runs. A run is kept as the places of its units in the list of known words, 32 bits each.
// The bounds for pairs of words do not hold for pieces: where there are pieces, the pairs of units
// must be bounded in a reading of its own (UnitBounds), before the table counts.
class RunTable {
 public:
  RunTable(Units& units, const PairSketch& pairs, uint32_t floor, bool of_units)
      : units_(units), pairs_(pairs), floor_(floor), of_units_(of_units) {}

  void prepare(const Lexicon& lexicon, size_t threads) { units_.prepare(lexicon, threads); }
  template <class Source>  // texts or a block
  void add(const Source& source) {
    Runs found;
    units_.each(
        source, [&](const Units::Unit& unit) { found.units.push_back(bounded(unit)); },
        [&] { cut(found); });
    static thread_local SharedCounts::Batch batch;
    batch.clear();
    for (size_t i = 0; i + 1 < found.starts.size(); ++i)
      batch.add(as_bytes(&found.places[found.starts[i]], found.starts[i + 1] - found.starts[i]), 1);
    runs.add(batch);
  }

  // Whether bytes from outside can be a run.
  bool fits(std::string_view bytes) const {
    if (bytes.size() % sizeof(uint32_t) || bytes.size() < 2 * sizeof(uint32_t)) return false;
    const Numbers units = as_numbers(bytes);
    return *std::max_element(units.begin(), units.end()) < units_.size();
  }

  SharedCounts runs;
  size_t known_words() const { return units_.size(); }

 private:
  static constexpr uint32_t kNone = Units::kNone;
  // A unit, and where its bound is; units without one join, or do not.
  struct Bounded {
    static constexpr size_t kJoins = ~size_t{0}, kEnds = kJoins - 1;
    size_t bound;
    uint32_t place;
  };
  Bounded bounded(const Units::Unit& unit) const {
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

  static constexpr size_t kAhead = 16;
  Units& units_;
  const PairSketch& pairs_;
  uint32_t floor_;
  bool of_units_;
};

// Bounds the pairs of units, and counts the units.
class UnitBounds {
 public:
  UnitBounds(Units& units, PairSketch& pairs) : uses(units.size()), units_(units), pairs_(pairs) {}

  void prepare(const Lexicon& lexicon, size_t threads) { units_.prepare(lexicon, threads); }
  template <class Source>  // texts or a block
  void add(const Source& source) {
    Counts seen(uses.size());
    PairSketch::Adder adder(pairs_);
    units_.each(
        source,
        [&](const Units::Unit& unit) {
          if (unit.place == Units::kNone) return;
          ++seen[unit.place];
          if (unit.joins) adder.add(unit.last, unit.place);
        },
        [] {});
    const std::lock_guard guard(lock_);
    for (size_t i = 0; i < seen.size(); ++i) uses[i] += seen[i];
  }

  Counts uses;  // how often each known word was seen

 private:
  Units& units_;
  PairSketch& pairs_;
  std::mutex lock_;
};

}  // namespace supratok
