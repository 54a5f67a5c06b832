// Symbols of the merge loop, and the limits on what two of them may become.
#pragma once

#include <unordered_set>

#include "text.hpp"

namespace supratok {

// A text with the sums that limits are set on. What is not counted stays 0.
struct Symbol {
  std::string text;
  uint32_t words = 0;   // of letters or numbers
  uint32_t digits = 0;  // characters of the class Number
  uint32_t spaces = 0;  // plain ones
  uint8_t script = 0;   // 0: common to all scripts
  Symbol joined(const Symbol& right) const {
    return {text + right.text, words + right.words, digits + right.digits, spaces + right.spaces,
            script ? script : right.script};
  }
  static bool is_digit(uint32_t code) { return char_info(code).cls == CharClass::Number; }

  // A character counts its digits and spaces, a word counts as a word.
  static Symbol character(uint32_t code) {
    return {encode_char(code), 0, is_digit(code), code == ' ', char_info(code).script};
  }
  static Symbol word(const std::string& text, bool by_class) {
    Word word;
    if (!WordReader(text, by_class).next(word) || word.text.size() != text.size())
      throw std::invalid_argument("'" + text + "' is not one word");
    return {text, word.cls == CharClass::Letter || word.cls == CharClass::Number, 0, 0,
            word.script};
  }
};

struct Limits {
  static constexpr uint32_t kNoLimit = 0xffffffffu;
  uint32_t bytes, words, digits, spaces;  // in a joined text
  uint32_t digits_in_row;                 // where its parts meet
  bool one_script;                        // symbols of two scripts do not join
  std::unordered_set<std::string> names;  // texts that mean something else, and are never made
  bool allow(const Symbol& left, const Symbol& right) const {
    return left.text.size() + right.text.size() <= bytes && left.words + right.words <= words &&
           left.digits + right.digits <= digits && left.spaces + right.spaces <= spaces &&
           (digits_in_row == kNoLimit ||
            digits_where_they_meet(left.text, right.text) <= digits_in_row) &&
           !(one_script && left.script && right.script && left.script != right.script) &&
           !names.contains(left.text + right.text);
  }

  // The digits in a row where two texts meet; 0 if they do not meet in digits.
  static uint32_t digits_where_they_meet(std::string_view left, std::string_view right) {
    uint32_t before = 0, after = 0;
    for (size_t i = 0; i < right.size() && Symbol::is_digit(decode_char(&right[i]));
         i += char_bytes(right[i]))
      ++after;
    if (!after) return 0;
    while (!left.empty() && Symbol::is_digit(take_last_char(left))) ++before;
    return before ? before + after : 0;
  }
};

}  // namespace supratok
