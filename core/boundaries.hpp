// What may come behind a text or behind some ids, exactly.
//
// A text ends; what follows is unknown. Each continuation is encoded together with the text, and in
// that encoding one token crosses the end of the text, or none does:
//   - none: then the encoding begins with that of the text;
//   - one: it begins with an end of the text, its `rest`, and is longer. Before it is the encoding
//     of the text before the rest (last_tokens.hpp).
// These are the covers of the text. The ends of a text that a longer entry begins with are those of
// its state (suffixes.hpp), so covers are few. A cover counts if some entry may be the one that
// crosses: then the text up to the end of that entry is a continuation.
//
// Which entries may follow the encoding of some text? Under merges those that may be neighbours of
// its last token. Under fewest the table of last tokens goes on over each entry.
//
// A pair of bytes that are neighbours in no entry is a border of every encoding. What is before the
// last one has nothing to say about what follows.
#pragma once

#include "followers.hpp"
#include "last_tokens.hpp"
#include "outside.hpp"

namespace supratok {

class Boundaries {
 public:
  static constexpr uint32_t kNone = Entries::kNone;

  // Special tokens end one text and begin another. Unused ids are in no encoding. It keeps the
  // reference.
  Boundaries(const Encoder& encoder, Numbers special, const Numbers& unused)
      : encoder_(encoder), entries_(encoder.entries()), special_(std::move(special)),
        suffixes_(entries_, [&](uint32_t e) { return occurs(e); }),
        outside_(entries_, [&](uint32_t e) { return occurs(e); }) {
    kinds_.resize(encoder.end_id());
    const auto note = [&](const Numbers& ids, Kind kind) {
      for (const uint32_t id : ids) {
        if (id >= kinds_.size()) kinds_.resize(id + 1);
        kinds_[id] = kind;
      }
    };
    note(special_, kSpecial);
    note(unused, kUnused);
    if (!encoder.by_fewest() && !encoder.merges().ties()) followers_.emplace(encoder.merges());
    anything_.resize(kinds_.size());
    for (const uint32_t e : suffixes_.order()) anything_[encoder.id_of(256 + e)] = 1;
    LastTokens nothing(encoder, suffixes_);
    note_leads(nothing, anything_);
    encoder.by_fewest() ? suffixes_.note_longest() : note_last_tokens();
  }
  Boundaries(const Boundaries&) = delete;

  const Encoder& encoder() const { return encoder_; }
  const Suffixes& suffixes() const { return suffixes_; }
  // Whether no entry crosses the border between two bytes.
  bool is_border(char before, char after) const {
    return encoder_.borders().between(before, after);
  }

  struct Cover {
    Numbers ids;
    size_t end;  // of their text, in bytes
  };
  // By growing rest.
  std::vector<Cover> covers(std::string_view text) const {
    End end(*this, text);
    std::vector<Cover> all;
    for (const size_t place : places_of_covers(end.table)) {
      all.push_back({end.head, end.border + place});
      end.table.ids(place, all.back().ids);
    }
    return all;
  }
  // The ids that all covers begin with.
  Cover stable(std::string_view text) const {
    End end(*this, text);
    size_t place = end.table.size();
    for (const size_t other : places_of_covers(end.table)) place = end.table.meet(place, other);
    Cover found{std::move(end.head), end.border + place};
    end.table.ids(place, found.ids);
    return found;
  }

  // The ids that may follow these, if they begin with `rest` and are longer.
  Numbers may_come(std::span<const uint32_t> ids, std::string_view rest) const {
    if (canonical_prefix(ids) < ids.size())
      throw std::invalid_argument("the ids of a cover are an encoding, and these are none");
    Line line(*this, ids);
    LastTokens& table = line.table();
    Numbers found;
    if (rest.empty()) {
      const std::vector<uint8_t> mask = mask_behind(table);
      for (uint32_t id = 0; id < mask.size(); ++id)
        if (mask[id]) found.push_back(id);
      return found;
    }
    const size_t from = table.size();
    table.add(rest);
    each_follower(table, from, [&](uint32_t e) {
      found.push_back(encoder_.id_of(256 + e));
      return true;
    });
    std::sort(found.begin(), found.end());
    return found;
  }

