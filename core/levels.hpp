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

 private:
  // What is known of a word: the token that it is; or several, their number first.
  struct Known {
    uint32_t token = kNone;
    unsigned char lead = 0, end = 0;  // its first and last byte
    const uint32_t* tokens = nullptr;
  };

 public:
  // For an encoder by merges without ties, over words cut in this way.
  Levels(const Encoder& encoder, bool by_class) : encoder_(encoder) {
    const auto size = static_cast<uint32_t>(encoder.size());
    while (limit_ < size && is_one_word(encoder.text_of(limit_), by_class)) ++limit_;
    inside_.resize(1 << 16);
    for (uint32_t e = 0; e < limit_; breathe(++e)) {
      if (encoder.states()[e] != kReachable) continue;
      whole_.add(hash_bytes(encoder.text_of(e)), e);
      note_inside(encoder.text_of(e));
    }
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

  // Encodes the words of a lexicon, for the blocks that have its numbers.
  void prepare(const Lexicon& lexicon, size_t threads) {
    if (lexicon_ == lexicon.id) return;
    std::vector<Known> numbered(lexicon.end());
    std::vector<Numbers> tokens(Lexicon::kParts);
    const auto work = [&](size_t p) {
      std::vector<std::pair<uint32_t, size_t>> several;
      lexicon.each(p, [&](uint32_t number, std::string_view text) {
        const size_t start = tokens[p].size();
        numbered[number] = look_up(text, tokens[p]);
        if (numbered[number].token == kNone) several.emplace_back(number, start);
      });
      for (const auto& [number, start] : several) numbered[number].tokens = &tokens[p][start];
    };
    in_parallel(Lexicon::kParts, threads, work, [] {});
    numbered_ = std::move(numbered);
    numbered_tokens_ = std::move(tokens);
    lexicon_ = lexicon.id;
  }

  // The words of a block, each encoded once.
  class Words {
   public:
    Words(const Levels& levels, const Block& block)
        : levels_(levels), block_(block), words_(block.words.size()) {
      const std::vector<Known>& numbered = levels.numbered_;
      std::vector<std::pair<size_t, size_t>> several;  // words, and where their tokens are
      for (size_t i = 0; i < words_.size(); breathe(++i)) {
        if (block.numbers && block.numbers[i] < numbered.size()) {
          if (i + kAhead < words_.size() && block.numbers[i + kAhead] < numbered.size())
            __builtin_prefetch(&numbered[block.numbers[i + kAhead]]);
          words_[i] = numbered[block.numbers[i]];
          continue;
        }
        const size_t start = tokens_.size();
        words_[i] = levels.look_up(block.words[i], tokens_);
        if (words_[i].token == kNone) several.emplace_back(i, start);
      }
      for (const auto& [word, start] : several) words_[word].tokens = &tokens_[start];
    }

    // Appends the entries of a document; kNone is a byte.
    void encode(const Numbers& words, Numbers& out) {
      const size_t start = out.size();
      for (size_t i = 0, end; i < words.size(); i = end) {
        for (end = i + 1; end < words.size() && may_join(words[end - 1], words[end]);) ++end;
        const Known& word = words_[words[i]];
        if (end > i + 1) {
          text_.clear();
          for (size_t w = i; w < end; ++w) text_ += block_.words[words[w]];
          levels_.encoder_.encode_before(text_, levels_.limit_, out);
        } else if (word.token != kNone) {
          out.push_back(word.token);
        } else {
          for (uint32_t t = 1; t <= word.tokens[0]; ++t) out.push_back(word.tokens[t]);
        }
      }
      levels_.join(out, start);
    }

   private:
    // Whether a token of level 1 may cross the border between two words.
    bool may_join(uint32_t left, uint32_t right) const {
      if (!levels_.inside_[bytes_key(words_[left].end, words_[right].lead)]) return false;
      std::string_view text = block_.words[left];
      const uint32_t first = decode_char(block_.words[right].data());
      return levels_.pairs_.find(FlatCounts::pair(take_last_char(text), first)) != FlatIndex::kNone;
    }

    const Levels& levels_;
    const Block& block_;
    std::vector<Known> words_;
    Numbers tokens_;
    std::string text_;
  };

 private:
  // `tokens` receives the tokens of a word that has several, and before them their number.
  Known look_up(std::string_view text, Numbers& tokens) const {
    const uint32_t whole = whole_.find(
        hash_bytes(text), [&](uint32_t e) { return same_text(encoder_.text_of(e), text); });
    const Known found{whole == FlatIndex::kNone ? kNone : whole,
                      static_cast<unsigned char>(text[0]), static_cast<unsigned char>(text.back())};
    if (found.token != kNone) return found;
    const size_t start = tokens.size();
    tokens.push_back(0);
    encoder_.encode_before(text, limit_, tokens);
    tokens[start] = static_cast<uint32_t>(tokens.size() - start - 1);
    return found;
  }

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
    Row row;
    size_t to = start, from = start;  // of the row
    const auto close = [&](size_t end) {
      if (end == from + 1) {
        tokens[to++] = tokens[from];
      } else if (end == from + 2) {
        if (row.ranks[0] != kNone) {
          tokens[to++] = row.ranks[0];
        } else {
          const uint32_t last = tokens[from + 1];
          tokens[to++] = tokens[from];
          tokens[to++] = last;
        }
      } else {
        row.tokens.assign(tokens.begin() + static_cast<ptrdiff_t>(from),
                          tokens.begin() + static_cast<ptrdiff_t>(end));
        end - from < 48 ? join_short(row) : join_long(row);
        for (const uint32_t token : row.tokens) tokens[to++] = token;
      }
      row.ranks.clear();
      from = end;
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

  static constexpr size_t kAhead = 12;
  const Encoder& encoder_;
  uint32_t limit_ = 0;
  FlatIndex whole_;           // the entries of level 1: each encodes to itself
  std::vector<bool> inside_;  // by two bytes: the end and the lead of characters in such an entry
  FlatCounts pairs_;          // the same by character
  LargeVector<Slot> slots_;   // pairs of tokens, of level 2
  uint64_t lexicon_ = 0;      // of `numbered_`
  std::vector<Known> numbered_;
  std::vector<Numbers> numbered_tokens_;
};

}  // namespace supratok
