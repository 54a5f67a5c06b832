// The words of documents: how often each was seen, and a bound for each pair of neighbours.
#pragma once

#include <bit>

#include "joints.hpp"
#include "pair_sketch.hpp"
#include "store.hpp"

namespace supratok {

// With `joints` it counts stretches instead: the longest sequences of words that may all join, as
// one text each. Nearly every stretch is unique, so the table is then as large as the text.
class WordTable {
 public:
  WordTable(int sketch_bits, bool by_class, std::optional<Joints> joints)
      : pairs(sketch_bits), by_class_(by_class), joints_(std::move(joints)) {}

  // Also adds the documents to the store, if there is one.
  void add(const Texts& documents, Store* store = nullptr) {
    static thread_local TextCounts local(true);
    static thread_local SharedCounts::Batch batch;
    static thread_local BlockWriter writer;
    local.clear();
    batch.clear();
    writer.clear();
    PairSketch::Adder adder(pairs);
    Sizes sizes;
    for (const std::string_view document : documents) {
      uint64_t before = 0;  // the hash of the joinable word just before; 0: none
      each_text(document, [&](const Word& word) {
        const uint64_t hash = hash_bytes(word.text);
        const uint32_t number = local.add(word.text, hash, 1);
        if (store) writer.add(number);
        if (word.joinable() && before) adder.add(before, hash);
        before = word.joinable() ? hash : 0;
      });
      writer.end_document();
      sizes.bytes += document.size();
    }
    if (store) store->add(writer.finish(local, by_class_, sizes), sizes);
    local.each([&](std::string_view text, int64_t count) { batch.add(text, count); });
    words.add(batch);
  }

  void add(const Block& block) {
    std::string room;
    if (joints_ || block.by_class != by_class_) return add(block.texts(room));
    static thread_local SharedCounts::Batch batch;
    std::vector<uint64_t> hashes;  // of joinable words, else 0
    for (const std::string_view text : block.words) {
      Word word{};
      WordReader(text, by_class_).next(word);
      hashes.push_back(word.joinable() ? hash_bytes(text) : 0);
    }
    Counts counts(block.words.size());
    PairSketch::Adder adder(pairs);
    block.each_document([&](const Numbers& numbers) {
      uint64_t before = 0;
      for (const uint32_t number : numbers) {
        ++counts[number];
        const uint64_t hash = hashes[number];
        if (before && hash) adder.add(before, hash);
        before = hash;
      }
    });
    batch.clear();
    for (size_t i = 0; i < counts.size(); ++i) batch.add(block.words[i], counts[i]);
    words.add(batch);
  }
  bool counts_words() const { return !joints_; }

  // Words and counts: most frequent first; equals shorter first, then by code points.
  struct Rows {
    Texts texts;
    Counts counts;
    TextCounts copies;  // of the texts, if the table has none in memory
  };
  Rows rows(int64_t least) const {  // seen at least so often
    return rows_if([&](std::string_view, int64_t count) { return count >= least; });
  }
  Rows rows_of_script(uint8_t script) const {
    return rows_if([&](std::string_view text, int64_t) { return script_of(text) == script; });
  }
  Counts counts_of(const Texts& texts) const { return words.find_all(texts); }
  Counts totals() const {                                   // words by class
    Counts totals(static_cast<size_t>(CharClass::Extend));  // no word has this class
    words.each([&](std::string_view text, int64_t count) {
      Word word{};
      WordReader(text, by_class_).next(word);
      totals[static_cast<size_t>(word.cls)] += count;
    });
    return totals;
  }
  Counts characters() const {  // by code point
    Counts counts(kCodePoints);
    words.each([&](std::string_view text, int64_t count) {
      each_char(text, [&](uint32_t code) { counts[code] += count; });
    });
    return counts;
  }

  // Whether a text from outside can be a word.
  bool fits(std::string_view text) const { return !text.empty() && is_utf8(text); }

  SharedCounts words;
  PairSketch pairs;

 private:
  // Calls visit(word) for each word of a document, or for each stretch as if it were one.
  template <class Visit>
  void each_text(std::string_view document, Visit visit) const {
    WordReader reader(document, by_class_);
    Word word, text{};
    if (!joints_)
      while (reader.next(word)) visit(word);
    for (Word before{}; reader.next(word); before = word) {
      const bool joins = !text.text.empty() && joints_->allow(before, word);
      if (!joins && !text.text.empty()) visit(text);
      if (!joins)
        text = word;
      else
        text.text = {text.text.data(), text.text.size() + word.text.size()};
    }
    if (!text.text.empty()) visit(text);
  }

  template <class Keep>
  Rows rows_if(Keep keep) const {
    Rows rows;
    std::vector<TextCount> found;
    const auto collect = [&](std::string_view text, int64_t count) {
      found.push_back({text, count});
    };
    const bool copied = words.spilled();
    words.each([&](std::string_view text, int64_t count) {
      if (!keep(text, count)) return;
      if (copied)
        rows.copies.add(text, hash_bytes(text), count);
      else
        collect(text, count);
    });
    rows.copies.each(collect);
    sort(found, [](const TextCount& a, const TextCount& b) {
      if (a.count != b.count) return a.count > b.count;
      if (a.text.size() != b.text.size()) return a.text.size() < b.text.size();
      return a.text < b.text;
    });
    for (const auto& [text, count] : found) {
      rows.texts.push_back(text);
      rows.counts.push_back(count);
    }
    return rows;
  }

  bool by_class_;
  std::optional<Joints> joints_;
};

// A fixed list of words, for finding the place of a word in it.
class WordIndex {
 public:
  static constexpr uint32_t kNone = FlatIndex::kNone;
  explicit WordIndex(std::vector<std::string> words)
      : words_(std::move(words)), index_(std::bit_ceil(words_.size() * 4 + 1)) {
    for (size_t place = 0; place < words_.size(); ++place)
      index_.add(hash_bytes(words_[place]), static_cast<uint32_t>(place));
  }
  size_t size() const { return words_.size(); }
  void prefetch(uint64_t hash) const { index_.prefetch(hash); }
  uint32_t find(std::string_view word, uint64_t hash) const {
    return index_.find(hash, [&](uint32_t place) { return same_text(words_[place], word); });
  }

 private:
  std::vector<std::string> words_;
  FlatIndex index_;
};

}  // namespace supratok
