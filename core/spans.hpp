// Spans: a few letter words side by side, and how often and in how many documents they occur.
//
// A small text is searched once for the spans of interest; they are kept in a trie over word
// numbers. Any amount of text is then searched for these: at most places the trie ends after a word
// or two.
#pragma once

#include <cmath>

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
  SpanTable(std::vector<std::string> words, Numbers groups, std::vector<uint8_t> begins,
            size_t max_words)
      : words_(static_cast<uint32_t>(words.size())), index_(std::move(words)),
        groups_(std::move(groups)), begins_(std::move(begins)), max_words_(max_words),
        stretches_(max_words) {
    if (groups_.size() != words_ || begins_.size() != words_)
      throw std::invalid_argument("as many groups and beginnings as words");
    for (const uint32_t group : groups_) group_count_ = std::max<size_t>(group_count_, group + 1);
    documents_.resize(group_count_);
  }

  // Adds the spans whose every pair of words may have been seen `floor` times. Returns how the
  // sequences of 2 to max_words neighbouring words divide: spans; rare ones (a word is not in the
  // list, or a pair surely too rare); those whose first word may not begin a span; and, by class,
  // those with words not made of letters, by the first of these.
  using Found = std::tuple<int64_t, int64_t, int64_t, Counts>;
  Found find(const Texts& documents, const WordTable& words, uint32_t floor) {
    int64_t spans = 0, rare = 0, not_beginning = 0;
    Counts by_class(static_cast<size_t>(CharClass::Extend) + 1);
    std::vector<Unit> units;
    for (const std::string_view document : documents) {
      breathe();
      read(document, units);
      for (size_t i = 0; i < units.size(); ++i) {
        const size_t most = std::min(max_words_, units.size() - i);
        size_t letters = 0;  // in a row
        while (letters < most && units[i + letters].cls == CharClass::Letter) ++letters;
        if (letters < most)
          by_class[static_cast<size_t>(units[i + letters].cls)] +=
              most - std::max<size_t>(letters, 1);
        if (letters < 2) continue;
        const bool known = units[i].word != kNone;
        if (known && !begins_[units[i].word]) {
          not_beginning += letters - 1;
          continue;
        }
        const size_t found = known ? find_at(units, i, words.pairs, floor) - 1 : 0;
        spans += found;
        rare += letters - 1 - found;
      }
    }
    occurrences_.assign(size(), 0);
    documents_.assign(group_count_ + size(), 0);
    return {spans, rare, not_beginning, std::move(by_class)};
  }

  // Taken the spans, the documents they are in, and the documents each group of words is in.
  void add(const Texts& documents) {
    static thread_local std::vector<Unit> units;
    static thread_local Numbers last_in;  // the document, from 1, that had it last
    if (occurrences_.size() != size()) throw std::logic_error("`find` was stopped");
    last_in.assign(documents_.size(), 0);
    Counts stretches(max_words_);
    const auto add_to = [](int64_t& total, int64_t more) {
      std::atomic_ref(total).fetch_add(more, std::memory_order_relaxed);
    };
    uint32_t number = 0;
    for (const std::string_view document : documents) {
      ++number;
      const auto note_document = [&](size_t thing) {
        if (last_in[thing] != number) add_to(documents_[thing], 1);
        last_in[thing] = number;
      };
      read(document, units);
      size_t letters = 0;  // words in a row that end here
      for (size_t i = 0; i < units.size(); ++i) {
        letters = units[i].cls == CharClass::Letter ? letters + 1 : 0;
        for (size_t n = 0; n < std::min(letters, max_words_); ++n) ++stretches[n];
        if (units[i].word == kNone) continue;
        note_document(groups_[units[i].word]);
        each_at(units, i, [&](uint32_t span, size_t) {
          note_document(group_count_ + span);
          add_to(occurrences_[span], 1);
          return true;
        });
      }
    }
    for (size_t n = 0; n < max_words_; ++n) add_to(stretches_[n], stretches[n]);
    add_to(read_, static_cast<int64_t>(documents.size()));
  }

  // The counts since the last call: of each span, of the documents with each span, of those with
  // each group, of sequences of 1, 2, ... letter words, and of documents.
  using Taken = std::tuple<Counts, Counts, Counts, Counts, int64_t>;
  Taken take_counts() {
    const auto groups = documents_.begin() + static_cast<std::ptrdiff_t>(group_count_);
    const Counts by_group(documents_.begin(), groups), by_span(groups, documents_.end());
    Taken counts{occurrences_, by_span, by_group, stretches_, std::exchange(read_, 0)};
    for (auto* zeroed : {&occurrences_, &documents_, &stretches_})
      std::fill(zeroed->begin(), zeroed->end(), 0);
    return counts;
  }

  size_t size() const { return spans_.entries().size(); }
  // The words of each span, max_words numbers a span; kNone where it is shorter.
  Numbers rows() const {
    Numbers rows(size() * max_words_, kNone);
    for (uint32_t span = 0; span < size(); ++span) {
      uint32_t* row = &rows[span * max_words_];
      if (const uint32_t start = shorter(span); start == kNone)
        *row++ = static_cast<uint32_t>(spans_.entries()[span].key >> 32);
      else  // a shorter span comes first, so its row is complete
        for (const uint32_t* word = &rows[start * max_words_]; *word != kNone;) *row++ = *word++;
      *row = static_cast<uint32_t>(spans_.entries()[span].key);
    }
    return rows;
  }
  // The span that another one continues by a word, or kNone if it has two words.
  uint32_t shorter(uint32_t span) const {
    const uint64_t node = spans_.entries()[span].key >> 32;
    return node < words_ ? kNone : static_cast<uint32_t>(node - words_);
  }

  void read(std::string_view document, std::vector<Unit>& units) const {
    units.clear();
    WordReader reader(document);
    for (Word word; reader.next(word);) {
      const uint64_t hash = hash_bytes(word.text);
      const uint32_t place = word.cls == CharClass::Letter ? index_.find(word.text, hash) : kNone;
      // Words know no newlines (text.hpp), but a span's neighbour may be the end of a line.
      const bool ends_line =
          word.cls == CharClass::Space && has_class(word.text, CharClass::Newline);
      units.push_back({word.text, hash, place, ends_line ? CharClass::Newline : word.cls});
    }
  }
  // Visits the spans that begin with unit `i`, short ones first, while visit(span, its last unit)
  // returns true.
  template <class Visit>
  void each_at(const std::vector<Unit>& units, size_t i, Visit visit) const {
    if (units[i].word == kNone || !begins_[units[i].word]) return;
    uint32_t node = units[i].word;
    for (size_t last = i + 1; last < units.size() && units[last].word != kNone; ++last) {
      const uint32_t span = spans_.find(FlatCounts::pair(node, units[last].word));
      if (span == kNone || !visit(span, last)) return;
      node = words_ + span;
    }
  }

 private:
  // Adds the spans that begin with unit `i`; returns the number of words of the longest, or 1.
  size_t find_at(const std::vector<Unit>& units, size_t i, const PairSketch& pairs,
                 uint32_t floor) {
    uint32_t node = units[i].word;
    size_t length = 1;
    for (; length < max_words_ && i + length < units.size(); ++length) {
      const Unit &before = units[i + length - 1], &unit = units[i + length];
      if (unit.word == kNone || pairs.bound(before.hash, unit.hash) < floor) break;
      node = words_ + spans_.add(FlatCounts::pair(node, unit.word), 0);
    }
    return length;
  }

  uint32_t words_;
  WordIndex index_;
  Numbers groups_;
  std::vector<uint8_t> begins_;
  size_t max_words_;
  size_t group_count_ = 0;
  // The nodes of the trie are the words, then the spans. The key of a span is its parent node and
  // its last word; nothing is counted here.
  FlatCounts spans_;
  Counts occurrences_;  // by span
  Counts documents_;    // by group, then by span
  Counts stretches_;    // sequences of 1, 2, ... letter words
  int64_t read_ = 0;
};

