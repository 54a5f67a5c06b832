#include "words.hpp"

#include <bit>

namespace supratok {

// Calls visit(word) for each word of a document, or for each stretch as if it were one.
template <class Visit>
void WordTable::each_text(std::string_view document, Visit visit) const {
  WordReader reader(document, by_class_);
  Word word, text{};
  for (Word before{}; reader.next(word); before = word) {
    if (joints_ && !text.text.empty() && joints_->allow(before, word)) {
      text.text = {text.text.data(), text.text.size() + word.text.size()};
      continue;
    }
    if (!text.text.empty()) visit(text);
    text = word;
  }
  if (!text.text.empty()) visit(text);
}

void WordTable::add(const Texts& documents) {
  static thread_local TextCounts local(true);
  static thread_local SharedCounts::Batch batch;
  local.clear();
  batch.clear();
  {
    PairSketch::Adder adder(pairs);
    for (const std::string_view document : documents) {
      uint64_t before = 0;  // the hash of the joinable word just before; 0: none
      each_text(document, [&](const Word& word) {
        const uint64_t hash = hash_bytes(word.text);
        local.add(word.text, hash, 1);
        if (word.joinable() && before) adder.add(before, hash);
        before = word.joinable() ? hash : 0;
      });
    }
  }
  local.each([&](std::string_view text, int64_t count) { batch.add(text, count); });
  words.add(batch);
}

Columns WordTable::rows(int64_t least) const {
  std::vector<TextCount> rows;
  words.each([&](std::string_view text, int64_t count) {
    if (count >= least) rows.push_back({text, count});
  });
  return sorted(std::move(rows));
}

Columns WordTable::rows_of_script(uint8_t script) const {
  std::vector<TextCount> rows;
  words.each([&](std::string_view text, int64_t count) {
    if (script_of(text) == script) rows.push_back({text, count});
  });
  return sorted(std::move(rows));
}

std::vector<int64_t> WordTable::counts_of(const Texts& texts) const {
  std::vector<int64_t> counts;
  for (const std::string_view text : texts) counts.push_back(words.find(text));
  return counts;
}

std::vector<int64_t> WordTable::totals() const {
  std::vector<int64_t> totals(static_cast<size_t>(CharClass::Extend));  // no word has this class
  words.each([&](std::string_view text, int64_t count) {
    Word word{};
    WordReader(text, by_class_).next(word);
    totals[static_cast<size_t>(word.cls)] += count;
  });
  return totals;
}

std::vector<int64_t> WordTable::characters() const {
  std::vector<int64_t> counts(kCodePoints);
  words.each([&](std::string_view text, int64_t count) {
    each_char(text, [&](uint32_t code) { counts[code] += count; });
  });
  return counts;
}

WordIndex::WordIndex(std::vector<std::string> words)
    : words_(std::move(words)), index_(std::bit_ceil(words_.size() * 4 + 1)) {
  for (size_t place = 0; place < words_.size(); ++place)
    index_.add(hash_bytes(words_[place]), static_cast<uint32_t>(place));
}

}  // namespace supratok
