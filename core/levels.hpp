// The merges rule over a store, in two levels: words are encoded once a block, and then only the
// tokens that cross words are looked for.
//
// Level 1 is all entries that rank before some `limit`, level 2 the others. The rule joins the
// lowest rank first, so it makes all joins of level 1 before any of level 2. After one of level 2
// none of level 1 can follow: it needs two neighbours of level 1 (an entry ranks after its parts),
// and these were neighbours before. So encoding with level 1 and then joining with level 2 is the
// rule itself, for any limit. The limit is the first entry of several words, for speed alone.
//
// A join of level 1 across a border between two words makes a token in which the last character of
// the one and the first of the other are neighbours. Where no entry of level 1 has these neighbours
// the sides are encoded as if alone. Words with any other border between them are encoded together.
//
// A join of level 2 likewise never crosses a border between two tokens of level 1 that are
// neighbours in no entry of level 2. Between such borders lie rows, mostly short.
#pragma once

#include <queue>

#include "encode.hpp"
#include "store.hpp"

namespace supratok {

class Levels {
 public:
  static constexpr uint32_t kNone = Encoder::kNone;

  // For an encoder by merges without ties, over words cut in this way.
  Levels(const Encoder& encoder, bool by_class) : encoder_(encoder) {
    const auto size = static_cast<uint32_t>(encoder.size());
    while (limit_ < size && is_one_word(encoder.text_of(limit_), by_class)) ++limit_;
    inside_.resize(1 << 16);
    for (uint32_t e = 0; e < limit_; ++e)
      if (encoder.parts(e)) note_inside(encoder.text_of(e));
    std::vector<Numbers> expanded(size);  // level 2 in level 1
    size_t total = 1;
    for (uint32_t e = limit_; e < size; ++e) {
      breathe(e);
      if (const auto parts = encoder.parts(e)) {
        for (const uint32_t part : {parts->first, parts->second})
          if (part < limit_)
            expanded[e].push_back(part);
          else
            expanded[e].insert(expanded[e].end(), expanded[part].begin(), expanded[part].end());
        total += expanded[e].size();
      }
    }
    slots_.resize(std::bit_ceil(total * 2));
    for (uint32_t e = limit_; e < size; ++e) {
      if (const auto parts = encoder.parts(e)) slot(parts->first, parts->second).entry = e;
      for (size_t i = 0; i + 1 < expanded[e].size(); ++i) slot(expanded[e][i], expanded[e][i + 1]);
    }
  }

  // The words of a block, each encoded once.
  class Words {
   public:
    Words(const Levels& levels, const Block& block) : levels_(levels), block_(block) {
      starts_.reserve(block.words.size() + 1);
      borders_.reserve(block.words.size());
      for (std::string_view text : block.words) {
        breathe(starts_.size());
        starts_.push_back(static_cast<uint32_t>(tokens_.size()));
        levels.encoder_.encode_before(text, levels.limit_, tokens_);
        const uint32_t first = decode_char(text.data());
        const auto lead = static_cast<unsigned char>(text[0]);
        const auto end = static_cast<unsigned char>(text.back());
        borders_.push_back({first, take_last_char(text), lead, end});
      }
      starts_.push_back(static_cast<uint32_t>(tokens_.size()));
    }

    // Appends the entries of a document; kNone is a byte.
    void encode(const Numbers& words, Numbers& out) {
      const size_t start = out.size();
      for (size_t i = 0; i < words.size();) {
        size_t end = i + 1;
        while (end < words.size() &&
               levels_.may_join(borders_[words[end - 1]], borders_[words[end]]))
          ++end;
        if (end == i + 1) {
          out.insert(out.end(), tokens_.begin() + starts_[words[i]],
                     tokens_.begin() + starts_[words[i] + 1]);
        } else {
          text_.clear();
          for (size_t w = i; w < end; ++w) text_ += block_.words[words[w]];
          levels_.encoder_.encode_before(text_, levels_.limit_, out);
        }
        i = end;
      }
      levels_.join(out, start);
    }

   private:
    friend class Levels;
    struct Border {
      uint32_t first, last;     // characters
      unsigned char lead, end;  // bytes
    };
    const Levels& levels_;
    const Block& block_;
    Numbers tokens_;  // of all words, end to end
    Numbers starts_;  // of each word
    std::vector<Border> borders_;
    std::string text_;
  };

 private:
  struct Slot {
    uint64_t key = ~uint64_t{0};
    uint32_t entry = kNone;  // that the two tokens make, or they are only neighbours inside one
  };

  static bool is_one_word(std::string_view text, bool by_class) {
    Word word{};
    WordReader(text, by_class).next(word);
    return word.text.size() == text.size();
  }
  void note_inside(std::string_view text) {
    for (size_t i = 0, next; (next = i + char_bytes(text[i])) < text.size(); i = next) {
      inside_[bytes_key(text[next - 1], text[next])] = true;
      pairs_.add(FlatCounts::pair(decode_char(&text[i]), decode_char(&text[next])), 1);
    }
  }
  static size_t bytes_key(unsigned char end, unsigned char lead) { return size_t{end} << 8 | lead; }
  bool may_join(const Words::Border& left, const Words::Border& right) const {
    return inside_[bytes_key(left.end, right.lead)] &&
           pairs_.find(FlatCounts::pair(left.last, right.first)) != FlatIndex::kNone;
  }

