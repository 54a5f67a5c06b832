// Texts that are cut out before the rest is encoded: special tokens, and what a layout always cuts.
//
// At each place the longest of them is cut, from left to right. What lies between the cuts goes on
// to the next coder: an encoder, or another cutting.
#pragma once

#include "encode.hpp"

namespace supratok {

using Places = std::vector<std::pair<size_t, size_t>>;  // in characters

// Appends the ids of a text and where they are in it.
inline void locate(const Encoder& encoder, std::string_view text, Numbers& ids, Places& places) {
  Numbers own;
  encoder.encode(text, own);
  const Places found = offsets(encoder, text, own);
  ids.insert(ids.end(), own.begin(), own.end());
  places.insert(places.end(), found.begin(), found.end());
}

class Cutting {
 public:
  // The cut texts have these ids. The prefix comes before the first stretch that is not empty.
  // What is left goes to `next`, or without one to the encoder.
  Cutting(const Encoder& encoder, const Cutting* next, const Texts& texts, Numbers ids,
          std::string_view prefix)
      : encoder_(encoder), next_(next), trie_(texts, Counts(texts.size(), 1), Trie::sorted(texts)),
        ids_(std::move(ids)), prefix_(prefix) {
    if (ids_.size() != texts.size()) throw std::invalid_argument("as many ids as texts");
    for (const std::string_view text : texts)
      if (!text.empty()) begins_[static_cast<unsigned char>(text[0])] = true;
  }

  const Encoder& encoder() const { return encoder_; }

  void encode(std::string_view text, Numbers& ids) const {
    split(
        text,
        [&](std::string_view stretch, size_t) {
          next_ ? next_->encode(stretch, ids) : encoder_.encode(stretch, ids);
        },
        [&](uint32_t cut, std::string_view) { ids.push_back(ids_[cut]); });
  }

  // The same in portions: calls write(ids) for each, in order.
  template <class Write>
  void encode_to(std::string_view text, Write write) const {
    split(
        text,
        [&](std::string_view stretch, size_t) {
          next_ ? next_->encode_to(stretch, write) : encoder_.encode_to(stretch, write);
        },
        [&](uint32_t cut, std::string_view) { write(std::span(&ids_[cut], 1)); });
  }

  size_t count(std::string_view text) const {  // of tokens
    size_t count = 0;
    split(
        text,
        [&](std::string_view stretch, size_t) {
          count += next_ ? next_->count(stretch) : encoder_.count(stretch);
        },
        [&](uint32_t, std::string_view) { ++count; });
    return count;
  }

  // Appends the ids of a text and where they are in it; the prefix is no part of it.
  void locate(std::string_view text, Numbers& ids, Places& places) const {
    size_t chars = 0;
    split(
        text,
        [&](std::string_view stretch, size_t prefix) {
          const size_t first = places.size();
          next_ ? next_->locate(stretch, ids, places)
                : supratok::locate(encoder_, stretch, ids, places);
          for (size_t i = first; i < places.size(); ++i) {
            auto& [start, end] = places[i];
            start = chars + std::max(start, prefix) - prefix;
            end = chars + end - prefix;
          }
          chars += count_chars(stretch) - prefix;
        },
        [&](uint32_t cut, std::string_view found) {
          const size_t start = std::exchange(chars, chars + count_chars(found));
          ids.push_back(ids_[cut]);
          places.emplace_back(start, chars);
        });
  }

  uint32_t end_id() const {  // the largest id, plus one
    uint32_t end = next_ ? next_->end_id() : encoder_.end_id();
    for (const uint32_t id : ids_) end = std::max(end, id + 1);
    return end;
  }

 private:
  static size_t count_chars(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), leads_char));
  }

  // The longest text to cut that begins here, and where it ends.
  std::pair<uint32_t, size_t> cut_at(std::string_view text, size_t at) const {
    std::pair<uint32_t, size_t> found{Trie::kNone, at};
    uint32_t node = Trie::kRoot;
    while (at < text.size() && trie_.step(node, static_cast<unsigned char>(text[at++])))
      if (trie_.ends_at(node)) found = {trie_.longest_at(node), at};
    return found;
  }

  // Calls rest(stretch, characters of the prefix in it) and cut(its place, its text), in order.
  template <class Rest, class Cut>
  void split(std::string_view text, Rest rest, Cut cut) const {
    size_t from = 0, cuts = 0;
    bool begun = prefix_.empty();
    const auto hand_over = [&](size_t to) {
      if (from == to) return;
      const std::string_view stretch = text.substr(from, to - from);
      std::exchange(begun, true) ? rest(stretch, 0)
                                 : rest(prefix_ + std::string(stretch), count_chars(prefix_));
    };
    for (size_t at = 0; at < text.size(); ++at) {
      if (!begins_[static_cast<unsigned char>(text[at])]) continue;
      const auto [found, end] = cut_at(text, at);
      if (found == Trie::kNone) continue;
      breathe(++cuts);
      hand_over(at);
      cut(found, text.substr(at, end - at));
      from = end;
      at = end - 1;
    }
    hand_over(text.size());
  }

  const Encoder& encoder_;
  const Cutting* const next_;  // or none
  Trie trie_;
  Numbers ids_;  // by place in the trie
  std::string prefix_;
  std::array<bool, 256> begins_{};  // by byte: whether a text to cut begins with it
};

inline void locate(const Cutting& cutting, std::string_view text, Numbers& ids, Places& places) {
  cutting.locate(text, ids, places);
}

}  // namespace supratok
