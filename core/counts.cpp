#include "counts.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace supratok {

// --- TextCounts

void TextCounts::add(std::string_view text, uint32_t hash, int64_t count) {
  if (text.size() > 0xffffffffu) throw std::length_error("a word or run of more than 4 GB");
  if (used_ * 4 >= capacity() * 3) grow();
  const size_t mask = capacity() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& at = slot(i);
    if (!at.text) {
      at = {keep(text), count, static_cast<uint32_t>(text.size()), hash};
      ++used_;
      return;
    }
    if (at.hash == hash && at.length == text.size() &&
        same_bytes(at.text, text.data(), text.size())) {
      at.count += count;
      return;
    }
  }
}

int64_t TextCounts::find(std::string_view text, uint32_t hash) const {
  if (segments_.empty()) return 0;
  const size_t mask = capacity() - 1;
  for (size_t i = hash & mask; slot(i).text; i = (i + 1) & mask)
    if (slot(i).hash == hash && std::string_view(slot(i).text, slot(i).length) == text)
      return slot(i).count;
  return 0;
}

size_t TextCounts::size() const {
  size_t total = 0;
  each([&](std::string_view, int64_t) { ++total; });
  return total;
}

std::vector<TextCount> TextCounts::rows() const {
  std::vector<TextCount> all;
  all.reserve(used_);
  each([&](std::string_view text, int64_t count) { all.push_back({text, count}); });
  return all;
}

std::vector<TextCount> TextCounts::take_rows() {
  std::vector<TextCount> all = rows();
  segments_.clear();
  used_ = 0;
  return all;
}

void TextCounts::grow() {
  std::vector<Segment> old(std::max<size_t>(1, segments_.size() * 2));
  for (Segment& segment : old) segment = std::make_unique<Slot[]>(kSegment);
  old.swap(segments_);
  const size_t mask = capacity() - 1;
  for (Segment& segment : old) {
    for (size_t s = 0; s < kSegment; ++s) {
      if (!segment[s].text) continue;
      size_t i = segment[s].hash & mask;
      while (slot(i).text) i = (i + 1) & mask;
      slot(i) = segment[s];
    }
    segment.reset();
  }
}

void TextCounts::clear() {
  for (Segment& segment : segments_) std::fill_n(segment.get(), kSegment, Slot{});
  used_ = 0;
  blocks_.clear();
  block_left_ = 0;
}

const char* TextCounts::keep(std::string_view text) {
  if (borrows_) return text.data();
  if (text.size() > block_left_) {
    block_left_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_left_));
    block_at_ = blocks_.back().get();
  }
  char* kept = block_at_;
  std::memcpy(kept, text.data(), text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return kept;
}

// --- SharedCounts

void SharedCounts::add(const Batch& batch) {
  for (size_t p = 0; p < kParts; ++p) {
    const std::lock_guard guard(parts_[p].lock);
    const auto& rows = batch.rows_[p];
    TextCounts& counts = parts_[p].counts;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + 8 < rows.size()) counts.prefetch(rows[i + 8].hash);
      counts.add(rows[i].text, rows[i].hash, rows[i].count);
    }
  }
}

void SharedCounts::add(std::string_view text, int64_t count) {
  const uint64_t hash = hash_bytes(text);
  Part& part = parts_[part_of(hash)];
  const std::lock_guard guard(part.lock);
  part.counts.add(text, static_cast<uint32_t>(hash), count);
}

int64_t SharedCounts::find(std::string_view text) const {
  const uint64_t hash = hash_bytes(text);
  return parts_[part_of(hash)].counts.find(text, static_cast<uint32_t>(hash));
}

size_t SharedCounts::size() const {
  size_t total = 0;
  for (const Part& part : parts_) total += part.counts.size();
  return total;
}

namespace {

std::vector<Row> sorted(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.count != b.count) return a.count > b.count;
    if (a.text.size() != b.text.size()) return a.text.size() < b.text.size();
    return a.text < b.text;
  });
  return rows;
}

}  // namespace

// --- PairSketch

PairSketch::PairSketch(int bits) : bits_(bits), shift_(64 - bits), counters_(size_t{1} << bits) {}

void PairSketch::add(size_t place) {
  std::atomic<uint32_t>& counter = counters_[place];
  // Stops well below the largest number, so that threads racing past this check cannot wrap it.
  if (counter.load(std::memory_order_relaxed) < 0xf0000000u)
    counter.fetch_add(1, std::memory_order_relaxed);
}

uint32_t PairSketch::bound(uint64_t left, uint64_t right) const {
  return counters_[place(left, right)].load(std::memory_order_relaxed);
}

size_t PairSketch::at_least(uint32_t count) const {
  return static_cast<size_t>(
      std::count_if(counters_.begin(), counters_.end(),
                    [&](const auto& counter) { return counter.load() >= count; }));
}

void PairSketch::merge(const uint32_t* counters, size_t size) {
  if (size != size_t{1} << bits_)
    throw std::invalid_argument("the two sketches have different sizes");
  for (size_t i = 0; i < size; ++i) {
    const uint64_t sum = uint64_t{counters_[i].load()} + counters[i];
    counters_[i].store(static_cast<uint32_t>(std::min<uint64_t>(sum, 0xf0000000u)));
  }
}

