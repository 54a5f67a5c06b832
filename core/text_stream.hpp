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
    const size_t known = table_.size();
    try {
      return append_to_table(text);
    } catch (...) {
      table_.shorten(known);
      throw;
    }
  }
  const Numbers& ids() const { return ids_; }
  size_t bytes() const { return bytes_; }

 private:
  // In three parts, if the text is long and has borders: up to the first border, from there to the
  // last one, where the encoder is faster than the table, and from there on.
  size_t append_to_table(std::string_view text) {
    const auto is_border = [&](size_t at) {
      if (at) return boundaries_.is_border(text[at - 1], text[at]);
      return table_.size() && boundaries_.is_border(table_.text().back(), text[0]);
    };
    size_t first = 0, last = text.size();
    while (first < text.size() && !is_border(first)) ++first;
    table_.add(text.substr(0, first));
    if (first == text.size()) {
      make_room(0);
      return correct(text.size());
    }
    while (!is_border(--last)) continue;
    Numbers middle;
    boundaries_.encoder().encode(text.substr(first, last - first), middle);
    LastTokens rest(boundaries_.encoder(), boundaries_.suffixes());
    rest.add(text.substr(last));
    make_room(middle.size() + rest.count(rest.size()));
    const size_t keep = correct(text.size());
    ids_.insert(ids_.end(), middle.begin(), middle.end());
    settled_ = ids_.size();
    table_.swap(rest);
    table_.ids(0, end_ = table_.size(), ids_);
    return keep;
  }

  // For the ids of the table and so many more.
  void make_room(size_t more) {
    const size_t size = settled_ + table_.count(table_.size()) + more;
    if (size > ids_.capacity()) ids_.reserve(std::max(size, 2 * ids_.capacity()));
  }
  // Makes the ids those of the table. There is room, so nothing can fail.
  size_t correct(size_t more) {
    const size_t same = table_.meet(end_, table_.size());
    const size_t keep = settled_ + table_.count(same);
    ids_.resize(keep);
    table_.ids(same, table_.size(), ids_);
    end_ = table_.size();
    bytes_ += more;
    return keep;
  }

  const Boundaries& boundaries_;
  LastTokens table_;    // of the text since a border
  Numbers ids_;         // of the whole text
  size_t settled_ = 0;  // ids before the border
  size_t end_ = 0;      // of the text in the table that `ids_` has
  size_t bytes_ = 0;    // of the whole text
};

}  // namespace supratok
