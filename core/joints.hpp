// Which neighbouring words may share a token. Python names the characters that matter; the core
// looks them up.
#pragma once

#include "flat_map.hpp"
#include "text.hpp"

namespace supratok {

class Joints {
 public:
  // A word does not join the next one if it ends with a character of `stops`; nor, where a space
  // follows, if it ends with one of `spaced_stops`. In both cases characters of `closing` may come
  // after the stop. Nor if a space follows directly on one of `spaced_ends`, or, without `marks`,
  // on any punctuation. Without `numbers`, no word that holds a number joins any other.
  Joints(bool by_class, bool numbers, bool marks, std::string_view stops,
         std::string_view spaced_stops, std::string_view closing, std::string_view spaced_ends)
      : by_class_(by_class), numbers_(numbers), marks_(marks) {
    const auto mark = [&](std::string_view characters, Kind kind) {
      each_char(characters, [&](uint32_t code) {
        if (!(kinds_.count(code) & kind)) kinds_.add(code, kind);
      });
    };
    mark(stops, kStop);
    mark(spaced_stops, kSpacedStop);
    mark(closing, kClosing);
    mark(spaced_ends, kSpacedEnd);
  }

  bool by_class() const { return by_class_; }  // how words are cut

  bool allow(const Word& left, const Word& right) const {
    const uint8_t as_next = side_of_next(right);
    return as_next && side_of_last(left) & as_next;
  }

  // Two words may share a token if and only if the sides that they show each other have a bit in
  // common. A word's side as the second of two: which kind of border it makes, if any.
  enum Side : uint8_t { kNone = 0, kPlain = 1, kSpaced = 2 };
  uint8_t side_of_next(const Word& word) const {
    if (!joins(word)) return kNone;
    return word.spaced() ? kSpaced : kPlain;
  }
  // And as the first of two: the kinds of borders that it may have behind it.
  uint8_t side_of_last(const Word& word) const {
    if (!joins(word)) return kNone;
    std::string_view text = word.text;
    const uint32_t code = take_last_char(text);
    const bool mark = (by_class_ ? word.cls : char_info(code).cls) == CharClass::Punct;
    int64_t kind = kinds_.count(code);
    const bool end = kind & kSpacedEnd || (mark && !marks_);
    while (kind & kClosing && !text.empty()) kind = kinds_.count(take_last_char(text));
    if (kind & kStop) return kNone;
    return end || kind & kSpacedStop ? kPlain : kPlain | kSpaced;
  }

 private:
  enum Kind { kStop = 1, kSpacedStop = 2, kClosing = 4, kSpacedEnd = 8 };
  bool joins(const Word& word) const { return word.joinable() && (numbers_ || !has_number(word)); }
  bool has_number(const Word& word) const {
    return by_class_ ? word.cls == CharClass::Number : has_class(word.text, CharClass::Number);
  }

  bool by_class_, numbers_, marks_;
  FlatCounts kinds_;  // by code point, the sum of its kinds
};

}  // namespace supratok
