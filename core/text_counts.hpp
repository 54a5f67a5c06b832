// Texts and how often each was seen: a table for one thread, and one that many threads share.
//
// Adding is commutative and every reading is sorted, so a table does not depend on the order of the
// texts, on the number of threads, or on how the corpus was cut into pieces.
#pragma once

#include "flat_map.hpp"

namespace supratok {

struct TextCount {
  std::string_view text;
  int64_t count;
};

// Keeps copies of the texts, or, where they outlive it, borrows them. Rows and texts lie in blocks
// of one size, which fit into any memory that a growing index gives back: dozens of tables grow
// side by side.
class TextCounts {
 public:
  explicit TextCounts(bool borrows = false) : borrows_(borrows) {}
  // Returns the number of the text, by the order in which texts first came.
  uint32_t add(std::string_view text, uint64_t hash, int64_t count) {
    const auto fresh = static_cast<uint32_t>(size_);
    const uint32_t number =
        index_.find_or_add(hash, fresh, [&](uint32_t i) { return same_text(row(i).text, text); });
    if (number == fresh) append(text, hash);
    row(number).count += count;
    return number;
  }
  int64_t find(std::string_view text, uint64_t hash) const {  // its count; 0 if it is not here
    const uint32_t number =
        index_.find(hash, [&](uint32_t i) { return same_text(row(i).text, text); });
    return number == FlatIndex::kNone ? 0 : row(number).count;
  }
  void prefetch(uint64_t hash) const { index_.prefetch(hash); }
  size_t size() const { return size_; }
  template <class Visit>  // visit(text, count), by number
  void each(Visit visit) const {
    for (size_t i = 0; i < size_; breathe(++i)) visit(row(i).text, row(i).count);
  }
  void clear() {  // keeps its memory, for the next use
    index_.clear(index_.slots());
    texts_.clear();
    size_ = text_left_ = 0;
  }
  void drop_rows() {  // keeps the texts
    index_ = FlatIndex();
    rows_.clear();
    size_ = 0;
  }

 private:
  static constexpr size_t kBlockRows = 2048;
  static constexpr size_t kBlock = kBlockRows * sizeof(TextCount);
  TextCount& row(size_t i) { return rows_[i / kBlockRows][i % kBlockRows]; }
  const TextCount& row(size_t i) const { return rows_[i / kBlockRows][i % kBlockRows]; }
  void append(std::string_view text, uint64_t hash) {
    try {
      if (size_ == rows_.size() * kBlockRows)
        rows_.push_back(std::make_unique_for_overwrite<TextCount[]>(kBlockRows));
      row(size_) = {borrows_ ? text : copy(text), 0};
      ++size_;
    } catch (...) {  // no memory: the index must not know what is not there
      index_.take_back(hash, static_cast<uint32_t>(size_));
      throw;
    }
  }
  std::string_view copy(std::string_view text) {
    if (text.size() > text_left_) {
      const size_t size = std::max(kBlock, text.size());
      texts_.push_back(std::make_unique_for_overwrite<char[]>(size));
      text_left_ = size;
      text_end_ = texts_.back().get();
    }
    std::memcpy(text_end_, text.data(), text.size());
    text_left_ -= text.size();
    return {std::exchange(text_end_, text_end_ + text.size()), text.size()};
  }

  bool borrows_;
  FlatIndex index_;
  std::vector<std::unique_ptr<TextCount[]>> rows_;
  size_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> texts_;
  size_t text_left_ = 0;
  char* text_end_ = nullptr;
};

// The same, cut by hash into parts with a lock each, for many threads.
class SharedCounts {
 public:
  // Collects the texts of one thread, so that `add` takes each lock once.
  class Batch {
   public:
    void add(std::string_view text, int64_t count) {
      const uint64_t hash = hash_bytes(text);
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
    std::array<std::vector<Row>, 64> rows_;
  };

  void add(const Batch& batch) {
    for (size_t p = 0; p < parts_.size(); ++p) {
      const std::lock_guard guard(parts_[p].lock);
      const auto& rows = batch.rows_[p];
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i + 8 < rows.size()) parts_[p].counts.prefetch(rows[i + 8].hash);
        parts_[p].counts.add(rows[i].text, rows[i].hash, rows[i].count);
      }
    }
  }
  int64_t find(std::string_view text) const {  // its count; 0 if it was never seen
    const uint64_t hash = hash_bytes(text);
    return parts_[part_of(hash)].counts.find(text, hash);
  }
  size_t size() const {
    size_t total = 0;
    for (const Part& part : parts_) total += part.counts.size();
    return total;
  }
  template <class Visit>  // visit(text, count), in no particular order
  void each(Visit visit) const {
    for (const Part& part : parts_) part.counts.each(visit);
  }

  // Calls visit(text, count) by falling count, equals in no particular order. With `drain` the
  // table is empty then. `changes` are added to the counts on the way; texts whose count is then 0
  // or less are left out.
  template <class Visit>
  void by_falling_count(Visit visit, bool drain, const TextCounts& changes) {
    std::vector<TextCount> rows;
    rows.reserve(size() + changes.size());
    changes.each([&](std::string_view text, int64_t count) {
      if (!find(text)) rows.push_back({text, count});
    });
    for (Part& part : parts_) {
      part.counts.each([&](std::string_view text, int64_t count) {
        if (changes.size()) count += changes.find(text, hash_bytes(text));
        rows.push_back({text, count});
      });
      if (drain) part.counts.drop_rows();
    }
    if (drain) return_freed_memory();
    sort(rows, [](const TextCount& a, const TextCount& b) { return a.count > b.count; });
    for (size_t i = 0; i < rows.size() && rows[i].count > 0; breathe(++i))
      visit(rows[i].text, rows[i].count);
    for (Part& part : parts_)
      if (drain) part.counts = TextCounts();
  }

 private:
  struct Part {
    std::mutex lock;
    TextCounts counts;
  };

  static size_t part_of(uint64_t hash) { return hash >> 58; }  // TextCounts uses the low bits
  std::array<Part, 64> parts_;
};

// A sequence of numbers may be counted as a text: as its bytes, and back.
inline std::string_view as_bytes(const uint32_t* numbers, size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(uint32_t)};
}

inline Numbers as_numbers(std::string_view bytes) {
  Numbers numbers(bytes.size() / sizeof(uint32_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace supratok
