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
    FlatCounts pairs;  // the most frequent first: they are found fastest
    for (uint32_t e = limit; e < size; breathe(++e)) {
      const Numbers& tokens = expanded[e - limit];
      if (tokens.empty()) continue;
      pairs.add(FlatCounts::pair(merges.pieces[e].left, merges.pieces[e].right), e + 1);
      for (size_t i = 0; i + 1 < tokens.size(); ++i)
        pairs.add(FlatCounts::pair(tokens[i], tokens[i + 1]), 0);
    }
    joins_.make_room(pairs.entries().size());
    for (const auto& [pair, entry] : pairs.entries())
      joins_.add(pair) = entry ? static_cast<uint32_t>(entry - 1) : kNone;
  }

  // Joins the tokens from `start` on.
  void join(Numbers& all, size_t start) const {
    uint32_t* const tokens = all.data();
    const size_t end = all.size();
    size_t from = start, to = start;
    for (size_t blocks = 0; from < end; breathe(++blocks)) {
      const size_t stop = std::min(from + 64, end);
      uint64_t maybe = may_be_pairs(tokens + from, std::min(stop - from, end - from - 1));
      while (from < stop) {
        const size_t alone = maybe ? static_cast<size_t>(std::countr_zero(maybe)) : stop - from;
        if (to < from) std::memmove(tokens + to, tokens + from, alone * sizeof *tokens);
        from += alone;
        to += alone;
        if (from == stop) break;
        const size_t length = joins_.join_row(tokens + from, end - from, tokens + to, to);
        from += length;
        maybe = from < stop ? maybe >> alone >> length : 0;
      }
    }
    all.resize(to);
  }

 private:
  // A bit for each of up to 64 tokens: whether it may be in a row with the next one. Without a
  // branch to mispredict, but for 8 bytes of characters outside the alphabet.
  uint64_t may_be_pairs(const uint32_t* tokens, size_t count) const {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i += 8) {
      const size_t stop = std::min(i + 8, count);
      bool bytes = true;
      for (size_t k = i; k < stop; ++k) bytes &= Entries::is_byte(tokens[k]);
      if (bytes) continue;
      for (size_t k = i; k < stop; ++k)
        found |= uint64_t{joins_.may_be_pair(tokens[k], tokens[k + 1])} << k;
    }
    return found;
  }

  Joins joins_;
};

}  // namespace supratok