// Taken the neighbours before and after some of the spans. The edge of a line or a document is a
// neighbour like any other.
class NeighbourTable {
 public:
  NeighbourTable(const SpanTable& table, const Numbers& spans)
      : table_(table), places_(table.size(), kNone), leads_(table.size()), size_(spans.size()) {
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i] >= table.size()) throw std::invalid_argument("no such span");
      places_[spans[i]] = static_cast<uint32_t>(i);
      for (uint32_t s = spans[i]; s != kNone && !leads_[s]; s = table.shorter(s)) leads_[s] = 1;
    }
  }

  void add(const Texts& documents) {
    static thread_local std::vector<Unit> units;
    static thread_local SharedCounts::Batch batch;
    std::string texts;  // of all neighbours found here, end to end
    std::vector<size_t> starts;
    const auto note = [&](uint32_t place, uint32_t side, size_t neighbour) {
      starts.push_back(texts.size());
      const uint32_t which = place * 2 + side;
      texts += as_bytes(&which, 1);
      // The end of a line and of the document are one neighbour, without a text. (A place before
      // the first wraps around to a number that is too large.)
      if (neighbour < units.size() && units[neighbour].cls != CharClass::Newline)
        texts += units[neighbour].text;
    };
    for (const std::string_view document : documents) {
      table_.read(document, units);
      for (size_t i = 0; i < units.size(); ++i)
        table_.each_at(units, i, [&](uint32_t span, size_t last) {
          if (places_[span] != kNone) {
            note(places_[span], 0, i - 1);
            note(places_[span], 1, last + 1);
          }
          return leads_[span] != 0;
        });
    }
    starts.push_back(texts.size());
    batch.clear();
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      batch.add(std::string_view(texts).substr(starts[i], starts[i + 1] - starts[i]), 1);
    neighbours.add(batch);
  }

  // Whether bytes from outside can be a neighbour.
  bool fits(std::string_view bytes) const {
    return bytes.size() >= sizeof(uint32_t) &&
           as_numbers(bytes.substr(0, sizeof(uint32_t)))[0] < 2 * size_;
  }

  // By span: the entropy of the neighbours before it, in bits, and the share of the most frequent
  // one; then both of the neighbours after it.
  std::array<std::vector<double>, 4> summary() const {
    std::array<std::vector<double>, 4> summary;
    for (auto& column : summary) column.assign(size_, 0.0);
    uint32_t which = 0;  // the side of a span that these are counts of
    Counts counts;
    const auto sum_up = [&] {
      if (counts.empty()) return;
      std::sort(counts.begin(), counts.end());  // so that sums do not depend on the table's order
      double total = 0, entropy = 0;
      for (const int64_t count : counts) total += static_cast<double>(count);
      for (const int64_t count : counts) {
        const double share = static_cast<double>(count) / total;
        entropy -= share * std::log2(share);
      }
      const size_t side = which % 2, place = which / 2;
      summary[side * 2][place] = entropy;
      summary[side * 2 + 1][place] = static_cast<double>(counts.back()) / total;
      counts.clear();
    };
    size_t steps = 0;
    for (const auto rows = neighbours.sorted(); rows->next(); breathe(++steps)) {
      const auto [text, count] = rows->row();
      if (text.substr(0, sizeof which) != as_bytes(&which, 1)) sum_up();
      std::memcpy(&which, text.data(), sizeof which);
      counts.push_back(count);
    }
    sum_up();
    return summary;
  }

  SharedCounts neighbours;  // a text is 4 bytes of place and side, then the neighbour

 private:
  static constexpr uint32_t kNone = SpanTable::kNone;
  const SpanTable& table_;
  Numbers places_;              // by span of the table: its place in the list, or kNone
  std::vector<uint8_t> leads_;  // by span of the table: one of the list begins with it
  size_t size_;
};

}  // namespace supratok
