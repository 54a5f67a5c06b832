// Which neighbouring words may share a token. Python names the characters that matter; the core
// looks them up.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace supratok {

class Joints {
 public:
  // A word does not join the next one if it ends with a character of `stops`; nor, where a space
  // follows, if it ends with one of `spaced_stops`. In both cases characters of `closing` may stand
  // after the stop. Nor if a space follows directly on one of `spaced_ends`. Without `numbers`, no
  // word that holds a number joins any other.
  Joints(bool by_class, bool numbers, std::string_view stops, std::string_view spaced_stops,
         std::string_view closing, std::string_view spaced_ends)
      : by_class_(by_class), numbers_(numbers), kinds_(kCodePoints) {
    each_char(stops, [&](uint32_t code) { kinds_[code] |= kStop; });
    each_char(spaced_stops, [&](uint32_t code) { kinds_[code] |= kSpacedStop; });
    each_char(closing, [&](uint32_t code) { kinds_[code] |= kClosing; });
    each_char(spaced_ends, [&](uint32_t code) { kinds_[code] |= kSpacedEnd; });
  }

  bool by_class() const { return by_class_; }  // how words are cut

  bool allow(const Word& left, const Word& right) const {
    if (!left.joinable() || !right.joinable()) return false;
    if (!numbers_ && (has_number(left) || has_number(right))) return false;
    std::string_view text = left.text;
    uint8_t kind = kinds_[take_last_char(text)];
    if (!kind) return true;
    if (right.spaced() && kind & kSpacedEnd) return false;
    while (kind & kClosing && !text.empty()) kind = kinds_[take_last_char(text)];
    return !(kind & kStop || (right.spaced() && kind & kSpacedStop));
  }

 private:
  enum Kind : uint8_t { kStop = 1, kSpacedStop = 2, kClosing = 4, kSpacedEnd = 8 };

  bool has_number(const Word& word) const {
    return by_class_ ? word.cls == CharClass::Number : has_class(word.text, CharClass::Number);
  }

  bool by_class_, numbers_;
  std::vector<uint8_t> kinds_;  // by code point
};

}  // namespace supratok
