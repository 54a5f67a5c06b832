// Texts and how often each was seen: a table for one thread, and one that many threads share.
//
// Adding is commutative and every reading is sorted, so a table does not depend on the order of the
// texts, on the number of threads, or on how the corpus was cut into pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "flat_map.hpp"

namespace supratok {

struct TextCount {
  std::string_view text;
  int64_t count;
};

// Texts and counts as two columns.
using Columns = std::pair<std::vector<std::string_view>, std::vector<int64_t>>;
// Most frequent first; equals shorter first, then by code points.
Columns sorted(std::vector<TextCount> rows);

// Keeps copies of the texts, or, where they outlive it, borrows them. Rows and texts lie in blocks
// of one size, which fit into any memory that a growing index gives back: dozens of tables grow
// side by side.
class TextCounts {
 public:
  explicit TextCounts(bool borrows = false) : borrows_(borrows) {}

  void add(std::string_view text, uint64_t hash, int64_t count) {
    const uint32_t number = number_of(text, hash);
    if (number != FlatIndex::kNone)
      row(number).count += count;
    else
      append(text, hash, count);
  }
  int64_t find(std::string_view text, uint64_t hash) const {  // its count; 0 if it is not here
    const uint32_t number = number_of(text, hash);
    return number == FlatIndex::kNone ? 0 : row(number).count;
  }
  void prefetch(uint64_t hash) const { index_.prefetch(hash); }
  size_t size() const { return size_; }
  template <class Visit>  // visit(text, count), in no particular order
  void each(Visit visit) const {
    for (size_t i = 0; i < size_; ++i) visit(row(i).view(), row(i).count);
  }
  void clear();  // keeps its memory, for the next use
  // Moves the rows out; the table is empty then, but keeps the texts.
  std::vector<TextCount> take_rows();

 private:
  struct Row {
    const char* text;
    int64_t count;
    uint32_t bytes;
    std::string_view view() const { return {text, bytes}; }
  };
  static constexpr size_t kBlockRows = 2048;
  static constexpr size_t kBlock = kBlockRows * sizeof(Row);

  Row& row(size_t i) { return rows_[i / kBlockRows][i % kBlockRows]; }
  const Row& row(size_t i) const { return rows_[i / kBlockRows][i % kBlockRows]; }
  uint32_t number_of(std::string_view text, uint64_t hash) const {
    return index_.find(hash, [&](uint32_t i) { return same_bytes(row(i).view(), text); });
  }
  static bool same_bytes(std::string_view a, std::string_view b);
  void append(std::string_view text, uint64_t hash, int64_t count);
  const char* keep(std::string_view text);

  bool borrows_;
  FlatIndex index_;
  std::vector<std::unique_ptr<Row[]>> rows_;
  size_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> texts_;
  size_t block_left_ = 0;
  char* block_at_ = nullptr;
};

// Without a call for short texts, as most words are.
inline bool TextCounts::same_bytes(std::string_view a, std::string_view b) {
  const auto eight = [](const char* p) {
    uint64_t chunk;
    std::memcpy(&chunk, p, 8);
    return chunk;
  };
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8)
    return eight(a.data()) == eight(b.data()) &&
           eight(a.data() + size - 8) == eight(b.data() + size - 8);
  for (size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

// The same, cut by hash into parts with a lock each, for many threads.
class SharedCounts {
  static constexpr size_t kParts = 64;

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
    std::array<std::vector<Row>, kParts> rows_;
  };

  void add(const Batch& batch);
  int64_t find(std::string_view text) const;  // its count; 0 if it was never seen
  size_t size() const;
  template <class Visit>  // visit(text, count), in no particular order
  void each(Visit visit) const {
    for (const Part& part : parts_) part.counts.each(visit);
  }
  // Calls visit(text, count) by falling count, equals in no particular order. `changes` are added
  // to the counts on the way; texts whose count is then 0 or less are left out.
  template <class Visit>
  void by_falling_count(Visit visit, const TextCounts& changes = TextCounts()) const {
    visit_rows(changed_rows(changes), visit, [](size_t) {});
  }
  // The same, and the table is empty then: it gives its memory back on the way.
  template <class Visit>
  void drain_by_falling_count(Visit visit) {
    visit_rows(take_rows(), visit, [&](size_t p) { parts_[p].counts = TextCounts(); });
  }

 private:
  using Rows = std::array<std::vector<TextCount>, kParts>;  // of each part, by rising count

  static size_t part_of(uint64_t hash) { return hash >> 58; }  // TextCounts uses the low bits
  static void sort(Rows& parts);
  Rows changed_rows(const TextCounts& changes) const;
  Rows take_rows();

  template <class Visit, class Done>  // done(p) when all rows of part p were visited
  static void visit_rows(Rows parts, Visit visit, Done done) {
    while (true) {
      int64_t highest = 0;
      for (const auto& rows : parts)
        if (!rows.empty()) highest = std::max(highest, rows.back().count);
      if (!highest) return;
      for (size_t p = 0; p < kParts; ++p) {
        auto& rows = parts[p];
        for (; !rows.empty() && rows.back().count == highest; rows.pop_back())
          visit(rows.back().text, highest);
        if (!rows.empty()) continue;
        rows.shrink_to_fit();
        done(p);
      }
    }
  }

  struct Part {
    std::mutex lock;
    TextCounts counts;
  };
  std::array<Part, kParts> parts_;
};

// A sequence of numbers may be counted as a text: as its bytes, and back.
inline std::string_view as_bytes(const uint32_t* numbers, size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(uint32_t)};
}

inline std::vector<uint32_t> as_numbers(std::string_view bytes) {
  std::vector<uint32_t> numbers(bytes.size() / sizeof(uint32_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace supratok
