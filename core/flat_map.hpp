// The one hash table of the core. It numbers things; the things lie elsewhere, in arrays.
//
// Open addressing with linear probing. A slot takes 8 bytes: the number of a thing and 32 bits of
// its hash. So a search reads a thing only if it is almost surely the right one, and the table
// grows without reading any.
#pragma once

#include <cstring>

#include "memory.hpp"
#include "text.hpp"

namespace supratok {

// Hashes of 64 bits, the same on every machine. They decide places in tables, and no result.
inline uint64_t mix(uint64_t value) {
  value = (value ^ value >> 32) * 0xd6e8feb86659fd93ull;
  value = (value ^ value >> 32) * 0xd6e8feb86659fd93ull;
  return value ^ value >> 32;
}

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Up to 7 bytes as a number, the first the lowest. (A call of memcpy would take longer.)
inline uint64_t load_few(const char* from, size_t count) {
  const auto byte = [&](size_t i) {
    return uint64_t{static_cast<unsigned char>(from[i])} << 8 * i;
  };
  if (count >= 4)
    return load<uint32_t>(from) | uint64_t{load<uint32_t>(from + count - 4)} << 8 * (count - 4);
  return count ? byte(0) | byte(count / 2) | byte(count - 1) : 0;
}

// Whether two texts are equal; most are short.
inline bool same_text(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size < 8) return load_few(a.data(), size) == load_few(b.data(), size);
  return load<uint64_t>(a.data()) == load<uint64_t>(b.data()) &&
         load<uint64_t>(a.data() + size - 8) == load<uint64_t>(b.data() + size - 8);
}

inline uint64_t hash_bytes(std::string_view text) {
  uint64_t hash = 0x9e3779b97f4a7c15ull ^ text.size();
  const char* p = text.data();
  size_t left = text.size();
  for (; left >= 8; left -= 8, p += 8) {
    const auto chunk = load<uint64_t>(p);
    hash = mix(hash ^ chunk) + chunk;
  }
  return mix(hash ^ load_few(p, left));
}

class FlatIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  explicit FlatIndex(size_t slots = 64) { clear(slots); }  // a power of two
  // Removes everything; then there are this many slots.
  void clear(size_t slots) {
    slots_.assign(slots, {});
    mask_ = slots - 1;
    most_ = slots / 4 * 3;
    used_ = 0;
  }
  size_t slots() const { return slots_.size(); }
  size_t bytes() const { return slots_.size() * sizeof(Slot); }
  bool full() const { return used_ == most_; }  // the next number doubles it

  // The number that was added with this hash and for which same(number) holds; kNone if none is.
  template <class Same>
  uint32_t find(uint64_t hash, Same same) const {
    const auto tag = static_cast<uint32_t>(hash);
    for (size_t i = tag & mask_; slots_[i].number != kNone; i = (i + 1) & mask_)
      if (slots_[i].tag == tag && same(slots_[i].number)) return slots_[i].number;
    return kNone;
  }
  void prefetch(uint64_t hash) const {
    __builtin_prefetch(&slots_[static_cast<uint32_t>(hash) & mask_]);
  }

  // Finds a number as above; if there is none, adds `fresh` and returns it. If memory runs out, the
  // table stays as it is.
  template <class Same>
  uint32_t find_or_add(uint64_t hash, uint32_t fresh, Same same) {
    const auto tag = static_cast<uint32_t>(hash);
    for (size_t i = tag & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.number == kNone) {
        if (fresh == kNone) throw std::length_error("more than 4 billion entries in one table");
        if (used_ == most_) i = grow(tag);
        slots_[i] = {fresh, tag};
        ++used_;
        return fresh;
      }
      if (slot.tag == tag && same(slot.number)) return slot.number;
    }
  }

  // Takes back the number that was added last.
  void take_back(uint64_t hash, uint32_t number) {
    size_t i = static_cast<uint32_t>(hash) & mask_;
    while (slots_[i].number != number) i = (i + 1) & mask_;
    slots_[i].number = kNone;
    --used_;
  }

  // Adds a number that `find` does not find.
  void add(uint64_t hash, uint32_t number) {
    find_or_add(hash, number, [](uint32_t) { return false; });
  }

 private:
  struct Slot {
    uint32_t number = kNone;
    uint32_t tag = 0;
  };
  // Returns the free slot for a tag.
  [[gnu::noinline]] size_t grow(uint32_t tag) {
    FlatIndex larger(slots_.size() * 2);
    for (const Slot& slot : slots_)
      if (slot.number != kNone) larger.add(slot.tag, slot.number);
    *this = std::move(larger);
    size_t i = tag & mask_;
    while (slots_[i].number != kNone) i = (i + 1) & mask_;
    return i;
  }

  LargeVector<Slot> slots_;
  size_t mask_ = 0;
  size_t used_ = 0, most_ = 0;
};

// Counts by key, for keys of 64 bits, such as two numbers of 32.
class FlatCounts {
 public:
  struct Entry {
    uint64_t key;
    int64_t count;
  };
  static uint64_t pair(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

  // Adds to the count of a key; returns the key's number, by the order in which keys first came.
  uint32_t add(uint64_t key, int64_t count) {
    const auto fresh = static_cast<uint32_t>(entries_.size());
    const uint32_t number =
        index_.find_or_add(mix(key), fresh, [&](uint32_t i) { return entries_[i].key == key; });
    if (number == fresh) append(key);
    entries_[number].count += count;
    return number;
  }
  uint32_t find(uint64_t key) const {  // the key's number, or FlatIndex::kNone
    return index_.find(mix(key), [&](uint32_t i) { return entries_[i].key == key; });
  }
  int64_t count(uint64_t key) const {
    const uint32_t number = find(key);
    return number == FlatIndex::kNone ? 0 : entries_[number].count;
  }
  const std::vector<Entry>& entries() const { return entries_; }  // by number
  void prefetch(uint64_t key) const { index_.prefetch(mix(key)); }
  void clear(size_t slots) {
    index_.clear(slots);
    entries_.clear();
  }

 private:
  void append(uint64_t key) {
    try {
      entries_.push_back({key, 0});
    } catch (...) {  // no memory: the index must not know what is not there
      index_.take_back(mix(key), static_cast<uint32_t>(entries_.size()));
      throw;
    }
  }

  FlatIndex index_;
  std::vector<Entry> entries_;
};

}  // namespace supratok
