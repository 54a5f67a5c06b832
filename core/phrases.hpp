// The second level of the merges rule (levels.hpp): joins tokens with the entries of several words.
//
// No join crosses a border between two tokens that are neighbours in no such entry. Between these
// borders lie rows, mostly of one token.
#pragma once

#include <queue>

#include "merges.hpp"

namespace supratok {

class Phrases {
 public:
  static constexpr uint32_t kNone = Entries::kNone;

  // The entries from `limit` on.
  Phrases(const Merges& merges, uint32_t limit) {
    const auto size = static_cast<uint32_t>(merges.pieces.size());
    std::vector<Numbers> expanded(size - limit);  // in tokens of the first level
    for (uint32_t e = limit; e < size; breathe(++e)) {
      const Merges::Piece& piece = merges.pieces[e];
      if (piece.left == kNone) continue;
      Numbers& tokens = expanded[e - limit];
      for (const uint32_t part : {piece.left, piece.right})
        if (part < limit)
          tokens.push_back(part);
        else
          tokens.insert(tokens.end(), expanded[part - limit].begin(), expanded[part - limit].end());
    }
    FlatCounts pairs;
    for (const Numbers& tokens : expanded)
      for (size_t i = 0; i + 1 < tokens.size(); ++i)
        pairs.add(FlatCounts::pair(tokens[i], tokens[i + 1]), 1);
    make_room(pairs.entries().size() + expanded.size());
    for (uint32_t e = limit; e < size; breathe(++e))  // the most frequent first: found fastest
      if (const Merges::Piece& piece = merges.pieces[e]; piece.left != kNone)
        add(FlatCounts::pair(piece.left, piece.right)).entry = e;
    for (const FlatCounts::Entry& pair : pairs.entries()) add(pair.key);
  }

  // Joins the tokens from `start` on. A byte (kNone) is in no entry.
  void join(Numbers& all, size_t start) const {
    uint32_t* const tokens = all.data();
    const size_t end = all.size();
    size_t from = start, to = start;
    for (size_t blocks = 0; from < end; breathe(++blocks)) {
      const size_t stop = std::min(from + 64, end);
      uint64_t maybe = may_be_known(tokens + from, std::min(stop - from, end - from - 1));
      while (from < stop) {
        const size_t alone = maybe ? static_cast<size_t>(std::countr_zero(maybe)) : stop - from;
        if (to < from) std::memmove(tokens + to, tokens + from, alone * sizeof *tokens);
        from += alone;
        to += alone;
        if (from == stop) break;
        const size_t length = join_row(tokens + from, end - from, tokens + to, to);
        from += length;
        maybe = from < stop ? maybe >> alone >> length : 0;
      }
    }
    all.resize(to);
  }

 private:
  // Two tokens that are neighbours in an entry, and the entry that they make, if they make one.
  struct Slot {
    uint64_t key = kEmpty;
    uint32_t entry = kNone;
  };
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  static constexpr size_t kShort = 48;  // a longer row gets a heap

  void make_room(size_t pairs) {
    slots_.resize(std::bit_ceil(pairs * 5 / 4 + 16));
    slot_shift_ = 64 - std::countr_zero(slots_.size());
    known_.resize(slots_.size() / 4);  // 16 bits a slot
    known_shift_ = 58 - std::countr_zero(known_.size());
  }
  static uint64_t hash(uint64_t key) {
    return (key >> 32) * 0x9e3779b97f4a7c15ull + (key & 0xffffffffu) * 0xd6e8feb86659fd93ull;
  }
  Slot& add(uint64_t key) {
    const size_t bit = hash(key) >> known_shift_;
    known_[bit / 64] |= uint64_t{1} << bit % 64;
    size_t i = hash(key) >> slot_shift_;
    while (slots_[i].key != key && slots_[i].key != kEmpty) i = (i + 1) & (slots_.size() - 1);
    slots_[i].key = key;
    return slots_[i];
  }
  // A bit for each of up to 64 tokens: whether it may be in a row with the next one. Without a
  // branch to mispredict, but for 8 bytes one after the other.
  uint64_t may_be_known(const uint32_t* tokens, size_t count) const {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i += 8) {
      const size_t stop = std::min(i + 8, count);
      if (std::all_of(tokens + i, tokens + stop, [](uint32_t t) { return t == kNone; })) continue;
      for (size_t k = i; k < stop; ++k)
        found |= uint64_t{may_be_known(tokens[k], tokens[k + 1])} << k;
    }
    return found;
  }
  bool may_be_known(uint32_t left, uint32_t right) const {
    const size_t bit = hash(FlatCounts::pair(left, right)) >> known_shift_;
    return known_[bit / 64] >> bit % 64 & 1;
  }
  const Slot* find(uint32_t left, uint32_t right) const {
    if (!may_be_known(left, right)) return nullptr;
    const uint64_t key = FlatCounts::pair(left, right);
    for (size_t i = hash(key) >> slot_shift_;; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i];
      if (slots_[i].key == kEmpty) return nullptr;
    }
  }
  uint32_t joined(uint32_t left, uint32_t right) const {
    const Slot* found = find(left, right);
    return found ? found->entry : kNone;
  }

  // Joins the row that begins at `tokens`, before the end of all `count`. Writes to `out`, which
  // may be the same place, and advances `to`. Returns the length of the row.
  size_t join_row(uint32_t* tokens, size_t count, uint32_t* out, size_t& to) const {
    uint32_t ranks[kShort];  // of joining each token and the next; kNone: they do not
    size_t length = 1;
    for (const Slot* found; length < count; ++length) {
      if (!(found = find(tokens[length - 1], tokens[length]))) break;
      if (length == kShort) return join_long(tokens, count, out, to);
      ranks[length - 1] = found->entry;
    }
    size_t left = length;
    while (left > 1) {
      const size_t i = std::min_element(ranks, ranks + left - 1) - ranks;
      if (ranks[i] == kNone) break;
      tokens[i] = ranks[i];
      --left;
      std::copy(tokens + i + 2, tokens + left + 1, tokens + i + 1);
      std::copy(ranks + i + 1, ranks + left, ranks + i);
      if (i > 0) ranks[i - 1] = joined(tokens[i - 1], tokens[i]);
      if (i + 1 < left) ranks[i] = joined(tokens[i], tokens[i + 1]);
    }
    std::copy(tokens, tokens + left, out);
    to += left;
    return length;
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
  LargeVector<uint64_t> known_;  // a bit for each hash of a slot's key: most pairs end here
  int slot_shift_ = 0, known_shift_ = 0;
};

}  // namespace supratok
