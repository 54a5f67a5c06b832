#include "merge.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace supratok {
namespace {

constexpr uint32_t kNone = 0xffffffffu;
constexpr int kBlockBits = 12;

bool is_number(const char* p) {
  return char_info(decode_char(p)).cls == CharClass::Number;
}

// The digits that stand in a row where two texts meet; 0 if they do not meet in digits.
uint32_t digits_in_a_row(std::string_view left, std::string_view right) {
  uint32_t before = 0, after = 0;
  for (size_t i = 0; i < right.size() && is_number(&right[i]); i += char_bytes(right[i])) ++after;
  if (!after) return 0;
  for (size_t i = left.size(); i > 0; ++before) {
    do --i;
    while ((static_cast<unsigned char>(left[i]) & 0xc0) == 0x80);
    if (!is_number(&left[i])) break;
  }
  return before ? before + after : 0;
}

uint64_t pair_hash(uint32_t left, uint32_t right) {
  return mix(uint64_t{left} << 32 | right);
}

}  // namespace

// --- Sequences

void Sequences::add(const std::vector<uint32_t>& sequence, int64_t weight) {
  if (sequence.size() < 2) return;  // nothing to join
  if (cells.size() + sequence.size() + 1 >= 0x80000000u)
    throw std::length_error("more than 2 billion symbols of unique text; use a smaller corpus");
  if (bands.empty() || bands.back().weight != weight)
    bands.push_back({static_cast<uint32_t>(cells.size()), weight});
  cells.insert(cells.end(), sequence.begin(), sequence.end());
  cells.push_back(kGap);
}

Sequences Sequences::of_words(SharedCounts& words, const std::vector<uint32_t>& alphabet,
                              const Bigrams* bigrams, int64_t gate, const TextCounts* changes) {
  std::vector<uint32_t> symbol_of(0x110000, kNone);
  for (uint32_t symbol = 0; symbol < alphabet.size(); ++symbol)
    symbol_of[alphabet[symbol]] = symbol;
  Sequences all;
  std::vector<uint32_t> sequence;
  const auto lay_out = [&](std::string_view text, int64_t count) {
    sequence.clear();
    const bool gated = bigrams && bigrams->covers(text);
    uint32_t before = ' ';
    for (size_t i = 0; i < text.size(); i += char_bytes(text[i])) {
      const uint32_t code = decode_char(text.data() + i), symbol = symbol_of[code];
      if (gated && before != ' ' && bigrams->count(before, code) < gate) {
        all.add(sequence, count);
        sequence.clear();
      }
      before = code;
      if (symbol != kNone) {
        sequence.push_back(symbol);
        continue;
      }
      all.add(sequence, count);
      sequence.clear();
    }
    all.add(sequence, count);
  };
  words.by_falling_count(false, lay_out, changes);
  return all;
}

Sequences Sequences::of_runs(SharedCounts& runs, bool drain) {
  Sequences all;
  runs.by_falling_count(
      drain, [&](std::string_view run, int64_t count) { all.add(run_words(run), count); });
  return all;
}

// --- Setting up

std::vector<Symbol> Merger::characters(const std::vector<uint32_t>& alphabet) {
  std::vector<Symbol> symbols;
  for (const uint32_t code : alphabet)
    symbols.push_back({encode_char(code), char_info(code).cls == CharClass::Number,
                       char_info(code).script, code == ' '});
  return symbols;
}

std::vector<Symbol> Merger::words(const std::vector<std::string>& words, bool by_class) {
  std::vector<Symbol> symbols;
  for (const std::string& text : words) {
    WordReader reader(text, by_class);
    Word word;
    if (!reader.next(word) || word.text.size() != text.size())
      throw std::invalid_argument("'" + text + "' is not one word");
    const bool counted = word.cls == CharClass::Letter || word.cls == CharClass::Number;
    symbols.push_back({text, counted, word.script});
  }
  return symbols;
}

