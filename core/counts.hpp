// Tables of counts: texts with the number of times each was seen, and a sketch of word pairs.
//
// Adding is commutative and every reading is sorted, so a table does not depend on the order of
// the texts, on the number of threads, or on how the corpus was cut into pieces.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "encode.hpp"
#include "memory.hpp"
#include "text.hpp"

namespace supratok {

struct TextCount {
  std::string_view text;
  int64_t count;
};

// One open-addressing table: text -> 64-bit count; a text whose count is back at 0 is not there. It
// keeps copies of the texts, or, where they outlive it, only borrows them. Slots and texts lie in
// blocks of one size, so that what a growing table gives back fits the next one: dozens of them
// grow side by side.
class TextCounts {
 public:
  explicit TextCounts(bool borrows = false) : borrows_(borrows) {}
  void clear();  // keeps its memory, for the next use
  void add(std::string_view text, uint32_t hash, int64_t count);
  void prefetch(uint32_t hash) {
    if (!segments_.empty()) __builtin_prefetch(&slot(hash & (capacity() - 1)));
  }

  int64_t find(std::string_view text, uint32_t hash) const;  // its count; 0 if it is not here
  size_t size() const;
  std::vector<TextCount> rows() const;
  // The same; the table is empty then, but keeps the texts.
  std::vector<TextCount> take_rows();
  template <class Visit>  // visit(text, count), in no particular order
  void each(Visit visit) const {
    for (const auto& segment : segments_)
      for (size_t i = 0; i < kSegment; ++i)
        if (const Slot& slot = segment[i]; slot.count)
          visit(std::string_view(slot.text, slot.length), slot.count);
  }

 private:
  struct Slot {
    const char* text = nullptr;
    int64_t count = 0;
    uint32_t length = 0;
    uint32_t hash = 0;  // its low bits
  };
  using Segment = std::unique_ptr<Slot[]>;
  static constexpr size_t kSegment = 2048;  // slots
  static constexpr size_t kBlock = kSegment * sizeof(Slot);

  size_t capacity() const { return segments_.size() * kSegment; }
  const Slot& slot(size_t i) const { return segments_[i / kSegment][i % kSegment]; }
  Slot& slot(size_t i) { return segments_[i / kSegment][i % kSegment]; }
  void grow();
  const char* keep(std::string_view text);

  bool borrows_;
  std::vector<Segment> segments_;
  size_t used_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  char* block_at_ = nullptr;
};

// The same, cut into parts by hash with a lock each, for many threads.
class SharedCounts {
  static constexpr size_t kParts = 64;

 public:
  // Collects what one thread saw, and hands it over with each lock taken once.
  class Batch {
   public:
    void add(std::string_view text, uint64_t hash, int64_t count) {
      rows_[part_of(hash)].push_back({text, count, static_cast<uint32_t>(hash)});
    }

    void clear() {
      for (auto& rows : rows_) rows.clear();
    }

   private:
    friend class SharedCounts;
    struct Row {
      std::string_view text;
      int64_t count;
      uint32_t hash;
    };
    std::array<std::vector<Row>, kParts> rows_;
  };
  void add(const Batch& batch);
  void add(std::string_view text, int64_t count);
  int64_t find(std::string_view text) const;  // its count; 0 if it was never seen
  size_t size() const;
  template <class Visit>  // visit(text, count), in no particular order
  void each(Visit visit) const {
    for (const Part& part : parts_) part.counts.each(visit);
  }
  // Visits the rows by falling count, equals in no particular order. With `drain` the table gives
  // its memory back on the way, for what is made of the rows. With `changes`, each count is
  // visited as if these were added to it; texts whose count is then 0 or less are left out.
  template <class Visit>
  void by_falling_count(bool drain, Visit visit, const TextCounts* changes = nullptr) {
    std::array<std::vector<TextCount>, kParts> rows;
    if (changes)
      changes->each([&](std::string_view text, int64_t count) {
        if (!find(text)) rows[part_of(hash_bytes(text))].push_back({text, count});
      });
    for (size_t p = 0; p < kParts; ++p) {
      for (TextCount row : drain ? parts_[p].counts.take_rows() : parts_[p].counts.rows()) {
        if (changes)
          row.count += changes->find(row.text, static_cast<uint32_t>(hash_bytes(row.text)));
        rows[p].push_back(row);
      }
      std::sort(rows[p].begin(), rows[p].end(),
                [](const TextCount& a, const TextCount& b) { return a.count < b.count; });
    }
    if (drain) return_freed_memory();
    while (true) {
      int64_t highest = 0;
      for (const auto& part : rows)
        if (!part.empty()) highest = std::max(highest, part.back().count);
      if (!highest) return;
      for (size_t p = 0; p < kParts; ++p) {
        while (!rows[p].empty() && rows[p].back().count == highest) {
          visit(rows[p].back().text, highest);
          rows[p].pop_back();
        }
        if (!rows[p].empty()) continue;
        rows[p].shrink_to_fit();
        if (drain) parts_[p].counts = TextCounts();
      }
    }
  }

