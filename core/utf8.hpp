// Characters of one, two or four bytes, as Python keeps them, to UTF-8.
#pragma once

#include "text.hpp"

namespace supratok {

// Writes some characters; `to` has room for four bytes each. nullptr at a lone surrogate, which has
// no UTF-8.
template <class Char>
char* write_utf8(const Char* from, size_t count, char* to) {
  constexpr size_t kFew = 16;  // tested and copied at once, where all are ASCII
  for (size_t at = 0; at < count;) {
    if (at + kFew <= count) {
      Char all = 0;
      for (size_t k = 0; k < kFew; ++k) all |= from[at + k];
      if (all < 0x80) {
        for (size_t k = 0; k < kFew; ++k) to[k] = static_cast<char>(from[at + k]);
        to += kFew;
        at += kFew;
        continue;
      }
    }
    for (const size_t stop = std::min(at + kFew, count); at < stop; ++at) {
      const uint32_t code = from[at];
      const auto put = [&](size_t place, uint32_t byte) { to[place] = static_cast<char>(byte); };
      const auto rest = [&](size_t place, int bits) { put(place, 0x80 | (code >> bits & 0x3f)); };
      if (code < 0x800) {  // one byte or two, without a branch to mispredict
        put(0, code < 0x80 ? code : 0xc0 | code >> 6), rest(1, 0);
        to += code < 0x80 ? 1 : 2;
      } else if (code < 0x10000) {
        if (code >= 0xd800 && code < 0xe000) return nullptr;
        put(0, 0xe0 | code >> 12), rest(1, 6), rest(2, 0);
        to += 3;
      } else {
        put(0, 0xf0 | code >> 18), rest(1, 12), rest(2, 6), rest(3, 0);
        to += 4;
      }
    }
  }
  return to;
}

}  // namespace supratok
