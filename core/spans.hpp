// Spans: a few letter words side by side, and how often and in how many documents they occur.
//
// A small text is searched once for the spans of interest; they are kept in a trie over word
// numbers. Any amount of text is then searched for these: at most places the trie ends after a word
// or two.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "words.hpp"

namespace supratok {

// A word of a text; `word` is its number in the list, or WordIndex::kNone. Whitespace in which a
// line ends has the class Newline.
struct Unit {
  std::string_view text;
  uint64_t hash;
  uint32_t word;
  CharClass cls;
};

class SpanTable {
 public:
  static constexpr uint32_t kNone = WordIndex::kNone;

  // `groups` numbers the words that count as one word where documents are counted ("York", "york").
  // A span begins only with a word that `begins`, and has 2 to `max_words` words.
  SpanTable(std::vector<std::string> words, std::vector<uint32_t> groups,
            std::vector<uint8_t> begins, size_t max_words);

  // Adds the spans whose every pair of words may have been seen `floor` times. Returns how the
  // sequences of 2 to max_words neighbouring words divide: spans; rare ones (a word is not in the
  // list, or a pair surely too rare); those whose first word may not begin a span; and, by class,
  // those with words not made of letters, by the first of these.
  std::tuple<int64_t, int64_t, int64_t, std::vector<int64_t>> find(const Texts& documents,
                                                                   const PairSketch& pairs,
                                                                   uint32_t floor);

  // Counts the spans, the documents they are in, and the documents each group of words is in.
  void add(const Texts& documents);

  // The counts since the last call: of each span, of the documents with each span, of those with
  // each group, of sequences of 1, 2, ... letter words, and of documents.
  using Counts = std::tuple<std::vector<int64_t>, std::vector<int64_t>, std::vector<int64_t>,
                            std::vector<int64_t>, int64_t>;
  Counts take_counts();

  size_t size() const { return keys_.size(); }
  // The words of each span, max_words numbers a span; kNone where it is shorter.
  std::vector<uint32_t> rows() const;
  // The span that another one continues by a word, or kNone if it has two words.
  uint32_t shorter(uint32_t span) const {
    const auto node = static_cast<uint32_t>(keys_[span] >> 32);
    return node < words_ ? kNone : node - words_;
  }

  void read(std::string_view document, std::vector<Unit>& units) const;
  // Visits the spans that begin with unit `i`, short ones first, while visit(span, its last unit)
  // returns true.
  template <class Visit>
  void each_at(const std::vector<Unit>& units, size_t i, Visit visit) const {
    if (units[i].word == kNone || !begins_[units[i].word]) return;
    uint32_t node = units[i].word;
    for (size_t last = i + 1; last < units.size() && units[last].word != kNone; ++last) {
      const uint32_t span = child(node, units[last].word);
      if (span == kNone || !visit(span, last)) return;
      node = words_ + span;
    }
  }

 private:
  // The nodes of the trie: the words, then the spans. The key of a span: its parent node, its last
  // word.
  uint32_t child(uint32_t node, uint32_t word) const {
    const uint64_t key = FlatCounts::pair(node, word);
    return children_.find(mix(key), [&](uint32_t span) { return keys_[span] == key; });
  }
  size_t find_at(const std::vector<Unit>& units, size_t i, const PairSketch& pairs, uint32_t floor);

  uint32_t words_;
  WordIndex index_;
  std::vector<uint32_t> groups_;
  std::vector<uint8_t> begins_;
  size_t max_words_;
  size_t group_count_ = 0;
  FlatIndex children_;
  std::vector<uint64_t> keys_;        // by span
  std::vector<int64_t> occurrences_;  // by span
  std::vector<int64_t> documents_;    // by group, then by span
  std::vector<int64_t> stretches_;
  int64_t read_ = 0;
};

// Counts the neighbours before and after some of the spans. The edge of a line or a document is a
// neighbour like any other.
class NeighbourTable {
 public:
  NeighbourTable(const SpanTable& table, const std::vector<uint32_t>& spans);
  void add(const Texts& documents);

  // By span: the entropy of the neighbours before it, in bits, and the share of the most frequent
  // one; then both of the neighbours after it.
  std::array<std::vector<double>, 4> summary() const;

 private:
  const SpanTable& table_;
  std::vector<uint32_t> places_;  // by span of the table: its place in the list, or kNone
  std::vector<uint8_t> leads_;    // by span of the table: one of the list begins with it
  size_t size_;
  SharedCounts neighbours_;  // a text is 4 bytes of place and side, then the neighbour
};

}  // namespace supratok
