// Text to ids and back, exactly and in linear time, by one of two rules: merges.hpp and fewest.hpp.
// Characters outside the alphabet become bytes, which never join with anything.
#pragma once

#include <span>

#include "borders.hpp"
#include "fewest.hpp"
#include "levels.hpp"
#include "threads.hpp"

namespace supratok {

class Encoder {
 public:
  static constexpr uint32_t kNone = Entries::kNone;
  static constexpr uint32_t kMostIds = 1 << 24;  // twice as many as a trie has nodes

  // `weights` say how often each entry is expected, which matters for speed alone. Ids: byte b is
  // first_id + b, entry i is first_id + 256 + i; or, where `ids` are given, those of the bytes and
  // then of the entries. `tied` entries share a rank under the merges rule.
  Encoder(std::vector<std::string> entries, const Counts& weights, bool fewest, uint32_t first_id,
          Numbers ids, const Numbers& tied)
      : entries_(std::move(entries)), merges_(size()), first_id_(first_id), ids_(std::move(ids)) {
    std::iota(bytes_.begin(), bytes_.end(), 0);
    if (!ids_.empty()) number();
    if (fewest) {
      entries_.make_trie(weights, [](uint32_t) { return true; });
      fewest_.emplace(entries_);
      borders_ = Borders(entries_.texts);
      return;
    }
    merges_.learn(entries_, tied);
    borders_ = Borders([&](char a, char b) { return merges_.joins_across(a, b); });
    auto last = static_cast<uint32_t>(size());  // of the entries that are looked for in the trie
    if (!merges_.ties()) {
      const uint32_t phrase = Levels::first_phrase(entries_);
      if (phrase >= size() / kPhrasesRankLast) levels_.emplace(entries_, merges_, last = phrase);
    }
    const auto keeps = [&](uint32_t e) { return e < last && states()[e] == kReachable; };
    entries_.make_trie(weights, keeps);
    merges_.keep(keeps);
  }
  Encoder(const Encoder&) = delete;  // `levels_` refers to its members

  void encode(std::string_view text, Numbers& ids) const {
    const size_t enough = ids.size() + text.size() / 4 + 4;  // for most texts
    if (enough > ids.capacity()) ids.reserve(std::max(enough, 2 * ids.capacity()));
    borders_.in_parts(text, [&](std::string_view part) { encode_part(part, ids); });
  }
  // The same in portions: calls write(ids) for each, in order.
  template <class Write>
  void encode_to(std::string_view text, Write write) const {
    Scratch<uint32_t, 2> ids(0);
    borders_.in_parts(text, [&](std::string_view part) {
      ids.values.clear();
      encode_part(part, ids.values);
      write(std::span<const uint32_t>(ids.values));
    });
  }
  // The same of a text that comes in pieces: next(text) appends one, or returns false after the
  // last. No more of the text is kept than must be encoded together.
  template <class Next, class Write>
  void encode_pieces(Next next, Write write) const {
    std::string text;
    while (next(text)) {
      const size_t border = borders_.last_in(text);
      if (!border) continue;
      encode_to({text.data(), border}, write);
      text.erase(0, border);
    }
    encode_to(text, write);
  }

  size_t count(std::string_view text) const {  // of tokens
    Scratch<uint32_t, 2> tokens(0);
    size_t count = 0;
    borders_.in_parts(text, [&](std::string_view part) {
      tokens.values.clear();
      count += encode_entries(part, tokens.values, false);
    });
    return count;
  }
  // The merges rule in two levels, where it is applied so; or nullptr.
  const Levels* levels() const { return levels_ ? &*levels_ : nullptr; }

  // The bytes of an id that it knows: of an entry or a byte, not of a special token.
  std::string_view bytes_of(uint32_t id) const {
    const uint32_t place = place_of(id);
    return place < 256 ? std::string_view(&bytes_[place], 1) : entries_.texts[place - 256];
  }
  bool knows(uint32_t id) const { return place_of(id) < 256 + size(); }
  // The largest id known, plus one.
  uint32_t end_id() const {
    return static_cast<uint32_t>(ids_.empty() ? first_id_ + 256 + size() : places_.size());
  }
  // Byte b has the place b, entry i the place 256 + i; unknown ids have a place after all of them.
  uint32_t place_of(uint32_t id) const {
    if (ids_.empty()) return id - first_id_;
    return id < places_.size() ? places_[id] : kNone;
  }
  uint32_t id_of(uint32_t place) const {  // of a byte or an entry, as above
    return ids_.empty() ? first_id_ + place : ids_[place];
  }
  size_t size() const { return entries_.texts.size(); }
  const Encoder& encoder() const { return *this; }  // as other coders have it
  const Entries& entries() const { return entries_; }
  const Borders& borders() const { return borders_; }
  const Merges& merges() const { return merges_; }  // empty by fewest
  bool by_fewest() const { return fewest_.has_value(); }
  const std::vector<uint8_t>& states() const { return merges_.states; }  // EntryState, by entry
  // The same of an encoder of these entries, by merges, which need not be made.
  static std::vector<uint8_t> states_of(std::vector<std::string> list) {
    const Entries entries(std::move(list));
    Merges merges(entries.texts.size());
    merges.learn(entries, {});
    return std::move(merges.states);
  }
  // The two entries that the merges rule makes `entry` from; none for the alphabet.
  std::optional<std::pair<uint32_t, uint32_t>> parts(uint32_t entry) const {
    const Merges::Piece& piece = merges_.pieces.at(entry);
    if (piece.left == kNone) return {};
    return std::pair(piece.left, piece.right);
  }
  Numbers parts_without() const {
    if (!fewest_) throw std::invalid_argument("an encoder by merges");
    return Fewest::parts_without(entries_);
  }

