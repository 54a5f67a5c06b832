// The fewest rule: the fewest tokens; among equals the one whose last token is longest, for every
// prefix of the text. In linear time.
//
// A text is cut wherever no entry that occurs in it crosses: every encoding has an end there. In
// most texts this leaves stretches of one to three tokens. In a stretch the places are found that
// one token reaches, then those that two reach, and so on, until one is its end.
#pragma once

#include "matches.hpp"

namespace supratok {

class Fewest {
 public:
  explicit Fewest(const Entries& entries) : pairs_(Matches::pairs_of(entries.trie)) {
    std::vector<bool> alphabet(kCodePoints);
    for (const std::string& text : entries.texts) {
      while (ring_ <= text.size()) ring_ *= 2;
      short_ = short_ && text.size() <= Matches::kLongest;
      if (is_char(text)) alphabet[decode_char(text.data())] = true;  // these come first
      each_char(text, [&](uint32_t code) { complete_ = complete_ && alphabet[code]; });
    }
  }

  // Returns the number of tokens; appends them, if asked to `emit` them: entries, and bytes
  // for each character outside the alphabet.
  size_t encode(const Entries& entries, std::string_view text, bool emit, Numbers& out) const {
    const size_t start = out.size();
    const size_t total = complete_ && short_ ? encode_blocks(entries, text, emit, out)
                                             : encode_all(entries, text, emit, out);
    for (size_t i = start; i < out.size(); ++i)
      if (!Entries::is_byte(out[i])) out[i] = entries.trie.longest_at(out[i]);
    return total;
  }

  // By entry, the fewest other entries and bytes that its text can be written with.
  static Numbers parts_without(const Entries& entries) {
    Numbers all, fewest;
    for (uint32_t e = 0; e < entries.texts.size(); ++e) {
      breathe(e);
      const std::string& text = entries.texts[e];
      fewest.assign(text.size() + 1, kNone);
      fewest[0] = 0;
      for (size_t at = 0; at < text.size(); ++at) {
        if (!leads_char(text[at])) continue;
        const size_t next = at + char_bytes(text[at]);
        fewest[next] = std::min<uint32_t>(fewest[next], fewest[at] + (next - at));
        uint32_t node = Trie::kRoot;
        for (size_t to = at; to < text.size();) {
          if (!entries.trie.step(node, static_cast<unsigned char>(text[to++]))) break;
          if (entries.trie.ends_at(node) && entries.trie.longest_at(node) != e)
            fewest[to] = std::min(fewest[to], fewest[at] + 1);
        }
      }
      all.push_back(fewest.back());
    }
    return all;
  }

 private:
  static constexpr uint32_t kNone = Entries::kNone;

  static constexpr size_t kPlaces = Matches::kPlaces;
  static constexpr size_t kShort = 64;  // the places of a smaller stretch are the bits of a number

  // Appends the nodes of the tokens, and bytes.
  size_t encode_blocks(const Entries& entries, std::string_view text, bool emit,
                       Numbers& out) const {
    Matches matches(entries.trie, pairs_);
    std::array<uint16_t, kPlaces> cuts;
    size_t total = 0;
    for (size_t at = 0, done; at < text.size(); at += done) {
      const size_t count = matches.find(text.substr(at)), some = find_cuts(matches, count, cuts);
      if (!some) {
        done = encode_any(entries, text.substr(at), emit, total, out);
        continue;
      }
      uint32_t* to = emit ? room(out, count) : nullptr;
      done = 0;
      for (size_t c = 0; c < some; ++c) {
        const size_t size = cuts[c] - done;
        if (size >= kShort) {
          if (emit) out.resize(static_cast<size_t>(to - out.data()));
          encode_any(entries, text.substr(at + done, size), emit, total, out);
          done = cuts[c];
          if (emit) to = room(out, count - done);
          continue;
        }
        const uint64_t mask = matches.masks()[done];
        size_t tokens;
        if (mask >> (size - 1) & 1) {  // one token
          tokens = 1;
          if (to) *to = matches.node(done, size);
        } else if (mask) {
          tokens = encode_short(matches, done, size, to);
        } else {  // a character outside the alphabet
          tokens = size;
          for (size_t b = 0; to && b < size; ++b) to[b] = Entries::of_byte(text[at + done + b]);
        }
        total += tokens;
        if (to) to += tokens;
        done = cuts[c];
      }
      if (emit) out.resize(static_cast<size_t>(to - out.data()));
      breathe();
    }
    return total;
  }

  size_t encode_all(const Entries& entries, std::string_view text, bool emit, Numbers& out) const {
    size_t total = 0;
    for (size_t at = 0; at < text.size();)
      at += encode_any(entries, text.substr(at), emit, total, out);
    return total;
  }

  static uint32_t* room(Numbers& out, size_t count) {
    out.resize(out.size() + count);
    return out.data() + out.size() - count;
  }

  // The places behind those of a block where no token crosses.
  static size_t find_cuts(const Matches& matches, size_t count,
                          std::array<uint16_t, kPlaces>& cuts) {
    size_t some = 0;
    uint64_t ahead = 0;  // ends of the tokens that began before a place, from that place on
    for (size_t i = 0; i < count; ++i) {
      ahead = ahead >> 1 | matches.masks()[i] | kOwn[matches.byte(i)];
      cuts[some] = static_cast<uint16_t>(i + 1);
      some += ahead <= 1;
    }
    return some;
  }
  // By byte: a character that it leads, as a mask. No cut is inside one.
  static constexpr auto kOwn = [] {
    std::array<uint8_t, 256> own{};
    for (size_t b = 0; b < 256; ++b)
      own[b] = b < 0x80 ? 1 : b < 0xc0 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 4 : 8;
    return own;
  }();