 private:
  static size_t part_of(uint64_t hash) { return hash >> 58; }  // TextCounts uses the low bits
  struct Part {
    std::mutex lock;
    TextCounts counts;
  };
  std::array<Part, kParts> parts_;
};

// An upper bound for the count of every pair of neighbouring words, in a fixed amount of memory:
// pairs share counters by hash, so a bound may be too high but never too low.
class PairSketch {
 public:
  explicit PairSketch(int bits);
  size_t place(uint64_t left, uint64_t right) const { return hash_pair(left, right) >> shift_; }
  void prefetch(size_t place) const { __builtin_prefetch(&counters_[place], 1); }
  void add(size_t place);
  uint32_t bound(uint64_t left, uint64_t right) const;
  // How many counters have reached `count`.
  size_t at_least(uint32_t count) const;
  void merge(const uint32_t* counters, size_t size);
  std::vector<uint32_t> counters() const;

 private:
  int bits_;
  int shift_;
  LargeVector<std::atomic<uint32_t>> counters_;
};

// Where two neighbouring words may not join, beyond whitespace and controls.
struct Joints {
  bool cross_sentence = true;  // ". The"
  bool cross_colon = true;     // "note: the"
  bool numbers = true;         // " in 20"
  bool by_class = true;        // how the words were cut

  bool allow(const Word& left, const Word& right) const;
};

// A row of a table, for reading it in full: most frequent first; equals shorter first, then by code
// points.
struct Row {
  std::string text;
  int64_t count;
};

// Counts the words of documents, and bounds their neighbouring pairs.
class WordTable {
 public:
  explicit WordTable(int sketch_bits, bool by_class = true)
      : pairs(sketch_bits), by_class_(by_class) {}
  void add(const std::vector<std::string_view>& documents);
  void add_row(std::string_view text, int64_t count) { words.add(text, count); }
  std::vector<Row> rows(int64_t least) const;  // seen at least so often
  std::vector<Row> rows_of_script(uint8_t script) const;
  bool by_class() const { return by_class_; }

  SharedCounts words;
  PairSketch pairs;

 private:
  bool by_class_;
};

// A fixed list of words, for finding the place of a word in it.
class WordIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  explicit WordIndex(const std::vector<std::string>& words);
  const std::string& word(uint32_t place) const { return words_[place]; }
  size_t size() const { return words_.size(); }
  uint32_t find(std::string_view word, uint64_t hash) const {
    for (size_t i = hash & mask_; slots_[i].place != kNone; i = (i + 1) & mask_)
      if (slots_[i].tag == static_cast<uint32_t>(hash >> 32) && words_[slots_[i].place] == word)
        return slots_[i].place;
    return kNone;
  }

 private:
  struct Slot {
    uint32_t place = kNone;
    uint32_t tag = 0;
  };
  std::vector<std::string> words_;
  std::vector<Slot> slots_;
  size_t mask_;
};

// Counts stretches of text: neighbouring words that may all join, as they stand. Other words are
// stretches of their own. Nearly every stretch is unique, so this is as large as the text.
class StretchTable {
 public:
  explicit StretchTable(Joints joints) : joints_(joints) {}
  void add(const std::vector<std::string_view>& documents);

