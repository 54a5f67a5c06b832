// Pairs of tokens and the entries that they make, and the merges rule done literally over a row of
// tokens: the lowest rank joins first, the leftmost of equals.
#pragma once

#include <queue>

#include "merges.hpp"

namespace supratok {

class Joins {
 public:
  static constexpr uint32_t kNone = Entries::kNone;
  static constexpr size_t kShort = 48;  // tokens; a longer row gets a heap

  // For so many joins, and so many pairs with those that are only noted.
  void make_room(size_t joins, size_t pairs) {
    slots_.resize(std::bit_ceil(joins * 2 + 16));
    slot_shift_ = 64 - std::countr_zero(slots_.size());
    known_.resize(std::bit_ceil(pairs * 5 / 4 + 16) / 4);  // 16 bits a pair
    known_shift_ = 58 - std::countr_zero(known_.size());
  }
  // Adds two tokens that make an entry. What is added first is found fastest.
  void add(uint32_t left, uint32_t right, uint32_t entry) {
    note(left, right);
    const uint64_t pair = FlatCounts::pair(left, right);
    size_t i = hash(pair) >> slot_shift_;
    while (slots_[i].pair != kEmpty) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {pair, entry};
  }
  // Notes two tokens that are neighbours in an entry.
  void note(uint32_t left, uint32_t right) {
    const size_t bit = hash(FlatCounts::pair(left, right)) >> known_shift_;
    known_[bit / 64] |= uint64_t{1} << bit % 64;
  }
  // Whether the two were noted: a quick answer, which is yes for those and few others.
  bool may_be_pair(uint32_t left, uint32_t right) const {
    const size_t bit = hash(FlatCounts::pair(left, right)) >> known_shift_;
    return known_[bit / 64] >> bit % 64 & 1;
  }

  // The entry that the two make, or kNone.
  uint32_t joined(uint32_t left, uint32_t right) const {
    return may_be_pair(left, right) ? find(left, right) : kNone;
  }

  // Joins a row of 2 to kShort tokens that may be pairs. Writes to `to`, which has room for the
  // row, and moves it on.
  void join_row(const uint32_t* tokens, size_t length, uint32_t*& to) const {
    if (length == 2) {  // most rows; without a branch to mispredict
      to += put(to, tokens[0], tokens[1], find(tokens[0], tokens[1]));
      return;
    }
    uint32_t ranks[kShort];  // of joining each token and the next; kNone: they do not
    for (size_t i = 0; i + 1 < length; ++i) ranks[i] = find(tokens[i], tokens[i + 1]);
    if (length == 3) {
      const bool second = ranks[1] < ranks[0];  // the pair that joins first
      if (ranks[second] != kNone) {
        const uint32_t left = second ? tokens[0] : ranks[0], right = second ? ranks[1] : tokens[2];
        to += put(to, left, right, joined(left, right));
        return;
      }
    }
    std::copy_n(tokens, length, to);
    to += join_short(to, ranks, length);
  }

  // Joins some tokens, few enough, where they are, and returns how many are left. `ranks`: of
  // joining each and the next.
  size_t join_short(uint32_t* tokens, uint32_t* ranks, size_t left) const {
    while (left > 1) {
      size_t i = 0;
      for (size_t k = 1; k + 1 < left; ++k) i = ranks[k] < ranks[i] ? k : i;
      if (ranks[i] == kNone) break;
      tokens[i] = ranks[i];
      --left;
      for (size_t k = i + 1; k < left; ++k) {  // few: a call of memmove would take longer
        tokens[k] = tokens[k + 1];
        ranks[k - 1] = ranks[k];
      }
      if (i > 0) ranks[i - 1] = joined(tokens[i - 1], tokens[i]);
      if (i + 1 < left) ranks[i] = joined(tokens[i], tokens[i + 1]);
    }
    return left;
  }

  // Joins a row of any length: until two neighbours are surely no pair, or all `count` are in it.
  // Returns its length. With a heap of joins, some of which are out of date when they come up.
  [[gnu::noinline]] size_t join_long(const uint32_t* row, size_t count, uint32_t*& to) const {
    using Join = std::pair<uint32_t, size_t>;  // its rank, and the place of its left token
    std::priority_queue<Join, std::vector<Join>, std::greater<>> joins;
    Numbers ranks;
    size_t length = 1;
    for (; length < count && may_be_pair(row[length - 1], row[length]); breathe(++length)) {
      ranks.push_back(find(row[length - 1], row[length]));
      if (ranks.back() != kNone) joins.emplace(ranks.back(), length - 1);
    }
    ranks.push_back(kNone);
    Numbers tokens(row, row + length);
    std::vector<size_t> next(length), before(length);
    std::iota(next.begin(), next.end(), 1);
    std::iota(before.begin(), before.end(), ~size_t{0});
    const auto update = [&](size_t i) {
      ranks[i] = next[i] < length ? joined(tokens[i], tokens[next[i]]) : kNone;
      if (ranks[i] != kNone) joins.emplace(ranks[i], i);
    };
    for (size_t step = 0; !joins.empty(); breathe(++step)) {
      const auto [entry, i] = joins.top();
      joins.pop();
      if (ranks[i] != entry) continue;
      tokens[i] = entry;
      ranks[next[i]] = kNone;  // it is gone
      next[i] = next[next[i]];
      if (next[i] < length) before[next[i]] = i;
      update(i);
      if (i > 0) update(before[i]);
    }
    for (size_t i = 0; i < length; i = next[i]) *to++ = tokens[i];
    return length;
  }

 private:
  struct Slot {
    uint64_t pair = kEmpty;
    uint32_t entry = kNone;
  };
  static constexpr uint64_t kEmpty = ~uint64_t{0};

  static uint64_t hash(uint64_t pair) {
    return (pair >> 32) * 0x9e3779b97f4a7c15ull + (pair & 0xffffffffu) * 0xd6e8feb86659fd93ull;
  }
  uint32_t find(uint32_t left, uint32_t right) const {
    const uint64_t pair = FlatCounts::pair(left, right);
    for (size_t i = hash(pair) >> slot_shift_;; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].pair == pair || slots_[i].pair == kEmpty) return slots_[i].entry;
  }
  // Writes two tokens, or what they make; how many.
  static size_t put(uint32_t* to, uint32_t left, uint32_t right, uint32_t joined) {
    to[0] = joined == kNone ? left : joined;
    to[1] = right;
    return joined == kNone ? 2 : 1;
  }
  LargeVector<Slot> slots_;
  LargeVector<uint64_t> known_;  // a bit for each hash of a pair
  int slot_shift_ = 0, known_shift_ = 0;
};

}  // namespace supratok
