// The merges rule in two levels: first only words, looked up whole, then only the tokens that cross
// words.
//
// Level 1 is all entries that rank before some `limit`, level 2 the others. The rule joins the
// lowest rank first, so it makes all joins of level 1 before any of level 2. After one of level 2
// none of level 1 can follow: it needs two neighbours of level 1 (an entry ranks after its parts),
// and these were neighbours before. So encoding with level 1 and then joining with level 2
// (phrases.hpp) is the rule itself, for any limit. The limit is the first entry of several words,
// for speed alone.
//
// A join of level 1 across a border between two characters makes a token in which they are
// neighbours. Where no entry of level 1 has the last byte of the one before the first byte of the
// other, the two sides are encoded as if alone. So the text is cut there, by a table of all pairs
// of bytes. Most parts between two cuts are words that are tokens: one look into a table. The
// others are joined from characters (joins.hpp), or, if they are long, encoded in linear time
// (merges.hpp); each thread remembers some thousands of them.
#pragma once

#include <atomic>

#include "phrases.hpp"
#include "short_texts.hpp"

namespace supratok {

class Levels {
 public:
  // The first entry of several words, or the number of entries.
  static uint32_t first_phrase(const Entries& entries) {
    const auto size = static_cast<uint32_t>(entries.texts.size());
    uint32_t e = 0;
    for (Word word{}; e < size; breathe(++e)) {
      WordReader(entries.texts[e], false).next(word);
      if (word.text.size() != entries.texts[e].size()) break;
    }
    return e;
  }

  // For entries without ties. It keeps the references.
  Levels(const Entries& entries, const Merges& merges, uint32_t limit)
      : entries_(entries), merges_(merges), limit_(limit), pairs_(1 << 14, Entries::kNone),
        phrases_(merges, limit) {
    note_cuts();
    size_t short_texts = 0;
    for (uint32_t e = 0; e < limit; ++e) {
      short_texts += entries.sizes[e] <= ShortTexts::kLongest;
      longest_ = std::max<size_t>(longest_, entries.sizes[e]);
    }
    joins_.make_room(limit, limit);
    for (uint32_t byte = 0; byte < ascii_.size(); ++byte)
      ascii_[byte] = Entries::of_byte(static_cast<char>(byte));
    short_.make_room(short_texts);
    for (uint32_t e = 0; e < limit; breathe(++e)) {
      if (merges.states[e] != kReachable) continue;
      const std::string& text = entries.texts[e];
      if (const Merges::Piece& piece = merges.pieces[e]; piece.left != Entries::kNone)
        joins_.add(piece.left, piece.right, e);
      if (text.size() == 2 && is_ascii(text)) pairs_[pair_of(text, 0)] = e;
      if (text.size() == 1) ascii_[static_cast<unsigned char>(text[0])] = e;
      char room[ShortTexts::kLongest]{};
      std::memcpy(room, text.data(), std::min(text.size(), sizeof room));
      if (text.size() <= sizeof room)
        short_.add(room, text.size(), e);
      else
        longer_.add(hash_bytes(text), e);
    }
  }

  // Appends entries, and bytes for each character outside the alphabet.
  void encode(std::string_view text, Numbers& out) const {
    if (limit_ == entries_.texts.size()) return encode_words(text, out);
    Scratch<uint32_t, 5> tokens(0);
    tokens.values.clear();
    encode_words(text, tokens.values);
    phrases_.join(tokens.values, out);
  }
  // The same by level 1 alone. After a block of 64 bytes with many parts, or with few that are
  // tokens, it makes no cut for a while, longer each time: this is no text of words, and is encoded
  // faster as a whole.
  void encode_words(std::string_view text, Numbers& out) const {
    size_t start = 0;  // of the part
    const auto add = [&](size_t end) {
      const bool known = encode_part(text, start, end - start, out);
      start = end;
      return known;
    };
    for (size_t from = 1, whole = 0, pause = 16; from < text.size(); from += 64) {
      const size_t size = std::min<size_t>(64, text.size() - from);
      if (whole > 1) {
        --whole;
        continue;
      }
      uint64_t cuts = cuts_before(text.data() + from, size);
      if (whole == 1) cuts = std::bit_floor(cuts);
      int known = 0;
      for (uint64_t left = cuts; left; left &= left - 1)
        known += add(from + static_cast<size_t>(std::countr_zero(left)));
      const int parts = std::popcount(cuts);
      const bool words = known > 0 && parts <= 28 && (parts < 8 || 3 * known >= parts);
      if (whole == 1 || words) {
        if (words) pause = 16;
        whole = 0;
      } else {
        whole = pause;
        pause = std::min<size_t>(2 * pause, 512);
      }
      if (from % kPause < 64) breathe();
    }
    if (!text.empty()) add(text.size());
  }
  // Appends the tokens of level 1, joined by level 2.
  void join(const Numbers& tokens, Numbers& out) const { phrases_.join(tokens, out); }
  // Whether texts are cut between these two bytes.
  bool cuts(char before, char after) const {
    const char bytes[2] = {before, after};
    return cuts_[load<uint16_t>(bytes)];
  }

 private:
  // Cuts lie beside a byte of ASCII: never inside a character, and not between those outside the
  // alphabet, which are encoded faster together.
  void note_cuts() {
    cuts_.resize(1 << 16);
    for (size_t before = 0; before < 256; ++before)
      for (size_t after = 0; after < 256; ++after) {
        if (before >= 0x80 && after >= 0x80) continue;
        const char bytes[2] = {static_cast<char>(before), static_cast<char>(after)};
        cuts_[load<uint16_t>(bytes)] = !merges_.joins_across(bytes[0], bytes[1], limit_);
      }
  }

