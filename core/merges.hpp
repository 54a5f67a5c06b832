// The merges rule, exactly and in linear time: join the neighbours whose joined text has the lowest
// rank, leftmost first, until none is an entry.
//
// Done literally this needs a heap over the whole text. Instead we use that
//   (1) two tokens may be neighbours in an encoding if and only if their joined text encodes to
//       just these two, and
//   (2) a sequence in which all neighbours may be neighbours is the encoding of its text.
// Why: until the first join across a border between them, the two sides of that border are encoded
// as if alone; and that first join would also happen in the joined text of just those two.
// So we take the longest entry that fits the token before it, and step back where none does. The
// text up to any place has one encoding, so a place we had to step back from is never tried again:
// linear time.
// Entries may be tied, that is, share a rank: then the leftmost join comes first, of whichever
// entry. All of the above holds for tied entries too, as long as an entry never ranks before its
// parts.
#pragma once

#include "entries.hpp"
#include "flat_map.hpp"

namespace supratok {

enum EntryState : uint8_t {
  kReachable,
  kUnreachable,  // its own text encodes to something else, so it never occurs
  kOutOfOrder,   // it is made from entries that rank after it: cannot be encoded this way
};

class Merges {
 public:
  static constexpr uint32_t kNone = Entries::kNone;
  explicit Merges(size_t entries) : states(entries, kReachable), pieces(entries) {}

  // Learns from which two entries each one is joined. Each entry listed in `tied` shares the rank
  // of the one before it, which must not be longer.
  void learn(const Entries& entries, const Numbers& tied) {
    tie(entries, tied);
    const size_t slots = std::bit_ceil(std::max<size_t>(entries.texts.size() * 2, 1024));
    joins_.clear(slots);
    maybe_joined_.assign(slots / 16, 0);  // 4 bits a slot
    lowest_.assign(1 << 16, kNone);
    for (uint32_t e = 0; e < entries.texts.size(); ++e) pieces[e].prefix = entries.prefixes[e];
    ties() ? learn_parts<true>(entries) : learn_parts<false>(entries);
  }

  // After the other entries were removed from the trie: no prefix leads to them.
  template <class Keeps>
  void keep(Keeps keeps) {
    for (Piece& piece : pieces)
      while (piece.prefix != kNone && !keeps(piece.prefix))
        piece.prefix = pieces[piece.prefix].prefix;
  }

  // Appends entries, and bytes for each character outside the alphabet; returns how many.
  size_t encode(const Entries& entries, std::string_view text, Numbers& out) const {
    return ties() ? encode<true>(entries, text, kNone, out)
                  : encode<false>(entries, text, kNone, out);
  }

  // The same with the entries before `limit` alone, where the trie holds no others; without ties.
  size_t encode_before(const Entries& entries, std::string_view text, uint32_t limit,
                       Numbers& out) const {
    return encode<false>(entries, text, limit, out);
  }
  // Whether two reachable entries may be neighbours. The text has these bytes beside the border.
  bool may_be_neighbours(uint32_t left, uint32_t right, char last, char first) const {
    const uint32_t lowest = lowest_[border(last, first)];
    return ties() ? fit<true>(left, right, lowest, kNone) : fit<false>(left, right, lowest, kNone);
  }
  // The token that a part of so many bytes became by a join with what is before it, on the way to
  // `token`, which ends with it; kNone if it has no such part.
  uint32_t taker_of(size_t part, uint32_t token, const Entries& entries) const {
    while (token < kNone) {
      const uint32_t right = pieces[token].right;
      if (right == kNone || entries.sizes[right] < part) break;
      if (entries.sizes[right] == part) return token;
      token = right;
    }
    return kNone;
  }
  // Whether `a` is joined later than `b`, by its rank.
  bool is_later(uint32_t a, uint32_t b) const { return ties() ? ranks_[a] > ranks_[b] : a > b; }
  bool ties() const { return !ranks_.empty(); }
  // Whether a join of a rank before `limit` crosses a border between these two bytes. Each two
  // neighbours inside an entry were joined once, by it or by a part of it.
  bool joins_across(char before, char after, uint32_t limit = kNone) const {
    return lowest_[border(before, after)] < limit;
  }

  struct Piece {
    uint32_t left = kNone, right = kNone;  // its parts
    uint32_t prefix = kNone;               // the longest entry that it begins with
  };
  std::vector<uint8_t> states;  // EntryState, by entry
  LargeVector<Piece> pieces;    // by entry