  // A short stretch that is more than one token. The places that k tokens reach, and not fewer, are
  // levels[k]; of those before a token's end, the first where a token begins that ends there has
  // the longest one.
  static size_t encode_short(const Matches& matches, size_t from, size_t size, uint32_t* out) {
    const uint64_t* const masks = matches.masks() + from;
    std::array<uint64_t, kShort> levels;
    uint64_t reached = masks[0] << 1 | 1;
    levels[0] = 1;
    levels[1] = masks[0] << 1;
    size_t level = 1;
    do {
      uint64_t next = 0;
      for (uint64_t places = levels[level]; places; places &= places - 1) {
        const int place = std::countr_zero(places);
        next |= masks[place] << place << 1;
      }
      levels[++level] = next & ~reached;
      reached |= next;
    } while (!(reached >> size & 1));
    if (!out) return level;
    for (size_t to = size, k = level; k-- > 0;) {
      uint64_t places = levels[k];
      while (!(masks[std::countr_zero(places)] << std::countr_zero(places) >> (to - 1) & 1))
        places &= places - 1;
      const size_t place = static_cast<size_t>(std::countr_zero(places));
      out[k] = matches.node(from + place, to - place);
      to = place;
    }
    return level;
  }

  // Encodes up to a place that no token crosses, not much beyond kPause bytes if there is one, and
  // returns it. For any entries: of any size, with characters outside the alphabet.
  size_t encode_any(const Entries& entries, std::string_view text, bool emit, size_t& total,
                    Numbers& out) const {
    const Trie& trie = entries.trie;
    Scratch<uint32_t, 4> scratch(std::min(text.size(), 2 * kPause) + 1);
    std::vector<uint32_t>& last = scratch.values;
    size_t end = 0;
    const size_t count =
        complete_ ? search<true>(trie, text, last, end) : search<false>(trie, text, last, end);
    total += count;
    if (!emit) return end;
    const bool small = ring_ <= 256;  // no entry is larger than 255 bytes
    uint32_t* slot = room(out, count) + count;
    for (size_t to = end; to > 0;) {
      if (last[to] != Trie::kRoot) {
        *--slot = last[to] >> 8;
        // With the size beside the node, the next token need not wait for this one.
        to -= small ? last[to] & 0xff : entries.sizes[trie.longest_at(*slot)];
        continue;
      }
      do *--slot = Entries::of_byte(text[--to]);
      while (!leads_char(text[to]));
    }
    return end;
  }

  // The fewest tokens up to a place are needed only as far ahead as the longest entry reaches: a
  // small ring of counts. The last of those tokens is kept for every place, as its node << 8 | its
  // size. Branch-free where prediction would fail: whether an entry ends at a byte, and is better.
  template <bool kComplete>
  [[gnu::noinline]] size_t search(const Trie& trie, std::string_view text,
                                  std::vector<uint32_t>& lasts, size_t& end) const {
    const size_t mask = ring_ - 1;
    Scratch<uint32_t, 0> counts(ring_);
    uint32_t* const best = counts.values.data();
    std::fill_n(best, ring_, kNone);
    best[0] = 0;
    for (size_t at = 0, pause = kPause; at < text.size();) {
      size_t stop = std::min(pause, text.size());
      if (at >= pause) {  // now and then, look for a place that no token crosses
        const auto others = std::count(best, best + ring_, kNone);
        if (best[at & mask] != kNone && others == static_cast<ptrdiff_t>(ring_) - 1) {
          end = at;
          return best[at & mask];
        }
        stop = at + 1;
        if (at >= pause + kTries) breathe(), pause += kPause;
      }
      if (lasts.size() <= stop + ring_)
        lasts.resize(std::max(2 * stop, std::min(text.size(), kMuch)) + 2 * ring_);
      for (uint32_t* const last = lasts.data(); at < stop; ++at) {
        const uint32_t count = std::exchange(best[at & mask], kNone);
        if (count == kNone) continue;  // inside a character
        bool found = false;
        uint32_t node = Trie::kRoot;
        for (size_t to = at; to < text.size();) {
          if (!trie.step(node, static_cast<unsigned char>(text[to++]))) break;
          const bool ends = trie.ends_at(node);
          found |= kComplete ? ends : ends && to == at + char_bytes(text[at]);
          // Starts come in order, so of equals the longest last token stays.
          uint32_t& old = best[to & mask];
          const bool better = ends & (count + 1 < old);
          old = better ? count + 1 : old;
          last[to] = better ? node << 8 | static_cast<uint32_t>(to - at) % 256 : last[to];
        }
        if (found) continue;
        // A character outside the alphabet: its bytes.
        const size_t next = at + char_bytes(text[at]);
        const uint32_t all = count + static_cast<uint32_t>(next - at);
        if (!kComplete && best[next & mask] <= all) continue;  // an entry ends there
        best[next & mask] = all;
        last[next] = Trie::kRoot;
      }
    }
    end = text.size();
    return best[text.size() & mask];
  }

  static constexpr size_t kPause = 1 << 14, kTries = 32;
  static constexpr size_t kMuch = 1 << 20;  // places that get memory at once
  size_t ring_ = 8;                         // a power of two above the size of the longest entry
  bool complete_ = true;                    // all characters of the entries are in the alphabet
  bool short_ = true;                       // no entry is too long for a mask
  std::vector<uint32_t> pairs_;
};

}  // namespace supratok
