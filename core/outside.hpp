// Characters outside the alphabet, which are written in bytes: whether some bytes are one, or can
// still become one.
#pragma once

#include "entries.hpp"

namespace supratok {

class Outside {
 public:
  // Of the entries for which keeps(entry) holds. Those of one character are the alphabet.
  template <class Keeps>
  Outside(const Entries& entries, Keeps keeps) {
    std::vector<bool> alphabet(kCodePoints), inside(kCodePoints);
    for (uint32_t e = 0; e < entries.texts.size(); breathe(++e)) {
      if (!keeps(e)) continue;
      if (is_char(entries.texts[e])) alphabet[decode_char(entries.texts[e].data())] = true;
      each_char(entries.texts[e], [&](uint32_t code) { inside[code] = true; });
    }
    for (uint32_t code = 0; code < kCodePoints; ++code) {
      if (inside[code]) known_.push_back(code);
      if (inside[code] && !alphabet[code]) foreign_.push_back(code);
    }
  }

  // Whether a character outside the alphabet begins with these bytes, or is these bytes. Characters
  // that entries hold although the alphabet does not are asked about: in_bytes(character).
  template <class InBytes>
  bool begins_with(std::string_view bytes, InBytes in_bytes) const {
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const size_t size = char_bytes(lead);
    if (!leads_char(bytes[0]) || lead > 0xf4 || bytes.size() > size) return false;
    if (std::any_of(bytes.begin() + 1, bytes.end(), leads_char)) return false;
    std::string first(bytes), last(bytes);
    first.resize(size, '\x80');
    last.resize(size, '\xbf');
    constexpr std::array<uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};  // by number of bytes
    const uint32_t low = std::max(decode_char(first.data()), kLeast[size]);
    const uint32_t end = std::min(decode_char(last.data()) + 1, kCodePoints);
    if (low >= end) return false;
    const uint32_t halves = count(low, end, 0xd800, 0xe000);  // surrogates are no characters
    const auto [known, known_end] = between(known_, low, end);
    if (end - low - halves > known_end - known) return true;
    const auto [from, to] = between(foreign_, low, end);
    return std::any_of(from, to, [&](uint32_t code) { return in_bytes(encode_char(code)); });
  }

  // Whether entries hold characters that the alphabet does not.
  bool any_foreign() const { return !foreign_.empty(); }

 private:
  static uint32_t count(uint32_t low, uint32_t end, uint32_t first, uint32_t last) {
    const uint32_t from = std::max(low, first), to = std::min(end, last);
    return to > from ? to - from : 0;
  }
  static std::pair<const uint32_t*, const uint32_t*> between(const Numbers& codes, uint32_t low,
                                                             uint32_t end) {
    const uint32_t *begin = codes.data(), *stop = begin + codes.size();
    return {std::lower_bound(begin, stop, low), std::lower_bound(begin, stop, end)};
  }

  Numbers known_;    // characters of entries, sorted
  Numbers foreign_;  // those of them that are outside the alphabet
};

}  // namespace supratok
