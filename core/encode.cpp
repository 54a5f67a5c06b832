#include "encode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "text.hpp"

namespace supratok {
namespace {

constexpr auto kByteStrings = [] {
  std::array<char, 256> all{};
  for (int b = 0; b < 256; ++b) all[b] = static_cast<char>(b);
  return all;
}();

bool is_char(std::string_view text) {
  return text.size() == char_bytes(text[0]);
}

uint64_t join_hash(uint32_t left, uint32_t right) {
  const uint64_t key = (uint64_t{left} << 32 | right) * 0x9e3779b97f4a7c15ull;
  return key ^ key >> 32;
}

}  // namespace

struct Encoder::Scratch {
  std::vector<uint64_t> dead;  // a bit a place: no encoding passes there
  std::vector<uint32_t> best;  // the fewest tokens up to a place, for the places just ahead
  std::vector<uint32_t> last;  // the last of them, for all places: its node << 8 | its size
  std::vector<uint32_t> tokens;

  bool is_dead(size_t place) const { return dead[place >> 6] >> (place & 63) & 1; }
  void kill(size_t place) { dead[place >> 6] |= uint64_t{1} << (place & 63); }
  // Room for `size` values, not initialised. The memory that one very long text needed is not kept
  // for the life of the thread.
  template <class T>
  static void make_room(std::vector<T>& buffer, size_t size) {
    if (buffer.size() > (1u << 22) && buffer.size() > 4 * size) std::vector<T>().swap(buffer);
    if (buffer.size() < size) buffer.resize(size);
  }
};

Encoder::Scratch& Encoder::scratch() {
  static thread_local Scratch buffers;
  return buffers;
}

// --- Building

Encoder::Encoder(std::vector<std::string> entries, const std::vector<int64_t>& weights, Rule rule,
                 uint32_t first_id, std::vector<uint32_t> ids, const std::vector<uint32_t>& tied)
    : entries_(std::move(entries)),
      rule_(rule),
      first_id_(first_id),
      trie_(Texts(entries_.begin(), entries_.end()), weights),
      states_(entries_.size(), kReachable),
      sizes_(entries_.size()),
      pieces_(entries_.size()) {
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].empty()) throw std::invalid_argument("an empty token");
    if (trie_.find(entries_[e]) != e)
      throw std::invalid_argument("the token '" + entries_[e] + "' is listed twice");
    if (e && is_char(entries_[e]) && !is_char(entries_[e - 1]))
      throw std::invalid_argument("the character '" + entries_[e] +
                                  "' must rank before all tokens");
    if (entries_[e].size() > 0xffff)
      throw std::invalid_argument("a token of more than 65535 bytes");
    sizes_[e] = static_cast<uint16_t>(entries_[e].size());
    while (ring_ <= entries_[e].size()) ring_ *= 2;
  }
  number(std::move(ids));
  if (rule_ == Rule::Fewest) return;
  tie(tied);
  ties() ? learn_parts<true>() : learn_parts<false>();
  if (std::count(states_.begin(), states_.end(), kReachable) ==
      static_cast<ptrdiff_t>(states_.size()))
    return;
  // Unreachable entries never match; what remains of the trie is exact.
  Texts reachable = Texts(entries_.begin(), entries_.end());
  for (uint32_t e = 0; e < entries_.size(); ++e)
    if (states_[e] != kReachable) reachable[e] = {};
  trie_ = Trie(reachable, weights);
  for (Piece& piece : pieces_)
    while (piece.prefix != kNone && states_[piece.prefix] != kReachable)
      piece.prefix = pieces_[piece.prefix].prefix;
}

