#include "merge.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace supratok {

constexpr int kBlockBits = 12;

// --- Setting up

Merger::Merger(Sequences sequences, std::vector<Symbol> symbols, Limits limits, int64_t min_count,
               Screen screen)
    : limits_(std::move(limits)),
      min_count_(min_count),
      screen_(std::move(screen)),
      symbols_(std::move(symbols)),
      width_(symbols_.size(), 1),
      sequences_(std::move(sequences)) {
  for (const uint32_t cell : sequences_.cells)
    if (cell != kGap && cell >= symbols_.size())
      throw std::invalid_argument("a sequence holds a symbol that is not given");
  if (!screen_.weights.empty() && screen_.weights.size() != symbols_.size())
    throw std::invalid_argument("as many weights as symbols");
  const auto& bands = sequences_.bands;
  for (size_t band = 0, start = 0; start < sequences_.cells.size();
       start += size_t{1} << kBlockBits) {
    while (band + 1 < bands.size() && bands[band + 1].start <= start) ++band;
    first_band_.push_back(static_cast<uint32_t>(band));
  }
  count_pairs();
}

// Calls visit(place, weight) for every pair of neighbouring symbols, while each is one cell wide.
template <class Visit>
void Merger::each_pair(Visit visit) const {
  const auto& cells = sequences_.cells;
  for (size_t band = 0; band < sequences_.bands.size(); ++band)
    for (size_t i = sequences_.bands[band].start; i + 1 < sequences_.band_end(band); ++i)
      if (cells[i] != kGap && cells[i + 1] != kGap) visit(i, sequences_.bands[band].weight);
}

void Merger::count_pairs() {
  // First all pairs with their counts, then the places of those that are frequent enough.
  const auto& cells = sequences_.cells;
  std::vector<uint32_t> places;  // how many, by pair
  each_pair([&](size_t i, int64_t weight) {
    uint32_t pair = find(cells[i], cells[i + 1]);
    if (pair == kNone) {
      if (!limits_.allow(symbols_[cells[i]], symbols_[cells[i + 1]])) return;
      pair = insert({cells[i], cells[i + 1], 0, {}});
      places.push_back(0);
    }
    pairs_[pair].count += weight;
    ++places[pair];
  });
  std::vector<Pair> all;
  all.swap(pairs_);
  index_ = FlatIndex();
  for (size_t p = 0; p < all.size(); ++p) {
    if (all[p].count < min_count_ || !passes_screen(all[p].left, all[p].right, all[p].count))
      continue;
    all[p].places.reserve(places[p]);
    insert(std::move(all[p]));
  }
  each_pair([&](size_t i, int64_t) {
    if (const uint32_t pair = find(cells[i], cells[i + 1]); pair != kNone)
      pairs_[pair].places.push_back(static_cast<uint32_t>(i));
  });
  heap_.reserve(pairs_.size());
  for (uint32_t p = 0; p < pairs_.size(); ++p) push(p);
}

// --- Pairs

uint32_t Merger::insert(Pair pair) {
  const auto number = static_cast<uint32_t>(pairs_.size());
  index_.add(hash(pair.left, pair.right), number);
  pairs_.push_back(std::move(pair));
  return number;
}

void Merger::lower(uint32_t left, uint32_t right, int64_t weight) {
  const uint32_t found = find(left, right);
  if (found == kNone) return;
  Pair& pair = pairs_[found];
  pair.count -= weight;
  if (pair.count < min_count_) std::vector<uint32_t>().swap(pair.places);
}

