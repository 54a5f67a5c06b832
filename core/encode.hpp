// Text to tokens and back, exactly and in linear time, for both segmentation rules.
//
// An entry is a text with a rank, its place in the list. Entries of one character are the alphabet;
// characters outside it become byte symbols, which never join with anything.
//
// merges: join the neighbours whose joined text has the lowest rank, leftmost first, until none is
// an entry. Done literally this needs a heap over the whole text. Instead we use that
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
//
// fewest: the fewest tokens; among equals the one whose last token is longest, for every prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flat_map.hpp"
#include "trie.hpp"

namespace supratok {

enum class Rule : uint8_t { Merges, Fewest };

enum EntryState : uint8_t {
  kReachable,
  kUnreachable,  // its own text encodes to something else, so it never occurs
  kOutOfOrder,   // it is made from entries that rank after it: cannot be encoded this way
};

class Encoder {
 public:
  // `entries` in rank order, the alphabet first; `weights` say how often each is expected, which
  // matters for speed alone. Ids: byte b is first_id + b, entry i is first_id + 256 + i; or, where
  // `ids` are given, those of the bytes and then of the entries. Each entry listed in `tied` shares
  // the rank of the one before it, which must not be longer.
  Encoder(std::vector<std::string> entries, const std::vector<int64_t>& weights, Rule rule,
          uint32_t first_id, std::vector<uint32_t> ids = {},
          const std::vector<uint32_t>& tied = {});

  void encode(std::string_view text, std::vector<uint32_t>& ids) const;
  size_t count(std::string_view text) const;

  // The bytes of an id that `knows` knows: an entry's or a byte's, not a special token's.
  std::string_view bytes_of(uint32_t id) const;
  bool knows(uint32_t id) const { return place_of(id) < 256 + entries_.size(); }
  // The largest id known, plus one.
  uint32_t end_id() const {
    return ids_.empty() ? first_id_ + 256 + static_cast<uint32_t>(entries_.size())
                        : static_cast<uint32_t>(places_.size());
  }
  // Byte b has the place b, entry i the place 256 + i; unknown ids have a place after all of them.
  uint32_t place_of(uint32_t id) const {
    if (ids_.empty()) return id - first_id_;
    return id < places_.size() ? places_[id] : kNone;
  }

  size_t size() const { return entries_.size(); }
  const std::vector<uint8_t>& states() const { return states_; }  // EntryState, by entry
  // The two entries that the merges rule makes `entry` from; none for the alphabet.
  std::optional<std::pair<uint32_t, uint32_t>> parts(uint32_t entry) const {
    if (pieces_[entry].left == kNone) return {};
    return std::pair(pieces_[entry].left, pieces_[entry].right);
  }

  // The fewest other entries that an entry's text can be written with, by entry.
  std::vector<uint32_t> parts_without() const;

  static constexpr uint32_t kNone = Trie::kNone;

 private:
  struct Piece {
    uint32_t left = kNone, right = kNone;  // its parts
    uint32_t prefix = kNone;               // the longest entry that it begins with
  };
  struct Scratch;
  static Scratch& scratch();

  void number(std::vector<uint32_t> ids);
  void tie(const std::vector<uint32_t>& tied);
  template <bool kTies>
  void learn_parts();
  // Without ties an entry's rank is its place in the list, and nothing is looked up.
  template <bool kTies>
  uint32_t rank(uint32_t entry) const {
    return kTies && entry != kNone ? ranks_[entry] : entry;
  }
  bool ties() const { return !ranks_.empty(); }
  bool formed_plainly(std::string_view text) const;
  uint32_t joined(uint32_t left, uint32_t right) const;
  void add_join(uint32_t left, uint32_t right, uint32_t entry);
  size_t maybe_place(uint64_t hash) const { return hash >> 20 & (maybe_joined_.size() * 64 - 1); }
  template <bool kTies>
  bool fit(uint32_t left, uint32_t right, uint32_t lowest) const;
  static size_t border(char last, char first) {
    return size_t{static_cast<unsigned char>(last)} << 8 | static_cast<unsigned char>(first);
  }
  uint32_t lowest_join(char last, char first) const { return lowest_[border(last, first)]; }
  template <bool kBuilding>
  uint32_t usable(uint32_t entry, uint32_t limit) const;
  uint32_t longest(const char* from, const char* end) const;

  template <bool kBuilding, bool kTies>
  size_t by_merges(std::string_view text, uint32_t limit, std::vector<uint32_t>& out) const;
  size_t by_fewest(std::string_view text, bool emit, std::vector<uint32_t>& out) const;

  std::vector<std::string> entries_;
  Rule rule_;
  uint32_t first_id_;
  std::vector<uint32_t> ids_;     // by place; empty: consecutive
  std::vector<uint32_t> places_;  // by id
  std::vector<uint32_t> ranks_;   // by entry; empty: no two share one
  Trie trie_;
  std::vector<uint8_t> states_;
  std::vector<uint16_t> sizes_;  // of the entries, in bytes: small, because it is read most
  LargeVector<Piece> pieces_;
  size_t ring_ = 8;                     // a power of two above the size of the longest entry
  FlatIndex joins_;                     // of entries, by the hash of their parts
  std::vector<uint64_t> maybe_joined_;  // a bit for each hash of a join: most pairs end here
  // By last byte of the left and first byte of the right side: the lowest rank that joins them.
  std::vector<uint32_t> lowest_;
};

}  // namespace supratok