void Encoder::number(std::vector<uint32_t> ids) {
  if (ids.empty()) return;
  if (ids.size() != 256 + entries_.size())
    throw std::invalid_argument("as many ids as bytes and entries");
  const uint32_t last = *std::max_element(ids.begin(), ids.end());
  if (last >= kNone) throw std::invalid_argument("an id is too large");
  places_.assign(last + 1, kNone);
  for (uint32_t place = 0; place < ids.size(); ++place) {
    if (places_[ids[place]] != kNone)
      throw std::invalid_argument("the id " + std::to_string(ids[place]) + " is given twice");
    places_[ids[place]] = place;
  }
  ids_ = std::move(ids);
}

void Encoder::tie(const std::vector<uint32_t>& tied) {
  if (tied.empty()) return;
  ranks_.resize(entries_.size());
  for (uint32_t e = 0; e < entries_.size(); ++e) ranks_[e] = e;
  for (const uint32_t e : tied) {
    if (e == 0 || e >= entries_.size() || is_char(entries_[e - 1]) || sizes_[e] < sizes_[e - 1])
      throw std::invalid_argument("entry " + std::to_string(e) +
                                  " cannot be tied to the one before it");
    ranks_[e] = ranks_[e - 1];
  }
}

// In rank order: with the entries before it, an entry's text must encode to two of them, its parts.
template <bool kTies>
void Encoder::learn_parts() {
  const size_t slots = std::bit_ceil(std::max<size_t>(entries_.size() * 2, 1024));
  joins_.clear(slots);
  maybe_joined_.assign(slots / 16, 0);  // 4 bits a slot
  lowest_.assign(1 << 16, kNone);
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    const char* text = entries_[e].data();
    pieces_[e].prefix = longest(text, text + entries_[e].size() - 1);
  }
  std::vector<uint32_t> tokens;
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    const std::string& text = entries_[e];
    if (is_char(text)) continue;  // the alphabet has no parts
    tokens.clear();
    if (by_merges<true, kTies>(text, e, tokens) == 2 && tokens[0] != kNone && tokens[1] != kNone)
      add_join(tokens[0], tokens[1], e);
    else
      states_[e] = formed_plainly(text) ? kOutOfOrder : kUnreachable;
  }
}

// The rule taken literally, for the few texts that the fast way does not settle.
bool Encoder::formed_plainly(std::string_view text) const {
  Texts tokens;
  for (size_t i = 0; i < text.size(); i += char_bytes(text[i]))
    tokens.push_back(text.substr(i, char_bytes(text[i])));
  while (tokens.size() > 1) {
    uint32_t lowest = kNone;
    size_t place = 0;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (trie_.find(tokens[i]) == kNone || trie_.find(tokens[i + 1]) == kNone) continue;
      const uint32_t found =
          trie_.find({tokens[i].data(), tokens[i].size() + tokens[i + 1].size()});
      const uint32_t order = ties() ? rank<true>(found) : found;
      if (order < lowest) lowest = order, place = i;
    }
    if (lowest == kNone) return false;
    tokens[place] = {tokens[place].data(), tokens[place].size() + tokens[place + 1].size()};
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(place) + 1);
  }
  return true;
}

void Encoder::add_join(uint32_t left, uint32_t right, uint32_t entry) {
  pieces_[entry].left = left;
  pieces_[entry].right = right;
  const uint64_t hash = join_hash(left, right);
  const size_t bit = maybe_place(hash);
  maybe_joined_[bit >> 6] |= uint64_t{1} << (bit & 63);
  joins_.add(hash, entry);
  uint32_t& low = lowest_[border(entries_[left].back(), entries_[right].front())];
  low = std::min(low, ties() ? rank<true>(entry) : entry);
}

// --- The merges rule

uint32_t Encoder::joined(uint32_t left, uint32_t right) const {
  const uint64_t hash = join_hash(left, right);
  const size_t bit = maybe_place(hash);
  if (!(maybe_joined_[bit >> 6] >> (bit & 63) & 1)) return kNone;
  const uint32_t found = joins_.find(hash, [&](uint32_t entry) {
    return pieces_[entry].left == left && pieces_[entry].right == right;
  });
  return std::min(found, kNone);
}