 private:
  // Where fewer than one in so many entries rank before the first phrase, levels do not pay.
  static constexpr size_t kPhrasesRankLast = 8;

  // Appends ids.
  void encode_part(std::string_view text, Numbers& ids) const {
    const size_t start = ids.size();
    encode_entries(text, ids);
    const std::span<uint32_t> fresh(ids.begin() + static_cast<ptrdiff_t>(start), ids.end());
    if (ids_.empty())
      for (uint32_t& id : fresh) id += first_id_ + 256;
    else
      for (uint32_t& id : fresh) id = ids_[id + 256];
  }
  // Appends entries and bytes; returns how many. Without `emit` it may leave them out.
  size_t encode_entries(std::string_view text, Numbers& out, bool emit = true) const;

  void number() {
    if (ids_.size() != 256 + size())
      throw std::invalid_argument("as many ids as bytes and entries");
    const uint32_t last = *std::max_element(ids_.begin(), ids_.end());
    if (last > kMostIds)
      throw std::invalid_argument("the id " + std::to_string(last) + " is too large: at most " +
                                  std::to_string(kMostIds));
    places_.assign(last + 1, kNone);
    for (uint32_t place = 0; place < ids_.size(); ++place)
      if (std::exchange(places_[ids_[place]], place) != kNone)
        throw std::invalid_argument("the id " + std::to_string(ids_[place]) + " is given twice");
  }

  Entries entries_;
  Borders borders_;
  std::optional<Fewest> fewest_;  // or by merges
  Merges merges_;
  std::optional<Levels> levels_;
  std::array<char, 256> bytes_;
  uint32_t first_id_;
  Numbers ids_;     // by place; empty: consecutive
  Numbers places_;  // by id
};

using Ids = Numbers;

// The ids of some texts, one after another.
struct Encodings {
  Ids ids;
  std::vector<size_t> ends{0};  // of the ids of each text, after a 0

  size_t size() const { return ends.size() - 1; }
  std::span<const uint32_t> operator[](size_t i) const {
    return {ids.data() + ends[i], ends[i + 1] - ends[i]};
  }
};

// Encodes texts on several threads, in portions; calls ready(first, encodings) for each, in no
// particular order and on any thread, where encodings[i] belongs to text first + i. The calling
// thread also calls collect(), as often as in_parallel does. The encoder may be one that cuts
// (cutting.hpp), or one that takes the number of a text (dropout.hpp).
template <class Coder, class Ready, class Collect>
void encode_all(const Coder& encoder, const Texts& texts, size_t threads, Ready ready,
                Collect collect) {
  constexpr size_t kPortion = 1 << 17;  // bytes: `ready` is called once for many short texts
  std::vector<size_t> ends{0};
  for (size_t i = 0, bytes = 0; i < texts.size(); ++i) {
    bytes += texts[i].size();
    if (bytes < kPortion && i + 1 < texts.size()) continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  const auto encode = [&](size_t portion) {
    const size_t first = ends[portion];
    Encodings encodings;
    encodings.ends.reserve(ends[portion + 1] - first + 1);
    for (size_t i = first; i < ends[portion + 1]; ++i) {
      if constexpr (requires { encoder.encode(texts[i], i, encodings.ids); })
        encoder.encode(texts[i], i, encodings.ids);
      else
        encoder.encode(texts[i], encodings.ids);
      encodings.ends.push_back(encodings.ids.size());
    }
    ready(first, std::move(encodings));
    breathe();
  };
  in_parallel(ends.size() - 1, threads, encode, collect);
}

// How often each id occurs in the encodings of the texts, each counted `weights` times, or once if
// there are none.
template <class Coder>
Counts usage(const Coder& encoder, const Texts& texts, size_t threads, const Counts& weights) {
  Counts uses(encoder.end_id());
  std::mutex lock;
  const auto add = [&](size_t first, const Encodings& encodings) {
    const std::lock_guard guard(lock);
    for (size_t i = 0; i < encodings.size(); ++i)
      for (const uint32_t id : encodings[i]) uses[id] += weights.empty() ? 1 : weights[first + i];
  };
  encode_all(encoder, texts, threads, add, [] {});
  return uses;
}

// The place of each token in the text, in characters. The bytes of one character share its place.
inline std::vector<std::pair<size_t, size_t>> offsets(const Encoder& encoder, std::string_view text,
                                                      const Ids& ids) {
  std::vector<std::pair<size_t, size_t>> places;
  size_t byte = 0, chars = 0;  // characters begun before `byte`
  for (const uint32_t id : ids) {
    const size_t end = byte + encoder.bytes_of(id).size();
    const size_t first = leads_char(text[byte]) ? chars : chars - 1;
    for (; byte < end; ++byte) chars += leads_char(text[byte]);
    places.emplace_back(first, chars);
  }
  return places;
}

}  // namespace supratok
