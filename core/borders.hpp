// Places where no token crosses, whatever lies around them: between two bytes that are neighbours
// in no entry. Under both rules the two sides are encoded as if alone. So a long text is encoded in
// parts, of a size that what one step writes, the next one finds in the fast cache.
#pragma once

#include <bitset>
#include <concepts>

#include "text.hpp"

namespace supratok {

class Borders {
 public:
  Borders() = default;
  explicit Borders(const std::vector<std::string>& entries)
      : Borders([](char, char) { return false; }) {
    for (size_t e = 0; e < entries.size(); breathe(++e))
      for (size_t i = 1; i < entries[e].size(); ++i) inside_[pair(entries[e], i)] = true;
  }
  // crosses(before, after): whether some entry has these two bytes as neighbours.
  template <std::predicate<char, char> Crosses>
  explicit Borders(Crosses crosses) {
    for (size_t pair = 0; pair < inside_.size(); ++pair) {
      const auto before = static_cast<char>(pair >> 8), after = static_cast<char>(pair);
      inside_[pair] = !leads_char(after) || crosses(before, after);
    }
  }

  // Whether every encoding has a border between these two bytes.
  bool between(char before, char after) const {
    const char bytes[2] = {before, after};
    return !inside_[pair({bytes, 2}, 1)];
  }

  // Calls each(part) for the parts of a text, in order.
  template <class Each>
  void in_parts(std::string_view text, Each each) const {
    size_t size = kPart;
    while (size < text.size()) {
      const size_t border = last_in(text.substr(0, size));
      if (!border) {
        size *= 2;
        continue;
      }
      each(text.substr(0, border));
      text.remove_prefix(border);
      size = kPart;
    }
    each(text);
  }

  // The last border of a text, not far from its end; 0 if there is none.
  size_t last_in(std::string_view text) const {
    const size_t least = text.size() - std::min(text.size(), kTries);
    for (size_t at = text.size(); at-- > least + 1;)
      if (!inside_[pair(text, at)]) return at;
    return 0;
  }

 private:
  static constexpr size_t kPart = 1 << 15;   // bytes
  static constexpr size_t kTries = 1 << 12;  // places that are looked at in each part

  static size_t pair(std::string_view text, size_t at) {
    return size_t{static_cast<unsigned char>(text[at - 1])} << 8 |
           static_cast<unsigned char>(text[at]);
  }

  std::bitset<1 << 16> inside_;  // by two bytes: neighbours in an entry, or in a character
};

}  // namespace supratok