// Whether `left` and `right` may be neighbours. Undoes their last joins, latest first; at each
// stage a join across the border must not come before the one just undone. Of two joins of equal
// rank the left one is made first. No join across this border ranks before `lowest`.
template <bool kTies>
bool Encoder::fit(uint32_t left, uint32_t right, uint32_t lowest) const {
  uint32_t limit = kNone;
  while (limit > lowest) {
    if (rank<kTies>(joined(left, right)) < limit) return false;
    // Characters rank before all other entries: if the later one is a character, both are.
    if (rank<kTies>(left) > rank<kTies>(right)) {
      if (rank<kTies>(left) <= lowest) return true;
      limit = rank<kTies>(left);
      left = pieces_[left].right;
      if (left == kNone) return true;
    } else {
      if (rank<kTies>(right) < lowest) return true;
      limit = rank<kTies>(right) + 1;
      right = pieces_[right].left;
      if (right == kNone) return true;
    }
  }
  return true;
}

uint32_t Encoder::longest(const char* from, const char* end) const {
  uint32_t node = Trie::kRoot;
  while (from < end && trie_.step(node, static_cast<unsigned char>(*from))) ++from;
  return trie_.longest_at(node);
}

// `entry`, or the longest entry that it begins with and that may be used.
template <bool kBuilding>
uint32_t Encoder::usable(uint32_t entry, uint32_t limit) const {
  while (kBuilding && entry != kNone && (entry >= limit || states_[entry] != kReachable))
    entry = pieces_[entry].prefix;
  return entry;
}

// Appends entries (and kNone for each byte of a character outside the alphabet), using only
// entries ranked before `limit`. Returns how many.
template <bool kBuilding, bool kTies>
size_t Encoder::by_merges(std::string_view text, uint32_t limit, std::vector<uint32_t>& out) const {
  Scratch& work = scratch();
  Scratch::make_room(work.dead, text.size() / 64 + 1);
  std::fill_n(work.dead.begin(), text.size() / 64 + 1, 0);
  const char* const end = text.data() + text.size();
  const size_t start = out.size();
  size_t fence = start;  // nothing before this token takes part in the present stretch
  size_t at = 0;
  while (at < text.size()) {
    uint32_t token = usable<kBuilding>(longest(text.data() + at, end), limit);
    if (token == kNone) {
      const size_t bytes = char_bytes(text[at]);
      out.insert(out.end(), bytes, kNone);
      fence = out.size();
      at += bytes;
      continue;
    }
    while (true) {
      const size_t next = at + sizes_[token];
      if (!work.is_dead(next) &&
          (out.size() == fence ||
           fit<kTies>(out.back(), token, lowest_join(text[at - 1], text[at])))) {
        out.push_back(token);
        at = next;
        break;
      }
      token = usable<kBuilding>(pieces_[token].prefix, limit);
      while (token == kNone) {  // nothing fits here: step back
        work.kill(at);
        token = out.back();
        out.pop_back();
        at -= sizes_[token];
        token = usable<kBuilding>(pieces_[token].prefix, limit);
      }
    }
  }
  return out.size() - start;
}

// --- The fewest rule