  // The length of the longest beginning of the ids that is an encoding.
  size_t canonical_prefix(std::span<const uint32_t> ids) const {
    check(ids);
    Line line(*this);
    size_t good = 0;
    for (size_t i = 0; i < ids.size(); breathe(i)) {
      if (!line.take(ids[i++])) break;
      if (line.open().empty()) good = i;
    }
    return good;
  }
  // Whether `left` and each of these ids are an encoding.
  std::vector<uint8_t> may_follow(uint32_t left, std::span<const uint32_t> rights) const {
    check({&left, 1});
    check(rights);
    std::vector<uint8_t> may;
    may.reserve(rights.size());
    Line line(*this);
    for (const uint32_t right : rights) {
      line.begin();
      may.push_back(line.take(left) && line.take(right) && line.open().empty());
      breathe(may.size());
    }
    return may;
  }
  // By id, whether it may come next: special tokens always may.
  std::vector<uint8_t> next_mask(std::span<const uint32_t> ids) const {
    check(ids);
    Line line(*this, ids);
    std::vector<uint8_t> mask;
    if (const std::string& open = line.open(); open.empty()) {
      mask = mask_behind(line.table());
    } else {
      mask.resize(kinds_.size());
      for (int b = 0x80; b < 0xc0; ++b)
        mask[id_of_byte(b)] = may_be_outside(line.table(), open + static_cast<char>(b));
    }
    for (const uint32_t id : special_) mask[id] = 1;
    return mask;
  }

 private:
  enum Kind : uint8_t { kUnknown, kSpecial, kUnused };

  // The ids up to the last border in a text, and a table of the text behind it.
  struct End {
    End(const Boundaries& of, std::string_view text)
        : border(text.empty() ? 0 : text.size() - 1), table(of.encoder_, of.suffixes_) {
      while (border && !of.is_border(text[border - 1], text[border])) --border;
      of.encoder_.encode(text.substr(0, border), head);
      table.add(text.substr(border));
    }
    size_t border;
    Numbers head;
    LastTokens table;
  };

  // Ids that come one after the other, read as an encoding.
  class Line {
   public:
    explicit Line(const Boundaries& of) : of_(of), table_(of.encoder_, of.suffixes_) {}
    // Behind some ids, of which it reads no more than it must.
    Line(const Boundaries& of, std::span<const uint32_t> ids) : Line(of) {
      size_t from = ids.size();
      while (from && !of.may_begin(ids, from - 1)) --from;
      if (from) --from;
      for (const uint32_t id : ids.subspan(from)) take(id);
    }

    // Whether the id may come here, so that the ids are an encoding or, with more bytes, become
    // one. If not, it begins a text of its own.
    bool take(uint32_t id) {
      const uint32_t place = of_.encoder_.place_of(id);
      if (place < 256) return take_byte(static_cast<char>(place));
      const bool whole = open_.empty();
      if (!whole) begin();
      if (place < 256 + of_.encoder_.size() && of_.occurs(place - 256))
        return take_entry(place - 256) && whole;
      begin();
      return whole && of_.kinds_[id] == kSpecial;
    }
    void begin() {
      left_ = kNone;
      table_.shorten(0);
      open_.clear();
    }
    // The bytes of a character that is not whole.
    const std::string& open() const { return open_; }
    // Of a text whose end decides what may follow.
    LastTokens& table() {
      if (left_ != kNone) {
        table_.shorten(0);
        table_.add(of_.entries_.texts[left_]);
      }
      return table_;
    }

   private:
    bool take_entry(uint32_t e) {
      const std::string& text = of_.entries_.texts[e];
      if (!of_.encoder_.by_fewest()) {
        const uint32_t left = std::exchange(left_, e);
        return left == kNone || of_.encoder_.merges().may_be_neighbours(
                                    left, e, of_.entries_.texts[left].back(), text[0]);
      }
      if (table_.size() && of_.is_border(table_.last_byte(table_.size()), text[0]))
        table_.shorten(0);
      table_.add(text);
      if (table_.token(table_.size()) == e) return true;
      table_.shorten(0);
      table_.add(text);
      return false;
    }
    bool take_byte(char byte) {
      open_ += byte;
      if (!of_.may_be_outside(table_, open_)) {
        begin();
        open_ += byte;
        if (!of_.may_be_outside(table_, open_)) open_.clear();
        return false;
      }
      if (open_.size() < char_bytes(open_[0])) return true;
      left_ = kNone;
      if (of_.encoder_.by_fewest()) table_.add(open_);
      open_.clear();
      return true;
    }

