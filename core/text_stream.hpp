// The ids of a text that comes piece by piece, corrected after each piece.
//
// A table of last tokens (last_tokens.hpp) grows with the text. The encodings before and after a
// piece share their ids up to the last place through which both pass; behind it, new ids replace
// the old ones. A border that no entry crosses settles all that is before it: the table begins
// anew, so it is as long as the text since the last border.
#pragma once

#include "boundaries.hpp"

namespace supratok {

class TextStream {
 public:
  // It keeps the reference.
  explicit TextStream(const Boundaries& boundaries)
      : boundaries_(boundaries), table_(boundaries.encoder(), boundaries.suffixes()) {}

  // Appends whole characters. The first so many ids stay; those behind them are new. An exception
  // leaves the stream as it was.
  size_t append(std::string_view text) {
    if (text.size() != 1 || table_.size() >= room_) return append_more(text);
    if (is_border(text, 0)) {  // the table begins anew, in the room that it has
      settled_ = count_;
      settled_bytes_ += table_.size();
      table_.shorten(0);
      note_room();
    }
    const size_t before = count_ - settled_;
    table_.add_char(text.data(), 1);
    return correct<true>(before);
  }
  std::span<const uint32_t> ids() const { return {ids_.data(), count_}; }
  size_t bytes() const { return settled_bytes_ + table_.size(); }

 private:
  [[gnu::noinline]] size_t append_more(std::string_view text) {
    const size_t known = table_.size(), before = count_ - settled_;
    try {
      size_t first = 0;
      while (first < text.size() && !is_border(text, first)) ++first;
      table_.add(text.substr(0, first));
      if (first < text.size()) return append_behind(text, first, before);
      make_room(0);
      return correct(before);
    } catch (...) {
      table_.shorten(known);
      throw;
    }
  }
  bool is_border(std::string_view text, size_t at) const {
    return boundaries_.is_border(at ? text[at - 1] : table_.last_byte(table_.size()), text[at]);
  }
  // The text up to its first border is in the table. From there to the last one the encoder is
  // faster; the rest begins a new table.
  size_t append_behind(std::string_view text, size_t first, size_t before) {
    size_t last = text.size() - 1;
    while (last > first && !is_border(text, last)) --last;
    Numbers middle;
    if (last > first) boundaries_.encoder().encode(text.substr(first, last - first), middle);
    next_.shorten(0);
    next_.add(text.substr(last));
    make_room(middle.size() + next_.count(next_.size()));
    const size_t keep = correct(before);
    std::copy(middle.begin(), middle.end(), ids_.begin() + static_cast<ptrdiff_t>(count_));
    settled_ = count_ + middle.size();
    settled_bytes_ += table_.size() + last - first;
    table_.swap(next_);
    correct(0);
    note_room();
    return keep;
  }

  // For the ids of the table, at most one a byte, and so many more.
  void make_room(size_t more) {
    const size_t size = settled_ + table_.size() + more;
    if (size > ids_.size()) ids_.resize(std::max(size, 2 * ids_.size()));
    const size_t places = std::max(table_.room(), next_.room()) + 1;
    if (places > ends_.size()) ends_.resize(places);
    note_room();
  }
  void note_room() { room_ = std::min({table_.room(), ends_.size() - 1, ids_.size() - settled_}); }
  // Makes the ids those of the table, which had so many before: from the last one back to a place
  // through which both encodings pass. If the table has grown, the last one is new: no branch asks
  // whether it is, which a processor would often guess wrong. There is room, so nothing can fail.
  template <bool kGrown = false>
  [[gnu::always_inline]] size_t correct(size_t before) {
    uint32_t* const ids = ids_.data() + settled_;
    uint32_t* const ends = ends_.data();
    size_t at = table_.size(), count = table_.count(at);
    count_ = settled_ + count;
    if (!kGrown && count <= before && ends[count] == at) return settled_ + count;
    do {
      const size_t start = table_.write(at, ids), kept = table_.count(start);
      ends[count] = static_cast<uint32_t>(at);
      if (kept + 1 < count) [[unlikely]]  // a character in bytes
        std::fill(ends + kept + 1, ends + count, kInside);
      count = kept, at = start;
    } while (count > before || ends[count] != at);
    return settled_ + count;
  }

  static constexpr uint32_t kInside = ~uint32_t{0};  // of a character: no encoding passes there
  const Boundaries& boundaries_;
  LastTokens table_, next_ = table_;  // of the text since a border; room for the next one
  Numbers ids_;                       // of the whole text; behind them is room
  Numbers ends_{0};                   // in the table: where so many of its ids end
  size_t count_ = 0;                  // of ids
  size_t settled_ = 0;                // ids before the border
  size_t room_ = 0;                   // bytes that the table may have, without more memory
  size_t settled_bytes_ = 0;
};

}  // namespace supratok
