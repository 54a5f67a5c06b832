#include "spans.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace supratok {

SpanTable::SpanTable(std::vector<std::string> words, std::vector<uint32_t> groups,
                     std::vector<uint8_t> begins, size_t max_words)
    : words_(static_cast<uint32_t>(words.size())),
      index_(std::move(words)),
      groups_(std::move(groups)),
      begins_(std::move(begins)),
      max_words_(max_words),
      stretches_(max_words) {
  if (groups_.size() != words_ || begins_.size() != words_)
    throw std::invalid_argument("as many groups and beginnings as words");
  for (const uint32_t group : groups_) group_count_ = std::max<size_t>(group_count_, group + 1);
  documents_.resize(group_count_);
}

// --- Finding and counting

void SpanTable::read(std::string_view document, std::vector<Unit>& units) const {
  units.clear();
  WordReader reader(document);
  for (Word word; reader.next(word);) {
    const uint64_t hash = hash_bytes(word.text);
    const uint32_t place =
        word.cls == CharClass::Letter ? index_.find(word.text, hash) : WordIndex::kNone;
    // Words know no newlines (text.hpp), but a span's neighbour may be the end of a line.
    const bool newline = word.cls == CharClass::Space && has_class(word.text, CharClass::Newline);
    units.push_back({word.text, hash, place, newline ? CharClass::Newline : word.cls});
  }
}

// Adds the spans that begin with unit `i`; returns the number of words of the longest, or 1.
size_t SpanTable::find_at(const std::vector<Unit>& units, size_t i, const PairSketch& pairs,
                          uint32_t floor) {
  uint32_t node = units[i].word;
  size_t length = 1;
  for (; length < max_words_ && i + length < units.size(); ++length) {
    const Unit &before = units[i + length - 1], &unit = units[i + length];
    if (unit.word == kNone || pairs.bound(before.hash, unit.hash) < floor) break;
    uint32_t span = child(node, unit.word);
    if (span == kNone) {
      span = static_cast<uint32_t>(size());
      keys_.push_back(FlatCounts::pair(node, unit.word));
      children_.add(mix(keys_.back()), span);
    }
    node = words_ + span;
  }
  return length;
}

std::tuple<int64_t, int64_t, int64_t, std::vector<int64_t>> SpanTable::find(const Texts& documents,
                                                                            const PairSketch& pairs,
                                                                            uint32_t floor) {
  int64_t spans = 0, rare = 0, not_beginning = 0;
  std::vector<int64_t> by_class(static_cast<size_t>(CharClass::Extend) + 1);
  std::vector<Unit> units;
  for (const std::string_view document : documents) {
    read(document, units);
    for (size_t i = 0; i < units.size(); ++i) {
      const size_t most = std::min(max_words_, units.size() - i);
      size_t letters = 0;  // in a row
      while (letters < most && units[i + letters].cls == CharClass::Letter) ++letters;
      if (letters < most)
        by_class[static_cast<size_t>(units[i + letters].cls)] +=
            static_cast<int64_t>(most - std::max<size_t>(letters, 1));
      if (letters < 2) continue;
      const auto stretches = static_cast<int64_t>(letters - 1);
      const bool known = units[i].word != kNone;
      if (known && !begins_[units[i].word]) {
        not_beginning += stretches;
        continue;
      }
      const auto good = known ? static_cast<int64_t>(find_at(units, i, pairs, floor)) - 1 : 0;
      spans += good;
      rare += stretches - good;
    }
  }
  occurrences_.assign(size(), 0);
  documents_.assign(group_count_ + size(), 0);
  return {spans, rare, not_beginning, std::move(by_class)};
}