 private:
  // Without ties an entry's rank is its place in the list, and nothing is looked up.
  template <bool kTies>
  uint32_t rank(uint32_t entry) const {
    return kTies && entry != kNone ? ranks_[entry] : entry;
  }

  void tie(const Entries& entries, const Numbers& tied) {
    if (tied.empty()) return;
    ranks_.resize(entries.texts.size());
    std::iota(ranks_.begin(), ranks_.end(), 0);
    for (const uint32_t e : tied) {
      if (e == 0 || e >= ranks_.size() || is_char(entries.texts[e - 1]) ||
          entries.sizes[e] < entries.sizes[e - 1])
        throw std::invalid_argument("entry " + std::to_string(e) +
                                    " cannot be tied to the one before it");
      ranks_[e] = ranks_[e - 1];
    }
  }

  // In rank order: with the entries before it, an entry's text must encode to two of them.
  template <bool kTies>
  void learn_parts(const Entries& entries) {
    for (uint32_t e = 0; e < entries.texts.size(); ++e) {
      breathe(e);
      const std::string& text = entries.texts[e];
      if (is_char(text)) {  // it has no parts
        const uint32_t code = decode_char(text.data());
        if (code / 64 >= alphabet_.size()) alphabet_.resize(code / 64 + 1);
        alphabet_[code / 64] |= uint64_t{1} << code % 64;
        continue;
      }
      if (!find_parts<kTies>(entries, e)) {
        states[e] = formed_plainly<kTies>(entries, text) ? kOutOfOrder : kUnreachable;
        continue;
      }
      const auto [left, right, prefix] = pieces[e];
      const uint64_t hash = join_hash(left, right);
      joins_.add(hash, e);
      maybe_joined_[maybe_place(hash) / 64] |= uint64_t{1} << maybe_place(hash) % 64;
      const size_t left_size = entries.sizes[left];
      uint32_t& lowest = lowest_[border(text[left_size - 1], text[left_size])];
      lowest = std::min(lowest, rank<kTies>(e));
    }
  }

  // The two earlier entries that an entry's text encodes to, if they are two: by (2) the first
  // that may be neighbours.
  template <bool kTies>
  bool find_parts(const Entries& entries, uint32_t e) {
    const std::string_view text = entries.texts[e];
    for (uint32_t left = usable(pieces[e].prefix, e); left != kNone;
         left = usable(pieces[left].prefix, e)) {
      const size_t border_at = entries.sizes[left];
      const uint32_t right = entries.find(text.substr(border_at));
      if (right == kNone || right >= e || states[right] != kReachable) continue;
      const uint32_t lowest = lowest_[border(text[border_at - 1], text[border_at])];
      if (!fit<kTies>(left, right, lowest, kNone)) continue;
      pieces[e].left = left;
      pieces[e].right = right;
      return true;
    }
    return false;
  }

  // The rule taken literally, for the few texts that the fast way does not settle.
  template <bool kTies>
  bool formed_plainly(const Entries& entries, std::string_view text) const {
    Texts tokens;
    for (size_t i = 0; i < text.size(); i += char_bytes(text[i]))
      tokens.push_back(text.substr(i, char_bytes(text[i])));
    const auto known = [&](std::string_view token) { return entries.find(token); };
    while (tokens.size() > 1) {
      uint32_t lowest = kNone;
      size_t place = 0;
      for (size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (known(tokens[i]) == kNone || known(tokens[i + 1]) == kNone) continue;
        const size_t size = tokens[i].size() + tokens[i + 1].size();
        const uint32_t order = rank<kTies>(known({tokens[i].data(), size}));
        if (order < lowest) lowest = order, place = i;
      }
      if (lowest == kNone) return false;
      tokens[place] = {tokens[place].data(), tokens[place].size() + tokens[place + 1].size()};
      tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(place) + 1);
    }
    return true;
  }

  static uint64_t join_hash(uint32_t left, uint32_t right) {
    const uint64_t key = FlatCounts::pair(left, right) * 0x9e3779b97f4a7c15ull;
    return key ^ key >> 32;
  }
  size_t maybe_place(uint64_t hash) const { return hash >> 20 & (maybe_joined_.size() * 64 - 1); }
  static size_t border(char last, char first) {
    return size_t{static_cast<unsigned char>(last)} << 8 | static_cast<unsigned char>(first);
  }

  uint32_t joined(uint32_t left, uint32_t right) const {
    const uint64_t hash = join_hash(left, right);
    const size_t bit = maybe_place(hash);
    if (!(maybe_joined_[bit / 64] >> bit % 64 & 1)) return kNone;
    const uint32_t found = joins_.find(hash, [&](uint32_t entry) {
      return pieces[entry].left == left && pieces[entry].right == right;
    });
    return std::min(found, kNone);
  }