  SharedCounts stretches;

 private:
  Joints joints_;
};

// Which words that are not known are taken in pieces: those of some scripts, or all.
struct Pieces {
  const Encoder* encoder = nullptr;  // cuts a word into entries, by merges
  std::array<bool, 256> scripts{};
};

// Counts runs: the longest sequences of neighbouring words that are all known, may join, and whose
// every pair may have been seen at least `floor` times. A run is kept as the places of its words in
// the list of known ones, 32 bits each. A word that is not known ends a run, or goes on in pieces
// that are. The bounds of pairs of words say nothing of pieces, so these need bounds of their own.
class RunTable {
 public:
  RunTable(const std::vector<std::string>& known_words, const PairSketch& pairs, Joints joints,
           uint32_t floor, const Pieces& pieces);
  void add(const std::vector<std::string_view>& documents);
  void add_row(std::string_view text, int64_t count);  // the text must be made of known words
  std::vector<Row> rows() const;
  size_t known_words() const { return known_.size(); }
  // From now on these bounds hold for pairs, instead of those of whole words.
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

// Bounds the pairs of a run table's units, pieces included, in a reading of its own; and counts the
// units.
class UnitPairs {
 public:
  UnitPairs(const RunTable& table, int sketch_bits)
      : pairs(std::make_unique<PairSketch>(sketch_bits)),
        uses(table.known_words()),
        table_(table) {}
  void add(const std::vector<std::string_view>& documents);

  std::unique_ptr<PairSketch> pairs;
  std::vector<int64_t> uses;

 private:
  const RunTable& table_;
  std::mutex lock_;
};

// A run's words, from the bytes it is kept as.
inline std::vector<uint32_t> run_words(std::string_view run) {
  std::vector<uint32_t> words(run.size() / sizeof(uint32_t));
  std::memcpy(words.data(), run.data(), run.size());
  return words;
}

inline std::string_view run_bytes(const uint32_t* words, size_t count) {
  return {reinterpret_cast<const char*>(words), count * sizeof(uint32_t)};
}

// Threads that count while the caller reads on. Texts are copied and handed over in portions of
// about a megabyte; the caller waits while too many are under way.
template <class Counter>
class Counting {
 public:
  Counting(Counter& counter, size_t threads) : counter_(counter) {
    for (size_t t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }
  ~Counting() { stop(); }

  // True when a portion is full and is to be handed over.
  bool add(std::string_view text) {
    portion_.sizes.push_back(text.size());
    portion_.text += text;
    return portion_.text.size() >= kPortion;
  }
  void hand_over() {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [this] { return queue_.size() <= threads_.size() || failure_; });
    queue_.push_back(std::exchange(portion_, {}));
    if (!spare_.empty()) {
      portion_ = std::move(spare_.back());
      spare_.pop_back();
    }
    changed_.notify_all();
  }
  // Counts what is left, and raises what went wrong in a thread.
  void finish() {
    hand_over();
    stop();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr size_t kPortion = 1 << 20;
  struct Portion {
    std::string text;
    std::vector<size_t> sizes;
  };

  void stop() {
    {
      const std::lock_guard lock(lock_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void work() {
    while (true) {
      Portion portion;
      {
        std::unique_lock lock(lock_);
        changed_.wait(lock, [this] { return !queue_.empty() || stopping_; });
        if (queue_.empty()) return;
        portion = std::move(queue_.front());
        queue_.pop_front();
      }
      changed_.notify_all();
      try {
        std::vector<std::string_view> documents;
        size_t start = 0;
        for (const size_t size : portion.sizes) {
          documents.push_back(std::string_view(portion.text).substr(start, size));
          start += size;
        }
        counter_.add(documents);
      } catch (...) {
        const std::lock_guard lock(lock_);
        failure_ = std::current_exception();
      }
      portion.text.clear();
      portion.sizes.clear();
      const std::lock_guard lock(lock_);
      spare_.push_back(std::move(portion));
    }
  }

  Counter& counter_;
  Portion portion_;
  std::deque<Portion> queue_;
  std::vector<Portion> spare_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace supratok
