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
    if (text.size() == 1 && table_.has_room(1) && settled_ + table_.size() < ids_.size() &&
        !is_border(text, 0)) {
      table_.add_char(text.data(), 1);
      return correct(1);
    }
    return append_more(text);
  }
  std::span<const uint32_t> ids() const { return {ids_.data(), count_}; }
  size_t bytes() const { return bytes_; }

 private:
  [[gnu::noinline]] size_t append_more(std::string_view text) {
    const size_t known = table_.size();
    try {
      size_t first = 0;
      while (first < text.size() && !is_border(text, first)) ++first;
      table_.add(text.substr(0, first));
      if (first < text.size()) return append_behind(text, first);
      make_room(0);
      return correct(text.size());
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
  [[gnu::noinline]] size_t append_behind(std::string_view text, size_t first) {
    size_t last = text.size() - 1;
    while (last > first && !is_border(text, last)) --last;
    Numbers middle;
    if (last > first) boundaries_.encoder().encode(text.substr(first, last - first), middle);
    next_.shorten(0);
    next_.add(text.substr(last));
    make_room(middle.size() + next_.count(next_.size()));
    const size_t keep = correct(text.size());
    std::copy(middle.begin(), middle.end(), ids_.begin() + static_cast<ptrdiff_t>(count_));
    settled_ = count_ + middle.size();
    table_.swap(next_);
    end_ = 0;
    correct(0);
    return keep;
  }

  // For the ids of the table, at most one a byte, and so many more.
  void make_room(size_t more) {
    const size_t size = settled_ + table_.size() + more;
    if (size > ids_.size()) ids_.resize(std::max(size, 2 * ids_.size()));
  }
  // Makes the ids those of the table. There is room, so nothing can fail.
  [[gnu::always_inline]] size_t correct(size_t more) {
    size_t before = end_, now = end_ = table_.size();
    uint32_t* const ids = ids_.data() + settled_;
    count_ = settled_ + table_.count(now);
    bytes_ += more;
    while (before != now)
      before > now ? before = table_.start(before) : now = table_.write(now, ids);
    return settled_ + table_.count(now);
  }

  const Boundaries& boundaries_;
  LastTokens table_, next_ = table_;  // of the text since a border; room for the next one
  Numbers ids_;                       // of the whole text; behind them is room
  size_t count_ = 0;                  // of ids
  size_t settled_ = 0;                // ids before the border
  size_t end_ = 0;                    // of the text in the table that `ids_` has
  size_t bytes_ = 0;                  // of the whole text
};

}  // namespace supratok
