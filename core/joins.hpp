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

  void make_room(size_t pairs) {
    slots_.resize(std::bit_ceil(pairs * 5 / 4 + 16));
    slot_shift_ = 64 - std::countr_zero(slots_.size());
    known_.resize(slots_.size() / 4);  // 16 bits a slot
    known_shift_ = 58 - std::countr_zero(known_.size());
  }
  // Adds a pair (FlatCounts::pair) and returns its entry, to be set if the two make one. Pairs that
  // are added first are found fastest.
  uint32_t& add(uint64_t pair) {
    const size_t bit = hash(pair) >> known_shift_;
    known_[bit / 64] |= uint64_t{1} << bit % 64;
    size_t i = hash(pair) >> slot_shift_;
    while (slots_[i].pair != pair && slots_[i].pair != kEmpty) i = (i + 1) & (slots_.size() - 1);
    slots_[i].pair = pair;
    return slots_[i].entry;
  }
  // Whether the two may be a pair: a quick answer, which is yes for all pairs and few others.
  bool may_be_pair(uint32_t left, uint32_t right) const {
    const size_t bit = hash(FlatCounts::pair(left, right)) >> known_shift_;
    return known_[bit / 64] >> bit % 64 & 1;
  }

  // Joins the row that begins at `tokens`: until two neighbours are no pair, or all `count` are in
  // it. Writes to `out`, which may be the same place, and advances `to`. Returns the row's length.
  size_t join_row(uint32_t* tokens, size_t count, uint32_t* out, size_t& to) const {
    uint32_t ranks[kShort];  // of joining each token and the next; kNone: they do not
    size_t length = 1;
    for (const Slot* found; length < count; ++length) {
      if (!(found = find(tokens[length - 1], tokens[length]))) break;
      if (length == kShort) return join_long(tokens, count, out, to);
      ranks[length - 1] = found->entry;
    }
    const size_t left = join_short(tokens, ranks, length);
    for (size_t i = 0; i < left; ++i) out[i] = tokens[i];
    to += left;
    return length;
  }
  // Joins all of up to kShort tokens, pairs or not, and returns how many are left.
  size_t join_all(uint32_t* tokens, size_t count) const {
    uint32_t ranks[kShort];
    for (size_t i = 0; i + 1 < count; ++i) ranks[i] = joined(tokens[i], tokens[i + 1]);
    return join_short(tokens, ranks, count);
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
  const Slot* find(uint32_t left, uint32_t right) const {
    if (!may_be_pair(left, right)) return nullptr;
    const uint64_t pair = FlatCounts::pair(left, right);
    for (size_t i = hash(pair) >> slot_shift_;; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].pair == pair) return &slots_[i];
      if (slots_[i].pair == kEmpty) return nullptr;
    }
  }
  uint32_t joined(uint32_t left, uint32_t right) const {
    const Slot* found = find(left, right);
    return found ? found->entry : kNone;
  }

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

  // The same with a heap of joins, some of which are out of date when they come up.
  [[gnu::noinline]] size_t join_long(uint32_t* tokens, size_t count, uint32_t* out,
                                     size_t& to) const {
    using Join = std::pair<uint32_t, size_t>;  // its rank, and the place of its left token
    std::priority_queue<Join, std::vector<Join>, std::greater<>> joins;
    Numbers ranks;
    size_t length = 1;
    for (const Slot* found; length < count; breathe(++length)) {
      if (!(found = find(tokens[length - 1], tokens[length]))) break;
      if (found->entry != kNone) joins.emplace(found->entry, length - 1);
      ranks.push_back(found->entry);
    }
    ranks.push_back(kNone);
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
    for (size_t i = 0; i < length; i = next[i], ++to) *out++ = tokens[i];
    return length;
  }

  LargeVector<Slot> slots_;
  LargeVector<uint64_t> known_;  // a bit for each hash of a pair
  int slot_shift_ = 0, known_shift_ = 0;
};

}  // namespace supratok