  // Whether `left` and `right` may be neighbours. Undoes their last joins, latest first; at each
  // stage a join across the border must not come before the one just undone. Of two joins of equal
  // rank the left one is made first. No join across this border ranks before `lowest`; those from
  // `limit` on do not count.
  template <bool kTies>
  bool fit(uint32_t left, uint32_t right, uint32_t lowest, uint32_t limit) const {
    while (limit > lowest) {
      if (rank<kTies>(joined(left, right)) < limit) return false;
      if (std::max(rank<kTies>(left), rank<kTies>(right)) < lowest) return true;
      // Characters rank before all other entries: if the later one is a character, both are.
      if (rank<kTies>(left) > rank<kTies>(right)) {
        limit = rank<kTies>(left);
        left = pieces[left].right;
        if (left == kNone) return true;
      } else {
        limit = rank<kTies>(right) + 1;
        right = pieces[right].left;
        if (right == kNone) return true;
      }
    }
    return true;
  }

  // `entry`, or the longest entry that it begins with and that may be used.
  uint32_t usable(uint32_t entry, uint32_t limit) const {
    while (entry != kNone && (entry >= limit || states[entry] != kReachable))
      entry = pieces[entry].prefix;
    return entry;
  }

  // The next place with a character of the alphabet, or not far from `at`. Each is looked up by
  // itself, where walking down the trie would take one step after another.
  size_t skip_outside(std::string_view text, size_t at) const {
    for (const size_t stop = std::min(at + kPause, text.size()); at < stop;) {
      const uint32_t code = decode_char(&text[at]);
      if (code / 64 < alphabet_.size() && alphabet_[code / 64] >> code % 64 & 1) break;
      at += char_bytes(text[at]);
    }
    return at;
  }
  static uint32_t* room(Numbers& out, size_t count) {
    out.resize(out.size() + count);
    return out.data() + out.size() - count;
  }

  // Entries from `limit` on do not join; the trie holds none.
  template <bool kTies>
  size_t encode(const Entries& entries, std::string_view text, uint32_t limit, Numbers& out) const {
    uint64_t few = 0;       // bits: enough for most texts
    uint64_t* dead = &few;  // no encoding passes there
    std::optional<Scratch<uint64_t, 0>> more;
    if (text.size() >= 64) {
      dead = more.emplace(text.size() / 64 + 1).values.data();
      std::fill_n(dead, text.size() / 64 + 1, 0);
    }
    const char* const end = text.data() + text.size();
    const size_t start = out.size();
    size_t fence = start;                  // no token before this one can join the next
    uint32_t left = kNone, right = kNone;  // the last two that fitted: the same often come again
    size_t at = 0, pause = kPause;
    while (at < text.size()) {
      if (at >= pause) breathe(), pause = at + kPause;
      const size_t known = skip_outside(text, at);
      if (known > at) {
        if (known - at > 4)  // more than a character
          std::transform(&text[at], &text[known - 1] + 1, room(out, known - at), Entries::of_byte);
        else
          for (size_t b = at; b < known; ++b) out.push_back(Entries::of_byte(text[b]));
        fence = out.size();
        at = known;
        continue;
      }
      uint32_t token = entries.longest(&text[at], end);
      while (true) {
        const size_t next = at + entries.sizes[token];
        if (!(dead[next / 64] >> next % 64 & 1) &&
            (out.size() == fence || (out.back() == left && token == right) ||
             fit<kTies>(out.back(), token, lowest_[border(text[at - 1], text[at])], limit))) {
          left = out.size() == fence ? kNone : out.back();
          right = token;
          out.push_back(token);
          at = next;
          break;
        }
        token = pieces[token].prefix;
        while (token == kNone) {  // nothing fits here: step back
          dead[at / 64] |= uint64_t{1} << at % 64;
          token = out.back();
          out.pop_back();
          at -= entries.sizes[token];
          token = pieces[token].prefix;
        }
      }
    }
    return out.size() - start;
  }

  static constexpr size_t kPause = 1 << 14;
  Numbers ranks_;                       // by entry; empty: no two share one
  FlatIndex joins_;                     // of entries, by the hash of their parts
  std::vector<uint64_t> maybe_joined_;  // a bit for each hash of a join: most pairs end here
  std::vector<uint64_t> alphabet_;      // a bit for each code point
  // By last byte of the left and first byte of the right side: the lowest rank that joins them.
  Numbers lowest_;
};

}  // namespace supratok
