// Text as the core reads it: UTF-8 bytes, characters with a class and a script, and words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "breathe.hpp"

namespace supratok {

using Texts = std::vector<std::string_view>;
using Numbers = std::vector<uint32_t>;
using Counts = std::vector<int64_t>;

// Paper 3.4: the five supercategories of characters; newlines are kept apart from other separators
// and from controls. Combining marks and joiners (Extend) take the class of the character they
// follow.
enum class CharClass : uint8_t { Letter, Punct, Number, Space, Newline, Control, Extend };

struct CharInfo {
  CharClass cls;
  uint8_t script;  // 0: common to all scripts
};

constexpr uint32_t kCodePoints = 0x110000;
extern const CharInfo* const char_table;  // by code point

inline CharInfo char_info(uint32_t code_point) {
  return char_table[code_point];
}

// The number of bytes of the UTF-8 character that begins with `lead`.
inline size_t char_bytes(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

// Whether a byte is the first of a character.
inline bool leads_char(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

// Decodes the character at `p`. Invariant: texts are valid UTF-8, for bindings make them from a
// str.
inline uint32_t decode_char(const char* p) {
  const auto* u = reinterpret_cast<const unsigned char*>(p);
  if (u[0] < 0x80) return u[0];
  if (u[0] < 0xe0) return (u[0] & 0x1fu) << 6 | (u[1] & 0x3fu);
  if (u[0] < 0xf0) return (u[0] & 0x0fu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
  return (u[0] & 0x07u) << 18 | (u[1] & 0x3fu) << 12 | (u[2] & 0x3fu) << 6 | (u[3] & 0x3fu);
}

inline std::string encode_char(uint32_t code) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  if (code < 0x10000)
    return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)),
          byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
}

// Whether bytes from outside are valid UTF-8.
inline bool is_utf8(std::string_view text) {
  constexpr std::array<uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};  // by number of bytes
  for (size_t i = 0, end; i < text.size(); i = end) {
    const auto lead = static_cast<unsigned char>(text[i]);
    end = i + char_bytes(lead);
    if (!leads_char(text[i]) || lead >= 0xf8 || end > text.size()) return false;
    for (size_t b = i + 1; b < end; ++b)
      if (leads_char(text[b])) return false;
    const uint32_t code = decode_char(&text[i]);
    if (code < kLeast[end - i] || code >= kCodePoints || (code >= 0xd800 && code < 0xe000))
      return false;
  }
  return true;
}

// Calls visit(code point) for each character of a text.
template <class Visit>
void each_char(std::string_view text, Visit visit) {
  for (size_t i = 0; i < text.size(); i += char_bytes(text[i])) visit(decode_char(&text[i]));
}

// Removes the last character of a text, which is not empty, and returns its code point.
inline uint32_t take_last_char(std::string_view& text) {
  size_t start = text.size() - 1;
  while (!leads_char(text[start])) --start;
  const uint32_t code = decode_char(&text[start]);
  text.remove_suffix(text.size() - start);
  return code;
}

// Whether a text holds a character of a class.
inline bool has_class(std::string_view text, CharClass cls) {
  bool found = false;
  each_char(text, [&](uint32_t code) { found |= char_info(code).cls == cls; });
  return found;
}

// The first script in a text that is not common to all; 0 if there is none.
inline uint8_t script_of(std::string_view text) {
  for (size_t i = 0; i < text.size(); i += char_bytes(text[i]))
    if (const CharInfo info = char_info(decode_char(&text[i])); info.script) return info.script;
  return 0;
}

// A word: characters of one class and one script, with the single plain space before it. Newlines
// and other whitespace are one class here, so an indentation is one word.
// "Hello, big  world\n" -> "Hello" "," " big" " " " world" "\n"
// Or, not cut by class: all characters between whitespace; such a word counts as letters of no
// script. "Hello, big  world\n" -> "Hello," " big" " " " world" "\n"
struct Word {
  std::string_view text;
  CharClass cls;
  uint8_t script;
  bool spaced() const { return cls != CharClass::Space && text[0] == ' '; }
  // Letters, punctuation and numbers may be part of a phrase; whitespace and controls may not.
  bool joinable() const { return cls <= CharClass::Number; }
};

// Cuts a text into words, in order and without gaps: the words' texts add up to the text.
class WordReader {
 public:
  explicit WordReader(std::string_view text, bool by_class = true)
      : text_(text), by_class_(by_class) {}

  bool next(Word& word) {
    if (pos_ >= text_.size()) return false;
    breathe(++words_);
    const size_t start = pos_;
    CharInfo info = at(pos_);
    if (text_[pos_] == ' ' && pos_ + 1 < text_.size()) {
      const CharInfo after = at(pos_ + 1);
      if (leads_word(after)) {  // one space belongs to the word that follows it
        pos_ += 1;
        info = after;
      }
    }
    if (!by_class_ && leads_word(info)) {
      do pos_ += char_bytes(text_[pos_]);
      while (pos_ < text_.size() && leads_word(at(pos_)));
      word = {text_.substr(start, pos_ - start), CharClass::Letter, 0};
      return true;
    }
    word = {{}, word_class(info.cls), info.script};
    pos_ += char_bytes(text_[pos_]);
    if (word.cls == CharClass::Letter && info.script == char_info('a').script)
      while (pos_ < text_.size() && is_ascii_letter(text_[pos_])) ++pos_;  // most of most texts
    while (pos_ < text_.size() && continues(word)) pos_ += char_bytes(text_[pos_]);
    word.text = text_.substr(start, pos_ - start);
    return true;
  }

 private:
  CharInfo at(size_t pos) const { return char_info(decode_char(text_.data() + pos)); }
  static bool is_ascii_letter(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }
  static CharClass word_class(CharClass cls) {
    if (cls == CharClass::Extend) return CharClass::Letter;
    return cls == CharClass::Newline ? CharClass::Space : cls;
  }
  static bool leads_word(CharInfo info) {
    return info.cls <= CharClass::Number || info.cls == CharClass::Extend;
  }

  // Whether the character at pos_ belongs to `word`; if so, it may settle the word's script.
  bool continues(Word& word) {
    const CharInfo info = at(pos_);
    if (info.cls == CharClass::Extend) return word.cls <= CharClass::Number;
    if (word_class(info.cls) != word.cls) return false;
    if (word.cls == CharClass::Space && text_[pos_] == ' ' && pos_ + 1 < text_.size())
      return !leads_word(at(pos_ + 1));  // the last space of several goes to the next word
    if (info.script == 0 || word.script == info.script) return true;
    if (word.script != 0) return false;
    word.script = info.script;
    return true;
  }

  std::string_view text_;
  bool by_class_;
  size_t pos_ = 0, words_ = 0;
};

}  // namespace supratok