  // Of 9 bytes, between which there is no cut.
  static bool is_beyond_ascii(const char* bytes) {
    constexpr uint64_t kAll = 0x8080808080808080ull;
    return (load<uint64_t>(bytes) & load<uint64_t>(bytes + 1) & kAll) == kAll;
  }
  // A bit for each of up to 64 bytes: whether the text is cut before it. Without a branch to
  // mispredict, and in groups of 8, which the processor works on side by side.
  uint64_t cuts_before(const char* bytes, size_t count) const {
    uint64_t found = 0;
    const auto cut = [&](size_t i) { return uint64_t{cuts_[load<uint16_t>(bytes + i - 1)]}; };
    if (count < 64) {
      for (size_t i = 0; i < count; ++i) found |= cut(i) << i;
      return found;
    }
    for (size_t i = 0; i < 64; i += 8) {
      if (is_beyond_ascii(bytes + i - 1)) continue;
      uint64_t group = 0;
      for (size_t k = 0; k < 8; ++k) group |= cut(i + k) << k;
      found |= group << i;
    }
    return found;
  }

  // Whether it is one token.
  bool encode_part(std::string_view text, size_t start, size_t size, Numbers& out) const {
    const std::string_view part = text.substr(start, size);
    const char* readable = part.data();  // up to 16 bytes
    char room[ShortTexts::kLongest];
    if (size <= sizeof room && start + sizeof room > text.size()) {
      std::memset(room, 0, sizeof room);
      std::memcpy(room, readable, size);
      readable = room;
    }
    uint32_t found = FlatIndex::kNone;
    if (size <= sizeof room)
      found = short_.find(readable, size);
    else if (size <= longest_)
      found = longer_.find(hash_bytes(part),
                           [&](uint32_t e) { return same_text(entries_.texts[e], part); });
    if (found == FlatIndex::kNone) {
      encode_unknown(part, out);
      return false;
    }
    out.push_back(found);
    return true;
  }

  static constexpr size_t kPause = 1 << 16;

  // Parts that are no token, each with its encoding: what a thread met last.
  struct Memory {
    static constexpr size_t kSlots = 1 << 13;
    struct Slot {
      uint32_t owner = 0;  // the Levels
      uint8_t size = 0, count = 0;
      char text[18];
      uint32_t tokens[10];
    };
    std::vector<Slot> slots;
  };
  [[gnu::noinline]] void encode_unknown(std::string_view part, Numbers& out) const {
    using Slot = Memory::Slot;
    static thread_local Memory memory;
    if (part.size() > sizeof Slot::text) {
      merges_.encode_before(entries_, part, limit_, out);
      return;
    }
    if (memory.slots.empty()) memory.slots.resize(Memory::kSlots);
    Slot& slot = memory.slots[(hash_bytes(part) ^ id_) % Memory::kSlots];
    if (slot.owner == id_ && same_text({slot.text, slot.size}, part)) {
      out.insert(out.end(), slot.tokens, slot.tokens + slot.count);
      return;
    }
    std::array<uint32_t, sizeof Slot::text> tokens, ranks;
    const size_t chars = chars_of(part, tokens.data());
    const bool ascii = is_ascii(part);
    for (size_t i = 0; i + 1 < chars; ++i)
      ranks[i] = ascii ? pairs_[pair_of(part, i)] : joins_.joined(tokens[i], tokens[i + 1]);
    const size_t count = joins_.join_short(tokens.data(), ranks.data(), chars);
    out.insert(out.end(), tokens.begin(), tokens.begin() + count);
    if (count > std::size(slot.tokens)) return;
    slot.owner = id_;
    slot.size = static_cast<uint8_t>(part.size());
    slot.count = static_cast<uint8_t>(count);
    std::copy(part.begin(), part.end(), slot.text);
    std::copy(tokens.begin(), tokens.begin() + count, slot.tokens);
  }
  // The characters of a part as entries, or bytes for those outside the alphabet; how many.
  size_t chars_of(std::string_view part, uint32_t* tokens) const {
    size_t count = 0;
    for (size_t at = 0; at < part.size();) {
      const auto lead = static_cast<unsigned char>(part[at]);
      if (lead < 0x80) {
        tokens[count++] = ascii_[lead];
        ++at;
        continue;
      }
      char room[ShortTexts::kLongest]{};
      const size_t size = char_bytes(part[at]);
      std::memcpy(room, &part[at], size);
      const uint32_t found = short_.find(room, size);
      if (found != FlatIndex::kNone) tokens[count++] = found;
      for (size_t b = at; found == FlatIndex::kNone && b < at + size; ++b)
        tokens[count++] = Entries::of_byte(part[b]);
      at += size;
    }
    return count;
  }

  static bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
  }
  static size_t pair_of(std::string_view ascii, size_t at) {
    return static_cast<size_t>(ascii[at]) << 7 | static_cast<size_t>(ascii[at + 1]);
  }

  inline static std::atomic<uint32_t> made_{0};
  const uint32_t id_ = ++made_;
  const Entries& entries_;
  const Merges& merges_;
  uint32_t limit_;
  Joins joins_;                      // of level 1
  std::array<uint32_t, 128> ascii_;  // the entries of its characters, or bytes
  Numbers pairs_;                    // by two of them: the entry, or kNone
  Phrases phrases_;
  std::vector<uint8_t> cuts_;  // by two bytes as one number
  // The reachable entries of level 1: each encodes to itself.
  ShortTexts short_;
  FlatIndex longer_;
  size_t longest_ = 0;
};

}  // namespace supratok