Merger::Merger(Sequences sequences, std::vector<Symbol> symbols, Limits limits, int64_t min_count,
               Screen screen)
    : limits_(std::move(limits)),
      min_count_(min_count),
      screen_(std::move(screen)),
      symbols_(std::move(symbols)),
      width_(symbols_.size(), 1),
      cells_(std::move(sequences.cells)),
      bands_(std::move(sequences.bands)) {
  for (const uint32_t cell : cells_)
    if (cell != kGap && cell >= symbols_.size())
      throw std::invalid_argument("a sequence holds a symbol that is not given");
  if (!screen_.bits.empty() && screen_.bits.size() != symbols_.size())
    throw std::invalid_argument("as many bits as symbols");
  for (size_t band = 0, start = 0; start < cells_.size(); start += size_t{1} << kBlockBits) {
    while (band + 1 < bands_.size() && bands_[band + 1].start <= start) ++band;
    first_band_.push_back(static_cast<uint32_t>(band));
  }
  for (const std::string& name : limits_.names) {
    longest_name_ = std::max(longest_name_, name.size());
    if (name.empty()) continue;
    begins_name_[static_cast<unsigned char>(name.front())] = true;
    ends_name_[static_cast<unsigned char>(name.back())] = true;
  }
  first_band_.push_back(bands_.empty() ? 0 : static_cast<uint32_t>(bands_.size() - 1));
  count_pairs();
}

void Merger::count_pairs() {
  // First all pairs with their counts, then the places of those that are frequent enough.
  table_.assign(1 << 16, {});
  const auto each_pair = [&](auto visit) {
    for (size_t b = 0; b < bands_.size(); ++b) {
      const size_t end = b + 1 < bands_.size() ? bands_[b + 1].start : cells_.size();
      for (size_t i = bands_[b].start; i + 1 < end; ++i)
        if (cells_[i] != kGap && cells_[i + 1] != kGap) visit(i, bands_[b].weight);
    }
  };
  std::vector<uint32_t> places;  // how many, by pair
  each_pair([&](size_t i, int64_t weight) {
    uint32_t pair = find(cells_[i], cells_[i + 1]).pair;
    if (pair == kNone) {
      if (!may_join(cells_[i], cells_[i + 1])) return;
      pair = static_cast<uint32_t>(pairs_.size());
      insert({cells_[i], cells_[i + 1], 0, {}});
      places.push_back(0);
    }
    pairs_[pair].count += weight;
    ++places[pair];
  });
  std::vector<Pair> all;
  all.swap(pairs_);
  table_.assign(1 << 16, {});
  for (size_t p = 0; p < all.size(); ++p) {
    if (all[p].count < min_count_ || !passes(all[p].left, all[p].right, all[p].count)) continue;
    all[p].places.reserve(places[p]);
    insert(std::move(all[p]));
  }
  each_pair([&](size_t i, int64_t) {
    if (const uint32_t pair = find(cells_[i], cells_[i + 1]).pair; pair != kNone)
      pairs_[pair].places.push_back(static_cast<uint32_t>(i));
  });
  heap_.reserve(pairs_.size());
  for (uint32_t p = 0; p < pairs_.size(); ++p) push(p);
}

// --- Looking things up

// The weight at a place, for places that come in ascending order; `band` is where the last one was.
int64_t Merger::weight_at(uint32_t place, size_t& band) const {
  band = std::max<size_t>(band, first_band_[place >> kBlockBits]);
  while (band + 1 < bands_.size() && bands_[band + 1].start <= place) ++band;
  return bands_[band].weight;
}

bool Merger::may_join(uint32_t left, uint32_t right) const {
  const Symbol &a = symbols_[left], &b = symbols_[right];
  return a.text.size() + b.text.size() <= limits_.bytes && a.units + b.units <= limits_.units &&
         a.spaces + b.spaces <= limits_.spaces &&
         (limits_.digits == kNone || digits_in_a_row(a.text, b.text) <= limits_.digits) &&
         !(limits_.one_script && a.script && b.script && a.script != b.script) &&
         !is_name(a.text, b.text);
}