bool Merger::passes_screen(uint32_t left, uint32_t right, int64_t count) {
  ++candidates_;
  const auto& weights = screen_.weights;
  if (weights.empty() ||
      std::log2(static_cast<double>(count)) + weights[left] + weights[right] >= screen_.threshold ||
      screen_.exempt.contains(symbols_[left].text + symbols_[right].text))
    return true;
  ++screened_;
  return false;
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

uint32_t Merger::add_symbol(uint32_t left, uint32_t right) {
  symbols_.push_back(symbols_[left].joined(symbols_[right]));
  width_.push_back(width_[left] + width_[right]);
  auto& weights = screen_.weights;
  if (!weights.empty()) weights.push_back(weights[left] + weights[right]);
  for (Fresh* fresh : {&lefts_, &rights_}) {
    fresh->weight.resize(symbols_.size());
    fresh->seen.resize(symbols_.size());
  }
  new_pair_.resize(symbols_.size(), kNone);
  return static_cast<uint32_t>(symbols_.size() - 1);
}

// The weight at a place, for places in ascending order; `band` is the band of the one before.
int64_t Merger::weight_at(uint32_t place, size_t& band) const {
  const auto& bands = sequences_.bands;
  band = std::max<size_t>(band, first_band_[place >> kBlockBits]);
  while (band + 1 < bands.size() && bands[band + 1].start <= place) ++band;
  return bands[band].weight;
}

void Merger::apply(uint32_t pair) {
  const uint32_t a = pairs_[pair].left, b = pairs_[pair].right;
  const std::vector<uint32_t> places = std::move(pairs_[pair].places);
  merges_.push_back({a, b, pairs_[pair].count});
  const uint32_t joined = add_symbol(a, b);
  auto& cells = sequences_.cells;
  size_t band = 0;
  int64_t twice = 0;  // the weight of b a that was joined on both sides: x y x y
  for (const uint32_t place : places) {
    // 1. Is the pair still there? Either half may have gone into another symbol since.
    if (cells[place] != a) continue;
    const uint32_t second = next(place);
    if (cells[second] != b) continue;
    const int64_t weight = weight_at(place, band);
    const uint32_t after = next(second);
    // 2. The neighbours gain pairs with the whole.
    if (cells[place - 1] != kGap) {
      const uint32_t before = previous(place), neighbour = cells[before];
      if (neighbour == joined) {  // made by this very step: its pair with a is gone again
        rights_.add(a, -weight);
        twice += weight;
      }
      lefts_.add(neighbour, weight);
      lefts_.entries.push_back({neighbour, before});
    }
    if (cells[after] != kGap) {
      rights_.add(cells[after], weight);
      rights_.entries.push_back({cells[after], place});
    }
    // 3. The whole takes the place of both, and no symbol begins at the second any more.
    cells[place] = joined;
    cells[second] = kBack;
    cells[after - 1] = kBack + (after - place);
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
    const auto first = static_cast<uint32_t>(pairs_.size());
    for (const uint32_t neighbour : fresh->touched) {
      const int64_t weight = std::exchange(fresh->weight[neighbour], 0);
      fresh->seen[neighbour] = false;
      const uint32_t left = fresh == &lefts_ ? neighbour : symbol;
      const uint32_t right = fresh == &lefts_ ? symbol : neighbour;
      if (weight >= min_count_ && limits_.allow(symbols_[left], symbols_[right]) &&
          passes_screen(left, right, weight))
        new_pair_[neighbour] = insert({left, right, weight, {}});
    }
    for (const auto& [neighbour, place] : fresh->entries)
      if (new_pair_[neighbour] != kNone) pairs_[new_pair_[neighbour]].places.push_back(place);
    for (uint32_t p = first; p < pairs_.size(); ++p) push(p);
    for (const uint32_t neighbour : fresh->touched) new_pair_[neighbour] = kNone;
    fresh->touched.clear();
    fresh->entries.clear();
  }
}

// --- Reading the result

Texts Merger::texts() const {
  Texts all;
  for (size_t i = symbols_.size() - merges_.size(); i < symbols_.size(); ++i)
    all.push_back(symbols_[i].text);
  return all;
}

std::vector<int64_t> Merger::counts() const {
  std::vector<int64_t> all;
  for (const Merge& merge : merges_) all.push_back(merge.count);
  return all;
}

std::pair<std::vector<uint32_t>, std::vector<uint32_t>> Merger::parts() const {
  std::pair<std::vector<uint32_t>, std::vector<uint32_t>> all;
  for (const Merge& merge : merges_) {
    all.first.push_back(merge.left);
    all.second.push_back(merge.right);
  }
  return all;
}

std::vector<int64_t> Merger::usage() const {
  std::vector<int64_t> uses(symbols_.size());
  for (size_t band = 0; band < sequences_.bands.size(); ++band)
    for (size_t i = sequences_.bands[band].start; i < sequences_.band_end(band); ++i)
      if (const uint32_t cell = sequences_.cells[i]; cell < kBack)
        uses[cell] += sequences_.bands[band].weight;
  return uses;
}

}  // namespace supratok
