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
    if (const size_t least = size_ + chars.size() + 1; least > places_.size()) {
      text_.resize(std::max(least, 2 * places_.size()));
      places_.resize(text_.size());
    }
    for (size_t at = 0; at < chars.size(); breathe(at)) {
      const auto size = static_cast<uint32_t>(char_bytes(chars[at]));
      uint32_t state = places_[size_].state;
      for (const size_t end = at + size; at < end; ++at) {
        state = suffixes_.next(state, chars[at]);
        text_[size_] = chars[at];
        places_[++size_] = {.state = state};
      }
      encoder_.by_fewest() ? find_fewest(size) : find_neighbour(size);
    }
  }
  // Forgets what is behind the first so many bytes.
  void shorten(size_t size) { size_ = size; }

  void swap(LastTokens& other) {  // of the same encoder
    text_.swap(other.text_);
    places_.swap(other.places_);
    std::swap(size_, other.size_);
  }

  // Places are counted in bytes. What is said of a place is said of the text up to it.
  size_t size() const { return size_; }
  std::string_view text() const { return {text_.data(), size_}; }
  uint32_t state(size_t at) const { return places_[at].state; }
  uint32_t count(size_t at) const { return places_[at].count; }  // of ids
  // The last token: an entry, or a byte for a character that is written in bytes, or, of an empty
  // text, kNone.
  uint32_t token(size_t at) const { return places_[at].token; }
  size_t start(size_t at) const { return at - places_[at].size; }  // of the last token
  // The last place through which both encodings pass, that up to `a` and that up to `b`.
  size_t meet(size_t a, size_t b) const {
    while (a != b) (a > b ? a : b) = start(std::max(a, b));
    return a;
  }
  // Writes the ids of the last token to their places among those of the text, and returns its
  // start.
  size_t write(size_t at, uint32_t* ids) const {
    const Place& here = places_[at];
    if (!Entries::is_byte(here.token))
      ids[here.count - 1] = encoder_.id_of(256 + here.token);
    else
      for (uint32_t b = 1; b <= here.size; ++b)
        ids[here.count - b] = encoder_.id_of(static_cast<unsigned char>(text_[at - b]));
    return at - here.size;
  }
  // Appends the ids of the text up to a place.
  void ids(size_t to, Numbers& out) const {
    const size_t before = out.size();
    out.resize(before + count(to));
    while (to) to = write(to, out.data() + before);
  }

 private:
  struct Place {
    uint32_t token = kNone, count = 0, size = 0;  // the last token, ids, bytes of that token
    uint32_t state = Suffixes::kRoot;
  };

  // Find the last token of the text, whose last character has so many bytes. The character itself
  // needs no test: if no longer entry passes, it does.
  void find_neighbour(uint32_t char_size) {
    Place& here = places_[size_];
    const auto longest = suffixes_.longest(here.state);
    for (auto one = longest; one.entry != kNone; one = suffixes_.shorter_than(one.entry)) {
      const size_t from = size_ - one.bytes;
      const Place& before = places_[from];
      if (one.bytes > char_size && from && !Entries::is_byte(before.token) &&
          !encoder_.merges().may_be_neighbours(before.token, one.entry, text_[from - 1],
                                               text_[from], longest.entry))
        continue;
      here.token = one.entry, here.count = before.count + 1, here.size = one.bytes;
      return;
    }
    write_bytes(char_size);
  }
  void find_fewest(uint32_t char_size) {
    Place& here = places_[size_];
    here.count = kNone;
    for (auto one = suffixes_.longest(here.state); one.entry != kNone;
         one = suffixes_.shorter_than(one.entry)) {
      const uint32_t count = places_[size_ - one.bytes].count + 1;
      if (count < here.count) here.token = one.entry, here.count = count, here.size = one.bytes;
      if (one.bytes == char_size) return;  // the character itself
    }
    if (places_[size_ - char_size].count + char_size < here.count) write_bytes(char_size);
  }
  void write_bytes(uint32_t char_size) {
    const Place& before = places_[size_ - char_size];
    places_[size_] = {Entries::of_byte(text_[size_ - char_size]), before.count + char_size,
                      char_size, places_[size_].state};
  }

  const Encoder& encoder_;
  const Entries& entries_;
  const Suffixes& suffixes_;
  size_t size_ = 0;  // bytes of text; behind them is room
  std::string text_;
  std::vector<Place> places_{1};  // by bytes of text
};

}  // namespace supratok
