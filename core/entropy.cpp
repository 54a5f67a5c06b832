#include "entropy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "text.hpp"

namespace supratok {
namespace {

constexpr uint32_t kAscii = 0x80;
constexpr size_t kLeastSlots = 1 << 6;
constexpr size_t kFirstSlots = 1 << 14;  // a text starts with so many at most
constexpr size_t kKeptSlots = 1 << 20;   // what a huge text needed beyond is given back
constexpr uint64_t kSmall = 1 << 10;     // counts below have a place of their own

// count * log2(count), for `times` pairs. Invariant: the same operations in the same order as the
// plain twin in tests/test_curate.py, so that both agree to the last bit.
double weighted_log(uint64_t times, uint64_t count) {
  return static_cast<double>(times * count) * std::log2(static_cast<double>(count));
}

}  // namespace

BigramCounter::BigramCounter()
    : ascii_(kAscii * kAscii),
      ascii_seen_(kAscii * kAscii + 1),
      others_(kFirstSlots),
      others_seen_(kFirstSlots / 2),
      small_(kSmall) {}

double BigramCounter::entropy(std::string_view text) {
  try {
    count(text);
  } catch (...) {  // no memory: what was counted must not reach the next text
    *this = BigramCounter();
    throw;
  }
  uint64_t pairs = 0;
  for (size_t i = 0; i < ascii_size_; ++i) {
    uint64_t& seen = ascii_[ascii_seen_[i]];
    pairs += seen;
    tally(seen);
    seen = 0;
  }
  ascii_size_ = 0;
  for (size_t i = 0; i < others_size_; ++i) {
    uint64_t& seen = others_[others_seen_[i]].count;
    pairs += seen;
    tally(seen);
    seen = 0;
  }
  others_size_ = 0;
  if (others_.size() > kKeptSlots) {
    others_ = LargeVector<Slot>(kFirstSlots);
    others_seen_ = std::vector<size_t>(kFirstSlots / 2);
  }
  if (pairs == 0) return 0.0;
  // H = log2(N) - sum(c * log2(c)) / N, over one fraction: a single pair repeated is exactly 0.
  const double whole = weighted_log(1, pairs);
  return (whole - sum_of_tallies()) / static_cast<double>(pairs);
}

void BigramCounter::count(std::string_view text) {
  if (text.empty()) return;
  mask_ = std::bit_ceil(std::clamp(text.size(), kLeastSlots, kFirstSlots)) - 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  uint32_t left = decode_char(at);
  at += char_bytes(*at);
  while (at < end) {
    const auto lead = static_cast<unsigned char>(*at);
    if (lead < kAscii && left < kAscii) {  // most of many texts
      count_ascii(left * kAscii + lead);
      left = lead;
      ++at;
      continue;
    }
    const uint32_t right = decode_char(at);
    count_other(left, right);
    left = right;
    at += char_bytes(lead);
  }
}

// Without a branch: whether a pair is new is hard to guess in a short text.
inline void BigramCounter::count_ascii(uint32_t pair) {
  ascii_seen_[ascii_size_] = static_cast<uint16_t>(pair);
  ascii_size_ += ascii_[pair]++ == 0;
}

inline void BigramCounter::count_other(uint32_t left, uint32_t right) {
  const uint64_t pair = static_cast<uint64_t>(left) << 32 | right;
  const size_t place = find(pair);
  others_[place].pair = pair;
  others_seen_[others_size_] = place;
  others_size_ += others_[place].count++ == 0;
  if (others_size_ * 2 > mask_) grow();
}

// The slot of a pair, or the free one where it belongs.
inline size_t BigramCounter::find(uint64_t pair) const {
  size_t place = mix(pair) & mask_;
  while (others_[place].count > 0 && others_[place].pair != pair) place = (place + 1) & mask_;
  return place;
}

// Twice the slots; every pair finds its new one. Invariant: at most half of them are taken.
void BigramCounter::grow() {
  LargeVector<Slot> rows(others_size_);
  for (size_t i = 0; i < others_size_; ++i)
    rows[i] = std::exchange(others_[others_seen_[i]], Slot{});
  mask_ = mask_ * 2 + 1;
  if (others_.size() <= mask_) {
    others_.resize(mask_ + 1);
    others_seen_.resize(others_.size() / 2);
  }
  for (size_t i = 0; i < others_size_; ++i) {
    others_seen_[i] = find(rows[i].pair);
    others_[others_seen_[i]] = rows[i];
  }
}

inline void BigramCounter::tally(uint64_t count) {
  if (count >= kSmall) return large_.push_back(count);
  ++small_[count];
  most_ = std::max(most_, count);
}

// The sum of c * log2(c) over all pairs, by rising c: no order of a table reaches the result.
double BigramCounter::sum_of_tallies() {
  double sum = 0.0;
  for (uint64_t count = 1; count <= most_; ++count) {
    if (small_[count] == 0) continue;
    sum += weighted_log(small_[count], count);
    small_[count] = 0;
  }
  std::sort(large_.begin(), large_.end());
  for (auto at = large_.begin(); at != large_.end();) {
    const auto next = std::upper_bound(at, large_.end(), *at);
    sum += weighted_log(static_cast<uint64_t>(next - at), *at);
    at = next;
  }
  large_.clear();
  most_ = 0;
  return sum;
}

}  // namespace supratok
