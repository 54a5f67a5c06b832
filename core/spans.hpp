// Spans: a few letter words that stand side by side, with where and how often they are seen.
//
// The spans of interest are found once, in a small text, and kept in a trie over word numbers. Any
// amount of text is then searched for them: at most places the trie ends after a word or two.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "counts.hpp"

namespace supratok {

// A word as it stands in a text; `word` is its number in the list, or WordIndex::kNone. Whitespace
// in which a line ends has the class Newline.
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
  SpanTable(const std::vector<std::string>& words, std::vector<uint32_t> groups,
            std::vector<uint8_t> begins, size_t max_words);

  // What became of the stretches of 2 to max_words neighbouring words in a text.
  struct Found {
    int64_t spans = 0;
    int64_t rare = 0;                   // a word is not in the list, or a pair surely too rare
    int64_t not_beginning = 0;          // its first word may not begin a span
    std::array<int64_t, 7> by_class{};  // the first word in it that is not made of letters
  };
  // Adds the spans whose every pair of words may have been seen `floor` times.
  Found find(const std::vector<std::string_view>& documents, const PairSketch& pairs,
             uint32_t floor);

  // Counts the spans, the documents they are in, and the documents each group of words is in.
  void add(const std::vector<std::string_view>& documents);

  struct Counts {
    std::vector<int64_t> spans, span_documents, group_documents;
    std::vector<int64_t> stretches;  // of so many letter words in a row: of 1, of 2, ...
    int64_t documents = 0;
  };
  Counts take_counts();  // what was counted since the last time

  size_t size() const { return parents_.size(); }
  size_t max_words() const { return max_words_; }
  // The words of each span, max_words numbers a span; kNone where it is shorter.
  const std::vector<uint32_t>& rows() const { return rows_; }
  // The span that another one continues, or kNone if it has two words.
  uint32_t shorter(uint32_t span) const { return parents_[span]; }

  void read(std::string_view document, std::vector<Unit>& units) const;
  // Visits the spans that begin with unit `i`, short ones first, while visit(span, its last unit)
  // says to go on.
  template <class Visit>
  void each_at(const std::vector<Unit>& units, size_t i, Visit visit) const {
    if (units[i].word == kNone || !begins_[units[i].word]) return;
    uint32_t node = units[i].word;
    for (size_t last = i + 1; last < units.size() && units[last].word != kNone; ++last) {
      node = child(node, units[last].word);
      if (node == kNone || !visit(static_cast<uint32_t>(node - groups_.size()), last)) return;
    }
  }

 private:
  // The nodes of the trie: the words, then the spans.
  struct Slot {
    uint64_t key = 0;
    uint32_t node = kNone;
  };
  static uint64_t key(uint32_t node, uint32_t word) { return uint64_t{node} << 32 | word; }
  uint32_t child(uint32_t node, uint32_t word) const {
    const uint64_t wanted = key(node, word);
    for (size_t i = mix(wanted) & mask_; slots_[i].node != kNone; i = (i + 1) & mask_)
      if (slots_[i].key == wanted) return slots_[i].node;
    return kNone;
  }
  uint32_t add_child(uint32_t node, uint32_t word, size_t depth);
  void grow();
  size_t find_at(const std::vector<Unit>& units, size_t i, const PairSketch& pairs, uint32_t floor);

  WordIndex index_;
  std::vector<uint32_t> groups_;
  std::vector<uint8_t> begins_;
  size_t max_words_;
  size_t group_count_ = 0;
  std::vector<Slot> slots_;
  size_t mask_;
  std::vector<uint32_t> parents_, rows_;  // see `shorter` and `rows`
  std::vector<int64_t> occurrences_;      // by span
  std::vector<int64_t> documents_;        // by group, then by span
  std::vector<int64_t> stretches_;
  int64_t read_ = 0;
};

// Counts what stands before and after some of the spans. The edge of a line or a document is a
// neighbour like any other.
class NeighbourTable {
 public:
  NeighbourTable(const SpanTable& table, const std::vector<uint32_t>& spans);
  void add(const std::vector<std::string_view>& documents);

  // By span: the entropy, in bits, and the share of the most frequent neighbour; before and after.
  struct Summary {
    std::array<std::vector<double>, 2> entropies, peaks;
  };
  Summary summary() const;

 private:
  const SpanTable& table_;
  std::vector<uint32_t> places_;  // by span of the table: its place in the list, or kNone
  std::vector<uint8_t> leads_;    // by span of the table: one of the list begins with it
  size_t size_;
  SharedCounts neighbours_;  // a text is 4 bytes of place and side, then the neighbour
};

}  // namespace supratok