  size_t place(uint64_t key) const {
    key *= 0x9e3779b97f4a7c15ull;
    return (key ^ key >> 32) & (slots_.size() - 1);
  }
  Slot& slot(uint32_t left, uint32_t right) {
    const uint64_t key = FlatCounts::pair(left, right);
    size_t i = place(key);
    while (slots_[i].key != key && slots_[i].key != ~uint64_t{0}) i = (i + 1) & (slots_.size() - 1);
    slots_[i].key = key;
    return slots_[i];
  }
  // Its slot, or nullptr.
  const Slot* find(uint32_t left, uint32_t right) const {
    const uint64_t key = FlatCounts::pair(left, right);
    for (size_t i = place(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i];
      if (slots_[i].key == ~uint64_t{0}) return nullptr;
    }
  }
  uint32_t joined(uint32_t left, uint32_t right) const {
    const Slot* found = find(left, right);
    return found ? found->entry : kNone;
  }

  // Joins the tokens from `start` on with the entries of level 2. A byte (kNone) is in no entry, so
  // it ends a row.
  void join(Numbers& tokens, size_t start) const {
    constexpr size_t kAhead = 12;
    Row row;
    size_t to = start;
    const auto close = [&](size_t end) {
      if (row.ranks.empty()) {
        tokens[to++] = tokens[end - 1];
        return;
      }
      row.tokens.assign(tokens.begin() + static_cast<ptrdiff_t>(end - row.ranks.size() - 1),
                        tokens.begin() + static_cast<ptrdiff_t>(end));
      row.ranks.size() < 48 ? join_short(row) : join_long(row);
      for (const uint32_t token : row.tokens) tokens[to++] = token;
      row.ranks.clear();
    };
    for (size_t i = start; i < tokens.size(); ++i) {
      if (i + kAhead + 1 < tokens.size())
        __builtin_prefetch(
            &slots_[place(FlatCounts::pair(tokens[i + kAhead], tokens[i + kAhead + 1]))]);
      const Slot* found = i + 1 < tokens.size() ? find(tokens[i], tokens[i + 1]) : nullptr;
      if (found)
        row.ranks.push_back(found->entry);
      else
        close(i + 1);
    }
    tokens.resize(to);
  }

  struct Row {
    Numbers tokens;
    Numbers ranks;  // of joining each token and the next; kNone: they do not
  };
  void join_short(Row& row) const {
    auto& [tokens, ranks] = row;
    while (!ranks.empty()) {
      const auto lowest = std::min_element(ranks.begin(), ranks.end());
      if (*lowest == kNone) return;
      const auto i = lowest - ranks.begin();
      tokens[static_cast<size_t>(i)] = *lowest;
      tokens.erase(tokens.begin() + i + 1);
      ranks.erase(lowest);
      rank(row, static_cast<size_t>(i));
    }
  }
  // After a join at `i`: the ranks on both sides.
  void rank(Row& row, size_t i) const {
    if (i > 0) row.ranks[i - 1] = joined(row.tokens[i - 1], row.tokens[i]);
    if (i < row.ranks.size()) row.ranks[i] = joined(row.tokens[i], row.tokens[i + 1]);
  }

  // With a heap of joins, some of which are out of date when they come up.
  void join_long(Row& row) const {
    using Join = std::pair<uint32_t, uint32_t>;  // its rank, and the place of its left token
    std::priority_queue<Join, std::vector<Join>, std::greater<>> joins;
    auto& [tokens, ranks] = row;
    const auto size = static_cast<uint32_t>(tokens.size());
    Numbers next(size), before(size);
    std::iota(next.begin(), next.end(), 1);
    std::iota(before.begin(), before.end(), ~uint32_t{0});
    ranks.push_back(kNone);
    for (uint32_t i = 0; i < size; ++i)
      if (ranks[i] != kNone) joins.emplace(ranks[i], i);
    const auto update = [&](uint32_t i) {
      ranks[i] = next[i] < size ? joined(tokens[i], tokens[next[i]]) : kNone;
      if (ranks[i] != kNone) joins.emplace(ranks[i], i);
    };
    for (size_t step = 0; !joins.empty(); breathe(++step)) {
      const auto [entry, i] = joins.top();
      joins.pop();
      if (ranks[i] != entry) continue;
      tokens[i] = entry;
      ranks[next[i]] = kNone;  // it is gone
      next[i] = next[next[i]];
      if (next[i] < size) before[next[i]] = i;
      update(i);
      if (i > 0) update(before[i]);
    }
    size_t to = 0;
    for (uint32_t i = 0; i < size; i = next[i]) tokens[to++] = tokens[i];
    tokens.resize(to);
  }

  const Encoder& encoder_;
  uint32_t limit_ = 0;
  std::vector<bool>
      inside_;               // by last byte of a word and first of the next: in an entry of level 1
  FlatCounts pairs_;         // the same by character
  LargeVector<Slot> slots_;  // pairs of tokens, of level 2
};

}  // namespace supratok