bool Merger::is_name(const std::string& left, const std::string& right) const {
  return begins_name_[static_cast<unsigned char>(left.front())] &&
         ends_name_[static_cast<unsigned char>(right.back())] &&
         left.size() + right.size() <= longest_name_ && limits_.names.contains(left + right);
}

bool Merger::passes(uint32_t left, uint32_t right, int64_t count) {
  ++candidates_;
  if (screen_.bits.empty() ||
      std::log2(static_cast<double>(count)) + screen_.bits[left] + screen_.bits[right] >=
          screen_.least ||
      screen_.always.contains(symbols_[left].text + symbols_[right].text))
    return true;
  ++screened_;
  return false;
}

// The slot of the pair, or the empty slot where it belongs.
Merger::Slot& Merger::find(uint32_t left, uint32_t right) {
  const size_t mask = table_.size() - 1;
  for (size_t i = pair_hash(left, right) & mask;; i = (i + 1) & mask) {
    Slot& slot = table_[i];
    if (slot.pair == kNone || (slot.left == left && slot.right == right)) return slot;
  }
}

void Merger::insert(Pair pair) {
  if ((pairs_.size() + 1) * 2 > table_.size()) {
    std::vector<Slot> old(table_.size() * 2);
    old.swap(table_);
    for (const Slot& slot : old)
      if (slot.pair != kNone) find(slot.left, slot.right) = slot;
  }
  find(pair.left, pair.right) = {pair.left, pair.right, static_cast<uint32_t>(pairs_.size())};
  pairs_.push_back(std::move(pair));
}

void Merger::lower(uint32_t left, uint32_t right, int64_t weight) {
  const uint32_t found = find(left, right).pair;
  if (found == kNone) return;
  Pair& pair = pairs_[found];
  pair.count -= weight;
  if (pair.count < min_count_) std::vector<uint32_t>().swap(pair.places);
}

// Higher count, then shorter text, then code points (UTF-8 sorts like them), then shorter left
// part.
bool Merger::better(const Candidate& a, const Candidate& b) const {
  if (a.count != b.count) return a.count > b.count;
  if (a.bytes != b.bytes) return a.bytes < b.bytes;
  const Pair &x = pairs_[a.pair], &y = pairs_[b.pair];
  const std::string_view xl = symbols_[x.left].text, yl = symbols_[y.left].text;
  if (xl.size() > yl.size()) return !better(b, a);
  // xl is the shorter left part: compare it with the start of yl, then xr with the rest.
  const std::string_view xr = symbols_[x.right].text, yr = symbols_[y.right].text;
  const size_t middle = yl.size() - xl.size();
  if (const int order = xl.compare(yl.substr(0, xl.size()))) return order < 0;
  if (const int order = xr.substr(0, middle).compare(yl.substr(xl.size()))) return order < 0;
  if (const int order = xr.substr(middle).compare(yr)) return order < 0;
  return middle > 0;
}

void Merger::push(uint32_t pair) {
  const Pair& p = pairs_[pair];
  const size_t bytes = symbols_[p.left].text.size() + symbols_[p.right].text.size();
  heap_.push_back({p.count, pair, static_cast<uint32_t>(bytes)});
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](const Candidate& a, const Candidate& b) { return better(b, a); });
}

Merger::Candidate Merger::pop() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](const Candidate& a, const Candidate& b) { return better(b, a); });
  const Candidate top = heap_.back();
  heap_.pop_back();
  return top;
}

std::vector<int64_t> Merger::usage() const {
  std::vector<int64_t> uses(symbols_.size());
  for (size_t b = 0; b < bands_.size(); ++b) {
    const size_t end = b + 1 < bands_.size() ? bands_[b + 1].start : cells_.size();
    for (size_t i = bands_[b].start; i < end; ++i)
      if (cells_[i] < kBack) uses[cells_[i]] += bands_[b].weight;
  }
  return uses;
}

// --- The loop

