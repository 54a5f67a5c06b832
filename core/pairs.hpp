// The pairs of neighbours in sequences: how often each occurs, and where.
#pragma once

#include <span>

#include "sequences.hpp"
#include "threads.hpp"

namespace supratok {

// A queue of what will be handled a little later, when the memory that it needs has come.
template <class Item>
class Ahead {
 public:
  template <class Handle>
  void push(const Item& item, Handle handle) {
    Item& place = items_[pushed_ % kAhead];
    if (pushed_++ >= kAhead) handle(place);
    place = item;
  }
  template <class Handle>
  void finish(Handle handle) {
    for (size_t i = pushed_ - std::min(pushed_, kAhead); i < pushed_; ++i)
      handle(items_[i % kAhead]);
  }

 private:
  static constexpr size_t kAhead = 16;
  std::array<Item, kAhead> items_;
  size_t pushed_ = 0;
};

// Cut by hash into as many parts as there are threads: each thread reads all cells and counts the
// pairs of its part, so no thread waits for another and there is nothing to add up.
class Pairs {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  Pairs(const Sequences& sequences, size_t threads) : sequences_(sequences), parts_(threads) {
    in_parts([&](Table& table, size_t part) {
      each_pair(table, part, [&](uint64_t key, int64_t weight, uint32_t) {
        Row& row = table.find_or_add(key);
        row.count += weight;
        ++row.places;
      });
    });
  }

  // Calls visit(left, right, count, number of its places) for each pair, in no particular order. It
  // returns where the pair's places go, or kNone.
  template <class Visit>
  void each(Visit visit) {
    for (Table& table : parts_)
      table.each([&](Row& row) {
        row.places = visit(static_cast<uint32_t>(row.key >> 32), static_cast<uint32_t>(row.key),
                           row.count, row.places);
      });
  }

  // Writes the places, those of each pair ascending from where `each` said they go.
  void write_places(std::span<uint32_t> to) {
    struct Written {
      uint32_t at, place;
    };
    in_parts([&](Table& table, size_t part) {
      Ahead<Written> ahead;
      const auto write = [&](const Written& one) { to[one.at] = one.place; };
      each_pair(table, part, [&](uint64_t key, int64_t, uint32_t place) {
        Row& row = table.find_or_add(key);
        if (row.places == kNone) return;
        __builtin_prefetch(&to[row.places], 1);
        ahead.push({row.places++, place}, write);
      });
      ahead.finish(write);
    });
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // a key of two gaps
  struct Row {
    uint64_t key = kFree;
    int64_t count = 0;
    uint32_t places = 0;
  };

  // Open addressing. The rows lie in the table itself, for the processor fetches each ahead.
  class Table {
   public:
    void prefetch(uint64_t key) const { __builtin_prefetch(&rows_[mix(key) & mask()]); }
    Row& find_or_add(uint64_t key) {
      size_t i = mix(key) & mask();
      while (rows_[i].key != key && rows_[i].key != kFree) i = (i + 1) & mask();
      if (rows_[i].key == key) return rows_[i];
      if (++used_ > rows_.size() / 3 * 2) {
        grow();
        return find_or_add(key);
      }
      rows_[i].key = key;
      return rows_[i];
    }
    template <class Visit>
    void each(Visit visit) {
      size_t steps = 0;
      for (Row& row : rows_) {
        breathe(++steps);
        if (row.key != kFree) visit(row);
      }
    }

   private:
    size_t mask() const { return rows_.size() - 1; }
    void grow() {
      LargeVector<Row> before(rows_.size() * 2);
      before.swap(rows_);
      used_ = 1;
      for (const Row& row : before)
        if (row.key != kFree) find_or_add(row.key) = row;
    }

    LargeVector<Row> rows_ = LargeVector<Row>(1 << 10);
    size_t used_ = 0;
  };

  template <class Work>
  void in_parts(Work work) {
    const size_t parts = parts_.size();
    in_parallel(parts, parts, [&](size_t part) { work(parts_[part], part); }, [] {});
  }

  // Calls visit(key, weight, place) for the pairs of a part.
  template <class Visit>
  void each_pair(const Table& table, size_t part, Visit visit) const {
    struct Found {
      uint64_t key;
      int64_t weight;
      uint32_t place;
    };
    Ahead<Found> ahead;
    const auto handle = [&](const Found& pair) { visit(pair.key, pair.weight, pair.place); };
    const uint32_t* const cells = sequences_.cells.data();
    std::array<uint32_t, 1024> mine;
    sequences_.each_band([&](size_t start, size_t end, int64_t weight) {
      // Invariant: the last cell of a band is a gap.
      for (size_t from = start; from + 1 < end; from += mine.size()) {
        breathe();
        const size_t to = std::min(from + mine.size(), end - 1);
        size_t found = 0;
        for (size_t i = from; i < to; ++i) {  // no branches: nobody could predict them
          mine[found] = static_cast<uint32_t>(i);
          found += (cells[i] != Sequences::kGap) & (cells[i + 1] != Sequences::kGap) &
                   (part_of(cells[i], cells[i + 1]) == part);
        }
        for (size_t i = 0; i < found; ++i) {
          const uint64_t key = FlatCounts::pair(cells[mine[i]], cells[mine[i] + 1]);
          table.prefetch(key);
          ahead.push({key, weight, mine[i]}, handle);
        }
      }
    });
    ahead.finish(handle);
  }
  uint64_t part_of(uint32_t left, uint32_t right) const {
    const uint32_t hash = left * 0x9e3779b1u + right * 0x85ebca6bu;
    return uint64_t{hash ^ hash >> 15} * parts_.size() >> 32;
  }

  const Sequences& sequences_;
  std::vector<Table> parts_;
};

}  // namespace supratok
