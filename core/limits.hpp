// Symbols of the merge loop, and the limits on what two of them may become.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

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
  // Characters count their digits and spaces, words count as words.
  static std::vector<Symbol> characters(const std::vector<uint32_t>& code_points);
  static std::vector<Symbol> words_of(const std::vector<std::string>& texts, bool by_class);
};

struct Limits {
  static constexpr uint32_t kNoLimit = 0xffffffffu;
  uint32_t bytes, words, digits, spaces;
  uint32_t digits_in_row;                 // where two texts meet
  bool one_script;                        // symbols of two scripts do not join
  std::unordered_set<std::string> names;  // texts that mean something else, and are never made

  Limits(uint32_t bytes, uint32_t words, uint32_t digits, uint32_t spaces, uint32_t digits_in_row,
         bool one_script, const std::vector<std::string>& names);
  bool allow(const Symbol& left, const Symbol& right) const;

 private:
  bool is_name(const std::string& left, const std::string& right) const;

  size_t longest_name_ = 0;
  std::array<bool, 256> begins_name_{}, ends_name_{};
};

}  // namespace supratok