    const Boundaries& of_;
    uint32_t left_ = kNone;  // by merges: the entry before
    LastTokens table_;       // by fewest: of the text since a border
    std::string open_;
  };

  bool occurs(uint32_t entry) const { return encoder_.states()[entry] == kReachable; }
  uint32_t id_of_byte(int byte) const { return encoder_.id_of(static_cast<uint32_t>(byte)); }
  void check(std::span<const uint32_t> ids) const {
    for (const uint32_t id : ids)
      if (!encoder_.knows(id) && (id >= kinds_.size() || kinds_[id] == kUnknown))
        throw std::out_of_range("no token has the id " + std::to_string(id));
  }

  // Whether what is before an id says nothing about what may follow it and the ids behind it.
  bool may_begin(std::span<const uint32_t> ids, size_t at) const {
    const uint32_t place = encoder_.place_of(ids[at]);
    if (place >= 256 + encoder_.size()) return true;
    const std::string_view bytes = encoder_.bytes_of(ids[at]);
    if (!leads_char(bytes[0])) return false;
    if (!encoder_.by_fewest() || at == 0) return true;
    return place >= 256 && encoder_.knows(ids[at - 1]) &&
           is_border(encoder_.bytes_of(ids[at - 1]).back(), bytes[0]);
  }

  // Behind the text of a table, whether a character that begins with these bytes is written in
  // bytes, as they are.
  bool may_be_outside(LastTokens& table, std::string_view bytes) const {
    return outside_.begins_with(bytes, [&](const std::string& character) {
      const size_t size = table.size();
      table.add(character);
      const bool in_bytes = Entries::is_byte(table.token(table.size()));
      table.shorten(size);
      return in_bytes;
    });
  }
  // By id, whether it may follow the text of a table: a byte if it begins a character.
  std::vector<uint8_t> mask_behind(LastTokens& table) const {
    std::vector<uint8_t> mask = anything_;
    const size_t end = table.size();
    const auto exclude = [&](uint32_t e) { mask[encoder_.id_of(256 + e)] = 0; };
    if (encoder_.by_fewest()) {
      each_excluded(table, exclude);
    } else if (end && !Entries::is_byte(table.token(end))) {
      const uint32_t left = table.token(end);
      if (followers_) {
        followers_->each_excluded(left, exclude);
      } else {
        for (const uint32_t e : suffixes_.order())
          if (!may_be_neighbours(left, e)) exclude(e);
      }
    }
    if (outside_.any_foreign()) note_leads(table, mask);
    return mask;
  }
  void note_leads(LastTokens& table, std::vector<uint8_t>& mask) const {
    for (int b = 0; b < 256; ++b) {
      const char byte = static_cast<char>(b);
      mask[id_of_byte(b)] = may_be_outside(table, {&byte, 1});
    }
  }
  // By merges: the last two tokens of each text that an entry begins with.
  void note_last_tokens() {
    LastTokens table(encoder_, suffixes_);
    for (size_t i = 0; i < suffixes_.order().size(); breathe(++i)) {
      const std::string_view text = entries_.texts[suffixes_.order()[i]];
      size_t at = suffixes_.shared()[i];
      while (at < text.size() && !leads_char(text[at])) --at;
      table.shorten(at);
      while (at < text.size()) {
        const size_t size = char_bytes(text[at]);
        table.add(text.substr(at, size));
        at += size;
        suffixes_.note(table.state(at), table.token(at), shape_of(table, at));
      }
    }
  }
  Suffixes::Shape shape_of(const LastTokens& table, size_t at) const {
    const auto size = [&](size_t end) { return static_cast<uint16_t>(end - table.start(end)); };
    const uint32_t token = table.token(at);
    const bool longest = token == suffixes_.longest(table.state(at)).entry;
    if (longest) {
      const auto parts = encoder_.parts(token);
      if (!parts) return {size(at), 0, 0, true};  // a character: whatever is before it
      const uint16_t back = entries_.sizes[parts->second];
      if (table.token(at - back) == parts->first) return {size(at), back, size(at - back), true};
    }
    return {size(at), size(at), size(table.start(at)), longest};
  }
  bool may_be_neighbours(uint32_t left, uint32_t right) const {
    return encoder_.merges().may_be_neighbours(left, right, entries_.texts[left].back(),
                                               entries_.texts[right][0]);
  }