void SpanTable::add(const Texts& documents) {
  static thread_local std::vector<Unit> units;
  static thread_local std::vector<uint32_t> last_in;  // the document, from 1, that had it last
  last_in.assign(documents_.size(), 0);
  std::vector<int64_t> stretches(max_words_);
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

SpanTable::Counts SpanTable::take_counts() {
  const auto groups = documents_.begin() + static_cast<std::ptrdiff_t>(group_count_);
  Counts counts{occurrences_,
                {groups, documents_.end()},
                {documents_.begin(), groups},
                stretches_,
                std::exchange(read_, 0)};
  for (auto* zeroed : {&occurrences_, &documents_, &stretches_})
    std::fill(zeroed->begin(), zeroed->end(), 0);
  return counts;
}

std::vector<uint32_t> SpanTable::rows() const {
  std::vector<uint32_t> rows(size() * max_words_, kNone);
  for (uint32_t span = 0; span < size(); ++span) {
    uint32_t* row = &rows[span * max_words_];
    if (const uint32_t start = shorter(span); start == kNone)
      *row++ = static_cast<uint32_t>(keys_[span] >> 32);
    else  // a shorter span comes first, so its row is complete
      for (const uint32_t* word = &rows[start * max_words_]; *word != kNone;) *row++ = *word++;
    *row = static_cast<uint32_t>(keys_[span]);
  }
  return rows;
}

// --- NeighbourTable

NeighbourTable::NeighbourTable(const SpanTable& table, const std::vector<uint32_t>& spans)
    : table_(table),
      places_(table.size(), SpanTable::kNone),
      leads_(table.size()),
      size_(spans.size()) {
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i] >= table.size()) throw std::invalid_argument("no such span");
    places_[spans[i]] = static_cast<uint32_t>(i);
    for (uint32_t s = spans[i]; s != SpanTable::kNone && !leads_[s]; s = table.shorter(s))
      leads_[s] = 1;
  }
}

void NeighbourTable::add(const Texts& documents) {
  static thread_local std::vector<Unit> units;
  static thread_local SharedCounts::Batch batch;
  std::string texts;  // of all neighbours found here, end to end
  std::vector<size_t> starts;
  const auto note = [&](uint32_t place, uint32_t side, size_t neighbour) {
    starts.push_back(texts.size());
    const uint32_t which = place * 2 + side;
    texts.append(reinterpret_cast<const char*>(&which), sizeof(which));
    // The end of a line and of the document are one neighbour, without a text. (A place before the
    // first wraps around to a number that is too large.)
    if (neighbour < units.size() && units[neighbour].cls != CharClass::Newline)
      texts += units[neighbour].text;
  };
  for (const std::string_view document : documents) {
    table_.read(document, units);
    for (size_t i = 0; i < units.size(); ++i)
      table_.each_at(units, i, [&](uint32_t span, size_t last) {
        if (places_[span] != SpanTable::kNone) {
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
  neighbours_.add(batch);
}

std::array<std::vector<double>, 4> NeighbourTable::summary() const {
  std::vector<std::pair<uint32_t, int64_t>> rows;
  rows.reserve(neighbours_.size());
  neighbours_.each([&](std::string_view text, int64_t count) {
    uint32_t which;
    std::memcpy(&which, text.data(), sizeof(which));
    rows.emplace_back(which, count);
  });
  std::sort(rows.begin(), rows.end());  // so that sums do not depend on the table's order
  std::array<std::vector<double>, 4> summary;
  for (auto& column : summary) column.assign(size_, 0.0);
  for (size_t i = 0, end; i < rows.size(); i = end) {
    int64_t total = 0;
    for (end = i; end < rows.size() && rows[end].first == rows[i].first; ++end)
      total += rows[end].second;
    double entropy = 0;
    for (size_t r = i; r < end; ++r) {
      const double share = static_cast<double>(rows[r].second) / static_cast<double>(total);
      entropy -= share * std::log2(share);
    }
    const size_t side = rows[i].first % 2, place = rows[i].first / 2;
    summary[side * 2][place] = entropy;
    summary[side * 2 + 1][place] =
        static_cast<double>(rows[end - 1].second) / static_cast<double>(total);
  }
  return summary;
}

}  // namespace supratok
