// The words of documents: how often each was seen, and a bound for each pair of neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joints.hpp"
#include "pair_sketch.hpp"
#include "text.hpp"
#include "text_counts.hpp"

namespace supratok {

// With `joints` it counts stretches instead: the longest sequences of words that may all join, as
// one text each. Nearly every stretch is unique, so the table is then as large as the text.
class WordTable {
 public:
  WordTable(int sketch_bits, bool by_class, std::optional<Joints> joints)
      : pairs(sketch_bits), by_class_(by_class), joints_(std::move(joints)) {}
  void add(const Texts& documents);
  Columns rows(int64_t least) const;  // seen at least so often
  Columns rows_of_script(uint8_t script) const;
  std::vector<int64_t> counts_of(const Texts& words) const;
  std::vector<int64_t> totals() const;      // words by class
  std::vector<int64_t> characters() const;  // by code point

  SharedCounts words;
  PairSketch pairs;

 private:
  template <class Visit>
  void each_text(std::string_view document, Visit visit) const;

  bool by_class_;
  std::optional<Joints> joints_;
};

// A fixed list of words, for finding the place of a word in it.
class WordIndex {
 public:
  static constexpr uint32_t kNone = FlatIndex::kNone;
  explicit WordIndex(std::vector<std::string> words);
  size_t size() const { return words_.size(); }
  uint32_t find(std::string_view word, uint64_t hash) const {
    return index_.find(hash, [&](uint32_t place) { return words_[place] == word; });
  }

 private:
  std::vector<std::string> words_;
  FlatIndex index_;
};

}  // namespace supratok