std::vector<uint32_t> PairSketch::counters() const {
  return {counters_.begin(), counters_.end()};
}

// --- Joints

namespace {

// "." or "?!" or ".)" : a terminator with nothing behind it but closing marks.
// Chinese and Japanese terminators end a sentence without a space after them.
enum class Ending { None, Spaced, Always };

Ending sentence_ending(const Word& word) {
  Ending ending = Ending::None;
  for (size_t i = 0; i < word.text.size(); i += char_bytes(word.text[i])) {
    switch (decode_char(word.text.data() + i)) {
      case '.':
      case '!':
      case '?':
      case 0x2026:
      case 0x0964:
      case 0x061f:
      case 0x06d4: ending = Ending::Spaced; break;
      case 0x3002:
      case 0xff01:
      case 0xff1f:
      case 0xff61: ending = Ending::Always; break;
      case '"':
      case '\'':
      case ')':
      case ']':
      case '}':
      case 0x2019:
      case 0x201d:
      case 0xbb:
      case 0x300d:
      case 0x300f:
      case 0xff09: break;
      default: ending = Ending::None;
    }
  }
  return ending;
}

bool has_number(const Word& word, bool by_class) {
  if (by_class) return word.cls == CharClass::Number;
  for (size_t i = 0; i < word.text.size(); i += char_bytes(word.text[i]))
    if (char_info(decode_char(word.text.data() + i)).cls == CharClass::Number) return true;
  return false;
}

}  // namespace

bool Joints::allow(const Word& left, const Word& right) const {
  if (!left.joinable() || !right.joinable()) return false;
  if (!numbers && (has_number(left, by_class) || has_number(right, by_class))) return false;
  if (!cross_colon && right.spaced() && left.text.back() == ':') return false;
  if (!cross_sentence && (left.cls == CharClass::Punct || !by_class)) {
    const Ending ending = sentence_ending(left);
    if (ending == Ending::Always || (ending == Ending::Spaced && right.spaced())) return false;
  }
  return true;
}

// --- WordTable

void WordTable::add(const std::vector<std::string_view>& documents) {
  static thread_local TextCounts local(true);
  static thread_local SharedCounts::Batch batch;
  local.clear();
  batch.clear();
  // The sketch is far larger than a cache: its places are asked for some words ahead.
  constexpr size_t kAhead = 16;
  std::array<size_t, kAhead> waiting;
  size_t seen = 0;
  for (std::string_view document : documents) {
    WordReader reader(document, by_class_);
    Word word;
    uint64_t before = 0;  // the hash of the joinable word just before; 0: none
    while (reader.next(word)) {
      const uint64_t hash = hash_bytes(word.text);
      local.add(word.text, static_cast<uint32_t>(hash), 1);
      if (word.joinable() && before) {
        size_t& place = waiting[seen % kAhead];
        if (seen >= kAhead) pairs.add(place);
        place = pairs.place(before, hash);
        pairs.prefetch(place);
        ++seen;
      }
      before = word.joinable() ? hash : 0;
    }
  }
  for (size_t i = 0; i < std::min(seen, kAhead); ++i) pairs.add(waiting[i]);
  local.each(
      [&](std::string_view text, int64_t count) { batch.add(text, hash_bytes(text), count); });
  words.add(batch);
}

std::vector<Row> WordTable::rows(int64_t least) const {
  std::vector<Row> all;
  words.each([&](std::string_view text, int64_t count) {
    if (count >= least) all.push_back({std::string(text), count});
  });
  return sorted(std::move(all));
}

std::vector<Row> WordTable::rows_of_script(uint8_t script) const {
  std::vector<Row> all;
  words.each([&](std::string_view text, int64_t count) {
    if (script_of(text) == script) all.push_back({std::string(text), count});
  });
  return sorted(std::move(all));
}

// --- StretchTable

void StretchTable::add(const std::vector<std::string_view>& documents) {
  static thread_local SharedCounts::Batch batch;
  batch.clear();
  for (const std::string_view document : documents) {
    WordReader reader(document, joints_.by_class);
    size_t start = 0, end = 0;
    Word before{};
    const auto close = [&] {
      const std::string_view stretch = document.substr(start, end - start);
      if (end > start) batch.add(stretch, hash_bytes(stretch), 1);
      start = end;
    };
    for (Word word; reader.next(word); before = word) {
      if (end > start && !joints_.allow(before, word)) close();
      end += word.text.size();
    }
    close();
  }
  stretches.add(batch);
}

// --- WordIndex and RunTable

WordIndex::WordIndex(const std::vector<std::string>& words) : words_(words) {
  size_t capacity = 64;
  while (capacity < words_.size() * 4) capacity *= 2;
  slots_.resize(capacity);
  mask_ = capacity - 1;
  for (size_t w = 0; w < words_.size(); ++w) {
    const uint64_t hash = hash_bytes(words_[w]);
    size_t i = hash & mask_;
    while (slots_[i].place != kNone) i = (i + 1) & mask_;
    slots_[i] = {static_cast<uint32_t>(w), static_cast<uint32_t>(hash >> 32)};
  }
}