size_t Encoder::by_fewest(std::string_view text, bool emit, std::vector<uint32_t>& out) const {
  // The fewest tokens up to a place are needed only as far ahead as the longest entry reaches: a
  // small ring of counts. The last of those tokens is kept for every place. Branch-free where
  // prediction would fail: whether an entry ends at a byte, and is better.
  Scratch& work = scratch();
  const size_t mask = ring_ - 1;
  work.best.assign(ring_, kNone);
  Scratch::make_room(work.last, text.size() + 1);
  uint32_t* const best = work.best.data();
  uint32_t* const last = work.last.data();
  uint32_t count = 0;
  best[0] = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    count = std::exchange(best[at & mask], kNone);
    if (count == kNone) continue;  // inside a character
    bool found = false;
    uint32_t node = Trie::kRoot;
    for (size_t to = at; to < text.size();) {
      if (!trie_.step(node, static_cast<unsigned char>(text[to++]))) break;
      const bool ends = trie_.ends_at(node);
      found |= ends;
      // Starts come in order, so of equals the longest last token stays.
      uint32_t& old = best[to & mask];
      const bool better = ends & (count + 1 < old);
      old = better ? count + 1 : old;
      last[to] = better ? node << 8 | static_cast<uint32_t>(to - at) % 256 : last[to];
    }
    if (!found) {  // a character outside the alphabet: its bytes
      const size_t bytes = char_bytes(text[at]);
      best[(at + bytes) & mask] = count + static_cast<uint32_t>(bytes);
      last[at + bytes] = Trie::kRoot;  // nothing ends there
    }
  }
  const size_t total = best[text.size() & mask];
  if (!emit) return total;
  const bool small = ring_ <= 256;  // no entry is larger than 255 bytes
  out.resize(out.size() + total);
  size_t slot = out.size();
  for (size_t to = text.size(); to > 0;) {
    if (last[to] != Trie::kRoot) {
      out[--slot] = trie_.longest_at(last[to] >> 8);
      // The size is kept beside the node: with it the next token need not wait for this one.
      to -= small ? last[to] & 0xff : sizes_[out[slot]];
      continue;
    }
    do {
      out[--slot] = kNone;
      --to;
    } while (!leads_char(text[to]));
  }
  return total;
}

std::vector<uint32_t> Encoder::parts_without() const {
  std::vector<uint32_t> all, fewest;
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    const std::string& text = entries_[e];
    fewest.assign(text.size() + 1, kNone);
    fewest[0] = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      uint32_t node = Trie::kRoot;
      for (size_t to = at; to < text.size() && fewest[at] != kNone;) {
        if (!trie_.step(node, static_cast<unsigned char>(text[to++]))) break;
        if (trie_.ends_at(node) && trie_.longest_at(node) != e)
          fewest[to] = std::min(fewest[to], fewest[at] + 1);
      }
    }
    all.push_back(is_char(text) ? static_cast<uint32_t>(text.size()) : fewest[text.size()]);
  }
  return all;
}

// --- Both

void Encoder::encode(std::string_view text, std::vector<uint32_t>& ids) const {
  const size_t start = ids.size();
  ids.reserve(start + text.size() / 4 + 4);  // more than most texts need
  if (rule_ == Rule::Fewest)
    by_fewest(text, true, ids);
  else
    ties() ? by_merges<false, true>(text, kNone, ids) : by_merges<false, false>(text, kNone, ids);
  // Each kNone becomes the byte at its place; then entries become ids.
  const auto begin = ids.begin() + static_cast<ptrdiff_t>(start);
  if (std::find(begin, ids.end(), kNone) != ids.end()) {
    size_t at = 0;
    for (auto id = begin; id != ids.end(); ++id) {
      const bool byte = *id == kNone;
      const size_t next = at + (byte ? 1 : sizes_[*id]);
      if (byte) *id = static_cast<unsigned char>(text[at]) - 256u;
      at = next;
    }
  }
  if (ids_.empty())
    for (auto id = begin; id != ids.end(); ++id) *id += first_id_ + 256;
  else
    for (auto id = begin; id != ids.end(); ++id) *id = ids_[*id + 256];
}

size_t Encoder::count(std::string_view text) const {
  if (rule_ == Rule::Fewest) return by_fewest(text, false, scratch().tokens);
  std::vector<uint32_t>& tokens = scratch().tokens;
  tokens.clear();
  return ties() ? by_merges<false, true>(text, kNone, tokens)
                : by_merges<false, false>(text, kNone, tokens);
}

std::string_view Encoder::bytes_of(uint32_t id) const {
  const uint32_t place = place_of(id);
  return place < 256 ? std::string_view(&kByteStrings[place], 1)
                     : std::string_view(entries_[place - 256]);
}

}  // namespace supratok
