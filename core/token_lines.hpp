// The token lines of a file that `save` wrote, each of which is exactly
//   ["a text", 12, "multiword"],
// as Python's own writer of JSON has it. Lines of any other form are for Python to read.
#pragma once

#include <charconv>

#include "text.hpp"

namespace supratok {

class TokenLines {
 public:
  static constexpr int64_t kMostCount = (int64_t{1} << 53) - 1;

  // `canonical` gets the lines as the checksum has them: without spaces and newlines in between.
  explicit TokenLines(std::string_view lines) : at_(lines.data()), end_(at_ + lines.size()) {
    canonical.reserve(lines.size());
  }

  // Reads the next line; false where it is odd.
  bool next() {
    const char* const start = at_;
    text.clear();
    if (!take("[\"") || !string() || !take(", ")) return false;
    const char* const second = at_;
    if (!number() || !take(", ")) return false;
    const char* const third = at_;
    if (!take("\"") || !name() || !take("]")) return false;
    done = at_ + kEnd.size() == end_ && take(kEnd);
    if (!done && !take(",")) return false;
    canonical.append(start, second - 1).append(second, third - 1).append(third, at_);
    if (done) canonical.resize(canonical.size() - kEnd.size());
    return done || take("\n");
  }
  std::string text;
  int64_t count = 0;
  std::string_view born;
  bool done = false;      // this line was the last, and nothing follows
  std::string canonical;  // of all lines so far

 private:
  static constexpr std::string_view kEnd = "\n]}\n";  // of a file
  bool take(std::string_view wanted) {
    if (static_cast<size_t>(end_ - at_) < wanted.size() ||
        std::string_view(at_, wanted.size()) != wanted)
      return false;
    at_ += wanted.size();
    return true;
  }

  // A text up to its closing quote, with the escapes that Python writes and no others.
  bool string() {
    while (at_ < end_) {
      const char* const start = at_;
      while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20)
        ++at_;
      text.append(start, at_);
      if (take("\"")) return true;
      if (at_ + 1 >= end_ || *at_ != '\\') return false;
      const char letter = at_[1];
      constexpr std::string_view kLetters = "\"\\nrtbf", kMeant = "\"\\\n\r\t\b\f";
      const size_t place = kLetters.find(letter);
      if (place == kLetters.npos && !control()) return false;
      if (place == kLetters.npos) continue;
      text += kMeant[place];
      at_ += 2;
    }
    return false;
  }

  // "\u001f": a control character that has no letter of its own, in small hexadecimal letters.
  bool control() {
    if (!take("\\u00") || end_ - at_ < 2) return false;
    unsigned code = 0;
    const auto [stop, error] = std::from_chars(at_, at_ + 2, code, 16);
    const bool small = !(at_[1] >= 'A' && at_[1] <= 'F');
    const bool lettered =
        code == '\n' || code == '\r' || code == '\t' || code == '\b' || code == '\f';
    if (stop != at_ + 2 || error != std::errc() || code >= 0x20 || !small || lettered) return false;
    text += static_cast<char>(code);
    at_ += 2;
    return true;
  }

  bool number() {
    const char* const start = at_;
    const auto [stop, error] = std::from_chars(at_, end_, count);
    if (error != std::errc() || count < 0 || count > kMostCount || *start == '-') return false;
    if (*start == '0' && stop != start + 1) return false;
    at_ = stop;
    return true;
  }

  bool name() {
    const char* const start = at_;
    while (at_ < end_ && *at_ >= 'a' && *at_ <= 'z') ++at_;
    born = {start, at_};
    return take("\"");
  }

  const char* at_;
  const char* const end_;
};

}  // namespace supratok