RunTable::RunTable(const std::vector<std::string>& known_words, const PairSketch& pairs,
                   Joints joints, uint32_t floor, const Pieces& pieces)
    : known_(known_words), pairs_(pairs), joints_(joints), floor_(floor), pieces_(pieces) {}

// Visits the units of a document: known words, and pieces of others. visit(place, bound), where
// `bound` limits how often the unit was seen behind the one before: 0 where they may not join.
// A place of kNone ends a run.
template <class Visit>
void RunTable::each_unit(std::string_view document, std::vector<uint32_t>& ids, Visit visit) const {
  constexpr uint32_t kNone = WordIndex::kNone;
  WordReader reader(document, joints_.by_class);
  Word word, before{};
  uint64_t before_hash = 0;
  uint32_t last = kNone;  // the unit before
  const auto unit = [&](uint32_t place, bool may_join, uint32_t bound) {
    if (unit_pairs_ && may_join && last != kNone && place != kNone)
      bound = unit_pairs_->bound(last, place);
    visit(place, may_join && last != kNone ? bound : 0);
    last = place;
  };
  while (reader.next(word)) {
    const uint64_t hash = hash_bytes(word.text);
    const uint32_t place = word.joinable() ? known_.find(word.text, hash) : kNone;
    const bool may_join = last != kNone && joints_.allow(before, word);
    if (place == kNone && word.joinable() && pieces_.encoder && pieces_.scripts[word.script]) {
      ids.clear();
      pieces_.encoder->encode(word.text, ids);
      for (size_t i = 0; i < ids.size(); ++i) {
        const std::string_view piece = pieces_.encoder->bytes_of(ids[i]);
        unit(known_.find(piece, hash_bytes(piece)), i > 0 || may_join, 0xffffffffu);
      }
    } else {
      const bool look = place != kNone && may_join && !unit_pairs_;
      unit(place, may_join, look ? pairs_.bound(before_hash, hash) : 0xffffffffu);
    }
    before = word;
    before_hash = hash;
  }
}

void RunTable::add(const std::vector<std::string_view>& documents) {
  static thread_local SharedCounts::Batch batch;
  static thread_local std::vector<uint32_t> words;  // of all runs found here, end to end
  static thread_local std::vector<size_t> starts;   // of each run, among them
  static thread_local std::vector<uint32_t> ids;
  batch.clear();
  words.clear();
  starts.assign(1, 0);
  const auto close = [&] {
    if (words.size() - starts.back() > 1)
      starts.push_back(words.size());
    else
      words.resize(starts.back());  // a word by itself has nothing to join
  };
  for (std::string_view document : documents) {
    each_unit(document, ids, [&](uint32_t place, uint32_t bound) {
      if (place == WordIndex::kNone || bound < floor_) close();
      if (place != WordIndex::kNone) words.push_back(place);
    });
    close();
  }
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::string_view run = run_bytes(&words[starts[i]], starts[i + 1] - starts[i]);
    batch.add(run, hash_bytes(run), 1);
  }
  runs.add(batch);
}

void UnitPairs::add(const std::vector<std::string_view>& documents) {
  std::vector<uint32_t> ids;
  std::vector<int64_t> seen(uses.size());
  // As for words: the places of the sketch are asked for some units ahead.
  constexpr size_t kAhead = 16;
  std::array<size_t, kAhead> waiting;
  size_t met = 0;
  for (std::string_view document : documents) {
    uint32_t last = WordIndex::kNone;
    table_.each_unit(document, ids, [&](uint32_t place, uint32_t bound) {
      if (place != WordIndex::kNone) {
        ++seen[place];
        if (bound > 0) {
          size_t& next = waiting[met % kAhead];
          if (met >= kAhead) pairs->add(next);
          next = pairs->place(last, place);
          pairs->prefetch(next);
          ++met;
        }
      }
      last = place;
    });
  }
  for (size_t i = 0; i < std::min(met, kAhead); ++i) pairs->add(waiting[i]);
  const std::lock_guard guard(lock_);
  for (size_t i = 0; i < seen.size(); ++i) uses[i] += seen[i];
}

void RunTable::add_row(std::string_view text, int64_t count) {
  std::vector<uint32_t> words;
  WordReader reader(text, joints_.by_class);
  for (Word word; reader.next(word);) {
    words.push_back(known_.find(word.text, hash_bytes(word.text)));
    if (words.back() == WordIndex::kNone)
      throw std::invalid_argument("the run '" + std::string(text) + "' has a word not known here");
  }
  runs.add(run_bytes(words.data(), words.size()), count);
}

std::vector<Row> RunTable::rows() const {
  std::vector<Row> all;
  runs.each([&](std::string_view run, int64_t count) {
    std::string text;
    for (const uint32_t place : run_words(run)) text += known_.word(place);
    all.push_back({std::move(text), count});
  });
  return sorted(std::move(all));
}

}  // namespace supratok
