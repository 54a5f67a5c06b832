#include "limits.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "text.hpp"

namespace supratok {
namespace {

bool is_number(uint32_t code) {
  return char_info(code).cls == CharClass::Number;
}

// The digits in a row where two texts meet; 0 if they do not meet in digits.
uint32_t digits_where_they_meet(std::string_view left, std::string_view right) {
  uint32_t before = 0, after = 0;
  for (size_t i = 0; i < right.size() && is_number(decode_char(&right[i]));
       i += char_bytes(right[i]))
    ++after;
  if (!after) return 0;
  while (!left.empty() && is_number(take_last_char(left))) ++before;
  return before ? before + after : 0;
}

}  // namespace

std::vector<Symbol> Symbol::characters(const std::vector<uint32_t>& code_points) {
  std::vector<Symbol> symbols;
  for (const uint32_t code : code_points)
    symbols.push_back({.text = encode_char(code),
                       .digits = is_number(code),
                       .spaces = code == ' ',
                       .script = char_info(code).script});
  return symbols;
}

std::vector<Symbol> Symbol::words_of(const std::vector<std::string>& texts, bool by_class) {
  std::vector<Symbol> symbols;
  for (const std::string& text : texts) {
    Word word;
    if (!WordReader(text, by_class).next(word) || word.text.size() != text.size())
      throw std::invalid_argument("'" + text + "' is not one word");
    const bool counts = word.cls == CharClass::Letter || word.cls == CharClass::Number;
    symbols.push_back({.text = text, .words = counts, .script = word.script});
  }
  return symbols;
}

Limits::Limits(uint32_t bytes, uint32_t words, uint32_t digits, uint32_t spaces,
               uint32_t digits_in_row, bool one_script, const std::vector<std::string>& names)
    : bytes(bytes),
      words(words),
      digits(digits),
      spaces(spaces),
      digits_in_row(digits_in_row),
      one_script(one_script),
      names(names.begin(), names.end()) {
  for (const std::string& name : names) {
    longest_name_ = std::max(longest_name_, name.size());
    if (name.empty()) continue;
    begins_name_[static_cast<unsigned char>(name.front())] = true;
    ends_name_[static_cast<unsigned char>(name.back())] = true;
  }
}

bool Limits::allow(const Symbol& left, const Symbol& right) const {
  return left.text.size() + right.text.size() <= bytes && left.words + right.words <= words &&
         left.digits + right.digits <= digits && left.spaces + right.spaces <= spaces &&
         (digits_in_row == kNoLimit ||
          digits_where_they_meet(left.text, right.text) <= digits_in_row) &&
         !(one_script && left.script && right.script && left.script != right.script) &&
         !is_name(left.text, right.text);
}

bool Limits::is_name(const std::string& left, const std::string& right) const {
  return begins_name_[static_cast<unsigned char>(left.front())] &&
         ends_name_[static_cast<unsigned char>(right.back())] &&
         left.size() + right.size() <= longest_name_ && names.contains(left + right);
}

}  // namespace supratok
