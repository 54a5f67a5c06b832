// The last token of the encoding of every beginning of a text, as the text grows.
//
// What lies before the last token of an encoding is the encoding of the text before it: under
// `fewest` by its definition, under `merges` by (2) of merges.hpp. So one token a place says how
// every beginning is encoded: its last token, the last token of what is before that, and so on.
// And the last token at a new place is found from earlier places. It is one of the entries that the
// text ends with (suffixes.hpp):
//   merges: the one that may follow the last token of what is before it. By (2) the tokens up to
//           there are then the encoding, and a text has only one: exactly one entry passes.
//   fewest: the one with the fewest tokens in all, of equals the longest.
// A character outside the alphabet is its bytes; under `fewest` entries may hold it all the same.
#pragma once

#include "encode.hpp"
#include "suffixes.hpp"

namespace supratok {

class LastTokens {
 public:
  static constexpr uint32_t kNone = Entries::kNone;

  // It keeps the references.
  LastTokens(const Encoder& encoder, const Suffixes& suffixes)
      : encoder_(encoder), entries_(encoder.entries()), suffixes_(suffixes) {}

  // Appends whole characters.
  void add(std::string_view chars) {
    for (size_t at = 0; at < chars.size(); breathe(at)) {
      const size_t size = char_bytes(chars[at]);
      uint32_t state = places_.back().state;
      for (size_t b = at; b < at + size; ++b) {
        state = suffixes_.next(state, chars[b]);
        text_.push_back(chars[b]);
        places_.push_back({kNone, 0, state});
      }
      encoder_.by_fewest() ? find_fewest(size) : find_neighbour(size);
      at += size;
    }
  }
  // Forgets what is behind the first so many bytes.
  void shorten(size_t size) {
    text_.resize(size);
    places_.resize(size + 1);
  }

  void swap(LastTokens& other) {  // of the same encoder
    text_.swap(other.text_);
    places_.swap(other.places_);
  }

  // Places are counted in bytes. What is said of a place is said of the text up to it.
  size_t size() const { return text_.size(); }
  std::string_view text() const { return text_; }
  uint32_t state(size_t at) const { return places_[at].state; }
  uint32_t count(size_t at) const { return places_[at].count; }  // of ids
  // The last token: an entry, or a byte for a character that is written in bytes, or, of an empty
  // text, kNone.
  uint32_t token(size_t at) const { return places_[at].token; }
  size_t start(size_t at) const {  // of the last token
    if (!Entries::is_byte(token(at))) return at - entries_.sizes[token(at)];
    do --at;
    while (!leads_char(text_[at]));
    return at;
  }
  // The last place through which both encodings pass, that up to `a` and that up to `b`.
  size_t meet(size_t a, size_t b) const {
    while (a != b) (a > b ? a : b) = start(std::max(a, b));
    return a;
  }
  // Appends the ids between two places through which the encoding up to the second passes.
  void ids(size_t from, size_t to, Numbers& out) const {
    out.resize(out.size() + count(to) - count(from));
    uint32_t* slot = out.data() + out.size();
    for (size_t begin; to > from; to = begin) {
      begin = start(to);
      if (!Entries::is_byte(token(to)))
        *--slot = encoder_.id_of(256 + token(to));
      else
        for (size_t b = to; b-- > begin;)
          *--slot = encoder_.id_of(static_cast<unsigned char>(text_[b]));
    }
  }

 private:
  struct Place {
    uint32_t token = kNone, count = 0;
    uint32_t state = Suffixes::kRoot;
  };

  // Sets the last token of the text, whose last character has so many bytes.
  void find_neighbour(size_t char_size) {
    Place& here = places_.back();
    const size_t at = size();
    for (uint32_t e = suffixes_.longest(here.state); e != kNone; e = suffixes_.shorter_entry(e)) {
      const size_t from = at - entries_.sizes[e];
      const Place& before = places_[from];
      if (from && !Entries::is_byte(before.token) &&
          !encoder_.merges().may_be_neighbours(before.token, e, text_[from - 1], text_[from]))
        continue;
      here.token = e;
      here.count = before.count + 1;
      return;
    }
    write_bytes(char_size);
  }
  void find_fewest(size_t char_size) {
    Place& here = places_.back();
    const size_t at = size();
    here.count = kNone;
    for (uint32_t e = suffixes_.longest(here.state); e != kNone; e = suffixes_.shorter_entry(e)) {
      const uint32_t count = places_[at - entries_.sizes[e]].count + 1;
      if (count < here.count) here.token = e, here.count = count;
      if (entries_.sizes[e] == char_size) return;  // the character itself
    }
    if (places_[at - char_size].count + char_size < here.count) write_bytes(char_size);
  }
  void write_bytes(size_t char_size) {
    Place& here = places_.back();
    here.token = Entries::of_byte(text_[size() - char_size]);
    here.count = places_[size() - char_size].count + static_cast<uint32_t>(char_size);
  }

  const Encoder& encoder_;
  const Entries& entries_;
  const Suffixes& suffixes_;
  std::string text_;
  std::vector<Place> places_{1};  // by bytes of text
};

}  // namespace supratok
