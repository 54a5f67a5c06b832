// The second level of the merges rule (levels.hpp): joins tokens with the entries of several words.
//
// No join crosses a border between two tokens that are neighbours in no such entry. Between these
// borders lie rows, mostly of one token.
#pragma once

#include "joins.hpp"

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
    FlatCounts neighbours;
    size_t phrases = 0;
    for (const Numbers& tokens : expanded) {
      phrases += !tokens.empty();
      for (size_t i = 0; i + 1 < tokens.size(); breathe(++i))
        neighbours.add(FlatCounts::pair(tokens[i], tokens[i + 1]), 0);
    }
    joins_.make_room(phrases, phrases + neighbours.entries().size());
    for (uint32_t e = limit; e < size; breathe(++e))  // the most frequent first: found fastest
      if (const Merges::Piece& piece = merges.pieces[e]; piece.left != kNone)
        joins_.add(piece.left, piece.right, e);
    for (const auto& [pair, zero] : neighbours.entries())
      joins_.note(static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair));
  }

  // Appends the tokens to `out`, joined.
  void join(const Numbers& tokens, Numbers& out) const {
    const size_t start = out.size(), end = tokens.size();
    out.resize(start + end + kFew);
    const uint32_t* from = tokens.data();
    uint32_t* to = out.data() + start;
    for (size_t at = 0, blocks = 0; at < end; breathe(++blocks)) {
      const size_t done = join_block(from + at, end - at, to);
      at += done ? done : joins_.join_long(from + at, end - at, to);
    }
    out.resize(static_cast<size_t>(to - out.data()));
  }

 private:
  static constexpr size_t kFew = 4;  // tokens that are copied at once, whether there are so many

  // Joins the rows that end within 64 tokens, and returns how many tokens these are; 0 if the first
  // row is longer.
  size_t join_block(const uint32_t* tokens, size_t count, uint32_t*& to) const {
    const size_t pairs = std::min<size_t>(64, count - 1);
    const bool last = pairs == count - 1;
    uint64_t maybe = may_be_pairs(tokens, pairs);
    size_t at = 0;
    while (true) {
      const size_t alone = maybe ? static_cast<size_t>(std::countr_zero(maybe)) : pairs + last - at;
      if (alone <= kFew && at + kFew <= count)
        std::memcpy(to, tokens + at, kFew * sizeof *to);
      else
        std::copy_n(tokens + at, alone, to);
      at += alone;
      to += alone;
      if (!maybe) return at;
      maybe >>= alone;
      const auto length = static_cast<size_t>(std::countr_one(maybe)) + 1;  // of the row
      if (length > Joins::kShort || (at + length > pairs && !last)) return at;
      joins_.join_row(tokens + at, length, to);
      at += length;
      if (at > pairs) return at;
      maybe >>= length;
    }
  }

  // A bit for each of up to 64 tokens: whether it may be in a row with the next one. Without a
  // branch to mispredict, but for 8 bytes of characters outside the alphabet.
  uint64_t may_be_pairs(const uint32_t* tokens, size_t count) const {
    uint64_t found = 0;
    if (count < 64) {
      for (size_t k = 0; k < count; ++k) found |= may_be_pair(tokens + k) << k;
      return found;
    }
    for (size_t i = 0; i < 64; i += 8) {
      uint32_t all = ~uint32_t{0};
      for (size_t k = i; k < i + 8; ++k) all &= tokens[k];
      if (Entries::is_byte(all)) continue;  // then all of them are: bytes are the highest numbers
      uint64_t group = 0;
      for (size_t k = 0; k < 8; ++k) group |= may_be_pair(tokens + i + k) << k;
      found |= group << i;
    }
    return found;
  }
  uint64_t may_be_pair(const uint32_t* tokens) const {
    return joins_.may_be_pair(tokens[0], tokens[1]);
  }

  Joins joins_;
};

}  // namespace supratok
