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
      : encoder_(encoder), suffixes_(suffixes) {}

  // Appends whole characters.
  void add(std::string_view chars) {
    const size_t least = size_ + chars.size() + 1;
    if (least > places_.size()) places_.resize(std::max({least, 2 * places_.size(), size_t{64}}));
    for (size_t at = 0; at < chars.size(); breathe(at)) {
      const auto size = static_cast<uint16_t>(char_bytes(chars[at]));
      add_char(&chars[at], size);
      at += size;
    }
  }
  size_t room() const { return places_.size() - 1; }  // for a text of so many bytes
  // The same of one character, if there is room.
  [[gnu::always_inline]] void add_char(const char* bytes, uint16_t size) {
    Place* here = &places_[size_];
    for (const char* const end = bytes + size; bytes < end; ++bytes) {
      const uint32_t state = suffixes_.next(here->state, *bytes);
      (++here)->begin(state, *bytes);
    }
    encoder_.by_fewest() ? find_fewest(here, size) : find_neighbour(here, size);
    size_ += size;
  }
  // Forgets what is behind the first so many bytes.
  void shorten(size_t size) { size_ = size; }

  void swap(LastTokens& other) {  // of the same encoder
    places_.swap(other.places_);
    std::swap(size_, other.size_);
  }

  // Places are counted in bytes. What is said of a place is said of the text up to it.
  size_t size() const { return size_; }
  char last_byte(size_t at) const { return places_[at].byte(); }
  std::string text_behind(size_t at) const {
    std::string text;
    while (at < size_) text += places_[++at].byte();
    return text;
  }
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
    if (!Entries::is_byte(here.token)) [[likely]]
      ids[here.count - 1] = encoder_.id_of(256 + here.token);
    else
      for (uint32_t b = 1; b <= here.size; ++b)
        ids[here.count - b] =
            encoder_.id_of(static_cast<unsigned char>(places_[at - b + 1].byte()));
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
    uint32_t token = kNone, count = 0;
    uint32_t state = Suffixes::kRoot;
    uint16_t size = 0;  // of the last token, in bytes
    uint16_t last = 0;  // byte, and above it, by fewest: over so many bytes the counts did not fall
    void begin(uint32_t new_state, char new_byte) {
      token = kNone, state = new_state, size = 0, last = static_cast<unsigned char>(new_byte);
    }
    char byte() const { return static_cast<char>(last); }
    int risen() const { return last >> 8; }
  };

  // Find the last token behind a character of so many bytes. By merges the state says it if the
  // token before has the right size, so that it is the one in the state's own text:
  //   - The longest entry that the text ends with grows from its left part. A join across its
  //     beginning would be one with the whole entry, but no longer entry ends here; or one with a
  //     beginning of its left part, which would come first without the rest of the entry too.
  //   - The last two tokens of the state's own text may be neighbours.
  //   - A single character is the last token if no longer entry ends here.
  [[gnu::always_inline]] void find_neighbour(Place* here, uint16_t char_size) const {
    const Suffixes::Shape shape = suffixes_.shape(here->state);
    if (here[-shape.back].size != shape.before)
      look_for_neighbour(here, char_size, shape);
    else
      end_with(here, {suffixes_.noted(here->state), shape.bytes});
  }
  // Otherwise the token before may have taken in the one of the state's own text, by a join of some
  // rank. Before that join nothing crosses the border behind it, as in the own text, and after it
  // only an entry longer than the longest could. So the entry that the state says is the last token
  // if it is joined earlier; if it grows, and is joined later, then its right part is, if that is
  // joined earlier; and an entry cannot grow from a part that nothing ends with. Where all this
  // does not decide, each entry is tested, the longest first.
  [[gnu::noinline]] void look_for_neighbour(Place* here, uint16_t char_size,
                                            Suffixes::Shape shape) const {
    const Merges& merges = encoder_.merges();
    Suffixes::Ending one{suffixes_.noted(here->state), shape.bytes};
    if (shape.longest) {
      const uint32_t taker =
          merges.taker_of(shape.before, here[-shape.back].token, encoder_.entries());
      if (taker != kNone && merges.is_later(taker, one.entry)) return end_with(here, one);
      if (shape.back < shape.bytes) {  // it grows
        const uint32_t right = merges.pieces[one.entry].right;
        if (taker != kNone && merges.is_later(taker, right))
          return end_with(here, {right, shape.back});
        one = suffixes_.shorter_than(one.entry);
      }
    } else {
      one = suffixes_.longest(here->state);
    }
    for (; one.entry != kNone; one = suffixes_.shorter_than(one.entry)) {
      const Place* const before = here - one.bytes;
      if (one.bytes == char_size || before->token >= kNone ||
          merges.may_be_neighbours(before->token, one.entry, before->byte(), before[1].byte()))
        return end_with(here, one);
    }
    write_bytes(here, char_size);
  }
  // By fewest the longest entry passes if no place inside it has fewer tokens than its beginning.
  void find_fewest(Place* here, uint16_t char_size) const {
    const Suffixes::Shape shape = suffixes_.shape(here->state);
    const auto longest = shape.bytes ? Suffixes::Ending{suffixes_.noted(here->state), shape.bytes}
                                     : suffixes_.longest(here->state);
    const Place* const last = here - char_size;
    const int risen = last->risen() + char_size;
    if (longest.bytes <= risen && longest.entry != kNone)
      end_with(here, longest);
    else
      look_for_fewest(here, char_size, longest);
    if (here->count >= last->count) here->last |= static_cast<uint16_t>(std::min(risen, 255) << 8);
  }
  [[gnu::noinline]] void look_for_fewest(Place* here, uint16_t char_size,
                                         Suffixes::Ending one) const {
    here->count = kNone;
    for (; one.entry != kNone; one = suffixes_.shorter_than(one.entry)) {
      if (here[-one.bytes].count + 1 < here->count) end_with(here, one);
      if (one.bytes == char_size) return;  // the character itself
    }
    if (here[-char_size].count + char_size < here->count) write_bytes(here, char_size);
  }
  static void end_with(Place* here, Suffixes::Ending one) {
    here->token = one.entry, here->count = here[-one.bytes].count + 1, here->size = one.bytes;
  }
  static void write_bytes(Place* here, uint16_t char_size) {
    here->token = Entries::of_byte(here[1 - char_size].byte());
    here->count = here[-char_size].count + char_size, here->size = char_size;
  }

  const Encoder& encoder_;
  const Suffixes& suffixes_;
  size_t size_ = 0;               // bytes of text; behind them is room
  std::vector<Place> places_{1};  // by bytes of text
};

}  // namespace supratok