size_t Merger::run(size_t count) {
  size_t done = 0;
  while (done < count && !heap_.empty()) {
    const Candidate top = pop();
    const int64_t now = pairs_[top.pair].count;
    if (now < min_count_) continue;
    if (now != top.count) {  // it fell since it was pushed
      push(top.pair);
      continue;
    }
    apply(top.pair);
    ++done;
  }
  return done;
}

void Merger::apply(uint32_t pair) {
  const uint32_t a = pairs_[pair].left, b = pairs_[pair].right;
  const std::vector<uint32_t> places = std::move(pairs_[pair].places);
  merges_.push_back({a, b, pairs_[pair].count});
  const auto joined = static_cast<uint32_t>(symbols_.size());
  symbols_.push_back({symbols_[a].text + symbols_[b].text, symbols_[a].units + symbols_[b].units,
                      symbols_[a].script ? symbols_[a].script : symbols_[b].script,
                      symbols_[a].spaces + symbols_[b].spaces});
  width_.push_back(width_[a] + width_[b]);
  if (!screen_.bits.empty()) screen_.bits.push_back(screen_.bits[a] + screen_.bits[b]);
  lefts_.resize(symbols_.size());
  rights_.resize(symbols_.size());

  size_t band = 0;
  int64_t twice = 0;  // the weight of b a that was joined on both sides: x y x y
  for (const uint32_t place : places) {
    // 1. Is the pair still there? Either half may have gone into another symbol since.
    if (cells_[place] != a) continue;
    const uint32_t second = next(place);
    if (cells_[second] != b) continue;
    const int64_t weight = weight_at(place, band);
    const uint32_t after = next(second);
    // 2. The neighbours gain pairs with the whole.
    if (cells_[place - 1] != kGap) {
      const uint32_t before = previous(place), neighbour = cells_[before];
      if (neighbour == joined) {  // made by this very step: its pair with a is gone again
        rights_.add(a, -weight);
        twice += weight;
      }
      lefts_.add(neighbour, weight);
      lefts_.entries.push_back({neighbour, before});
    }
    if (cells_[after] != kGap) {
      rights_.add(cells_[after], weight);
      rights_.entries.push_back({cells_[after], place});
    }
    // 3. The whole takes the place of both, and no symbol begins at the second any more.
    cells_[place] = joined;
    cells_[second] = kBack;
    cells_[after - 1] = kBack + (after - place);
  }
  // 4. And they lose as much of their pairs with the halves.
  if (twice) lower(b, a, twice);
  for (const uint32_t n : lefts_.touched)
    if (n != joined) lower(n, a, lefts_.weight[n]);
  for (const uint32_t n : rights_.touched) lower(b, n, rights_.weight[n]);
  pairs_[pair].count = 0;
  collect(joined);
}

// Turns the step's new neighbours into pairs, if frequent enough and allowed to join.
void Merger::collect(uint32_t symbol) {
  for (Fresh* fresh : {&lefts_, &rights_}) {
    slot_.resize(symbols_.size(), kNone);
    const uint32_t first = static_cast<uint32_t>(pairs_.size());
    for (const uint32_t neighbour : fresh->touched) {
      const int64_t weight = std::exchange(fresh->weight[neighbour], 0);
      fresh->seen[neighbour] = false;
      const uint32_t left = fresh == &lefts_ ? neighbour : symbol;
      const uint32_t right = fresh == &lefts_ ? symbol : neighbour;
      if (weight < min_count_ || !may_join(left, right) || !passes(left, right, weight)) continue;
      slot_[neighbour] = static_cast<uint32_t>(pairs_.size());
      insert({left, right, weight, {}});
    }
    for (const auto& [neighbour, place] : fresh->entries)
      if (slot_[neighbour] != kNone) pairs_[slot_[neighbour]].places.push_back(place);
    for (uint32_t p = first; p < pairs_.size(); ++p) push(p);
    for (const uint32_t neighbour : fresh->touched) slot_[neighbour] = kNone;
    fresh->touched.clear();
    fresh->entries.clear();
  }
}

}  // namespace supratok