  // The places where the covers of the text of a table end, from the last on.
  std::vector<size_t> places_of_covers(LastTokens& table) const {
    const size_t end = table.size();
    std::vector<size_t> places;
    for (uint32_t node = table.state(end); node != Suffixes::kRoot;
         node = suffixes_.shorter(node)) {
      if (!suffixes_.goes_on(node)) continue;
      const size_t from = end - suffixes_.size(node);
      each_follower(table, from, [&](uint32_t) {
        places.push_back(from);
        return false;
      });
    }
    places.push_back(end);
    std::reverse(places.begin(), places.end());
    return places;
  }

  // Calls visit(entry) for the entries that may follow the encoding of the text up to `from`, begin
  // with the rest of the text, which is not empty, and are longer; as long as it returns true.
  template <class Visit>
  void each_follower(LastTokens& table, size_t from, Visit visit) const {
    auto [first, last] = suffixes_.beginning_with(entries_, table.text_behind(from));
    if (first < last && entries_.sizes[suffixes_.order()[first]] == table.size() - from) ++first;
    if (encoder_.by_fewest()) {
      walk(table, from, first, last, [&](size_t begin, size_t end, bool may) {
        for (size_t i = begin; may && i < end; ++i)
          if (!visit(suffixes_.order()[i])) return false;
        return true;
      });
      return;
    }
    const uint32_t left = table.token(from);
    const bool free = from == 0 || Entries::is_byte(left);
    for (size_t i = first; i < last; breathe(++i))
      if (const uint32_t e = suffixes_.order()[i]; free || may_be_neighbours(left, e))
        if (!visit(e)) return;
  }
  // By fewest: calls exclude(entry) for those that may not follow the text of a table.
  template <class Exclude>
  void each_excluded(LastTokens& table, Exclude exclude) const {
    walk(table, table.size(), 0, suffixes_.order().size(), [&](size_t begin, size_t end, bool may) {
      for (size_t i = begin; !may && i < end; ++i) exclude(suffixes_.order()[i]);
      return true;
    });
  }

  // By fewest: whether the entries between two places in the order may follow the encoding of the
  // text up to `from`. They begin with the rest of the text. Calls visit(begin, end, may), as long
  // as it returns true. The table goes on over each entry, so that what two share is added once; an
  // entry may follow if it is the last token there.
  //
  // Where no entry that began before `from` goes on, and no place behind `from` is reached with
  // fewer tokens (before a byte that none crosses to, this is so already), every entry that goes on
  // from there may follow: of the ways to its end, those that have no end at `from` have one behind
  // it and before the end, so they take at least as many tokens, and their last one is shorter.
  template <class Visit>
  void walk(LastTokens& table, size_t from, size_t first, size_t last, Visit visit) const {
    const size_t end = table.size();
    std::vector<uint32_t> lows{kNone};  // by bytes behind `from`: the fewest tokens so far
    const auto note = [&] {
      while (lows.size() <= table.size() - from) {
        const size_t at = from + lows.size();
        const bool inside = table.token(at) == kNone;  // a character
        lows.push_back(std::min(lows.back(), inside ? kNone : table.count(at)));
      }
    };
    note();
    size_t at = end - from;  // bytes of the next entry that are in the table
    for (size_t i = first, next, step = 0; i < last; i = next) {
      breathe(++step);
      const uint32_t e = suffixes_.order()[i];
      const std::string_view text = entries_.texts[e];
      while (!leads_char(text[at])) --at;
      table.shorten(from + at);
      lows.resize(at + 1);
      bool free = at == 0 && (from == 0 || is_border(table.last_byte(from), text[0]));
      at += free;
      while (at < text.size() && !free) {
        const size_t size = char_bytes(text[at]);
        table.add(text.substr(at, size));
        note();
        at += size;
        free = suffixes_.size(table.state(from + at)) <= at && lows[at] >= table.count(from);
      }
      const bool may = free || table.token(from + at) == e;
      next = free ? std::min(last, suffixes_.end_of_same(i, at)) : i + 1;
      if (!visit(i, next, may)) break;
      if (next < last) at = std::min<size_t>(at, suffixes_.shared()[next]);
    }
    table.shorten(end);
  }

  const Encoder& encoder_;
  const Entries& entries_;
  Numbers special_;
  Suffixes suffixes_;
  Outside outside_;
  std::vector<uint8_t> kinds_;          // Kind, by id
  std::vector<uint8_t> anything_;       // by id, whether it may come where a text begins
  std::optional<Followers> followers_;  // by merges, without ties
};

}  // namespace supratok
