#include "bigrams.hpp"

#include <bit>
#include <cmath>

#include "threads.hpp"

namespace supratok {

Bigrams::Bigrams(const SharedCounts& words, const std::vector<uint8_t>& scripts) {
  for (const uint8_t script : scripts) scripts_[script] = true;
  words.each([&](std::string_view text, int64_t count) {
    if (!covers(text)) return;
    uint32_t before = ' ';
    each_char(text, [&](uint32_t code) {
      if (before != ' ') counts_.add(FlatCounts::pair(before, code), count);
      before = code;
    });
  });
}

std::pair<size_t, int64_t> Bigrams::below(int64_t count) const {
  std::pair<size_t, int64_t> total{0, 0};
  for (const FlatCounts::Entry& entry : counts_.entries()) {
    if (entry.count >= count) continue;
    ++total.first;
    total.second += entry.count;
  }
  return total;
}

namespace {

constexpr uint32_t kAscii = 0x80;
constexpr size_t kFewSlots = 1 << 6;
constexpr size_t kManySlots = 1 << 14;  // a text starts with so many at most
constexpr size_t kKept = 1 << 19;       // the memory for more pairs is given back after a huge text
constexpr int64_t kSmall = 1 << 10;     // counts below have a place of their own

// Counts the bigrams of one text after another. Pairs of ASCII characters have their own places,
// all others share a table. Invariant: between two texts every count is 0; `ascii_seen_` lists the
// others, so that a short text after a long one has little to clear.
class EntropyCounter {
 public:
  double entropy(std::string_view text) {
    count(text);
    int64_t pairs = 0;
    for (size_t i = 0; i < ascii_size_; ++i)
      pairs += tally(std::exchange(ascii_[ascii_seen_[i]], 0));
    ascii_size_ = 0;
    for (const FlatCounts::Entry& entry : others_.entries()) pairs += tally(entry.count);
    if (others_.entries().size() > kKept) others_ = FlatCounts();
    if (!others_.entries().empty()) others_.clear(kFewSlots);
    if (pairs == 0) return 0.0;
    // H = log2(N) - sum(c * log2(c)) / N, over one fraction: a single pair repeated is exactly 0.
    const double whole = weighted_log(1, pairs);
    return (whole - sum_of_tallies()) / static_cast<double>(pairs);
  }

 private:
  // count * log2(count), for `times` pairs. Invariant: the same operations in the same order as the
  // plain twin in tests/corpus/test_curate.py, so that both agree to the last bit.
  static double weighted_log(int64_t times, int64_t count) {
    return static_cast<double>(times * count) * std::log2(static_cast<double>(count));
  }

  void count(std::string_view text) {
    if (text.empty()) return;
    int64_t* const ascii = ascii_.data();
    uint16_t* seen = ascii_seen_.data();
    const char* at = text.data();
    const char* const end = at + text.size();
    uint32_t left = decode_char(at);
    at += char_bytes(*at);
    while (at < end) {
      const auto lead = static_cast<unsigned char>(*at);
      if (lead < kAscii && left < kAscii) {  // most of many texts
        // Without a branch: whether a pair is new is hard to predict in a short text.
        const uint32_t pair = left * kAscii + lead;
        *seen = static_cast<uint16_t>(pair);
        seen += ascii[pair]++ == 0;
        left = lead;
        ++at;
        continue;
      }
      if (others_.entries().empty())  // a short text uses few slots, which stay in the cache
        others_.clear(std::bit_ceil(std::clamp(text.size(), kFewSlots, kManySlots)));
      const uint32_t right = decode_char(at);
      others_.add(FlatCounts::pair(left, right), 1);
      left = right;
      at += char_bytes(lead);
    }
    ascii_size_ = static_cast<size_t>(seen - ascii_seen_.data());
  }

  int64_t tally(int64_t count) {
    if (count >= kSmall) {
      large_.push_back(count);
    } else {
      ++small_[count];
      most_ = std::max(most_, count);
    }
    return count;
  }

  // The sum of c * log2(c) over all pairs, by rising c: no order of a table reaches the result.
  double sum_of_tallies() {
    double sum = 0.0;
    for (int64_t count = 1; count <= most_; ++count)
      if (small_[count] > 0) sum += weighted_log(std::exchange(small_[count], 0), count);
    std::sort(large_.begin(), large_.end());
    for (auto at = large_.begin(); at != large_.end();) {
      const auto next = std::upper_bound(at, large_.end(), *at);
      sum += weighted_log(next - at, *at);
      at = next;
    }
    large_.clear();
    most_ = 0;
    return sum;
  }

  Counts ascii_ = Counts(kAscii * kAscii);
  std::vector<uint16_t> ascii_seen_ = std::vector<uint16_t>(kAscii * kAscii + 1);
  size_t ascii_size_ = 0;
  FlatCounts others_;
  // How many pairs were seen how often: a place for each small count, a list of the large ones.
  Counts small_ = Counts(kSmall);
  int64_t most_ = 0;  // of the small counts seen
  Counts large_;
};

}  // namespace

double bigram_entropy(std::string_view text) {
  // Making one costs more than counting a short text. Behind a pointer, for otherwise each access
  // would look up the thread's counter. If memory runs out, its counts must not reach the next
  // text.
  thread_local std::unique_ptr<EntropyCounter> kept;
  auto counter = kept ? std::move(kept) : std::make_unique<EntropyCounter>();
  const double bits = counter->entropy(text);
  kept = std::move(counter);
  return bits;
}

std::vector<double> bigram_entropies(const Texts& texts, size_t threads) {
  std::vector<double> bits(texts.size());
  in_parallel(
      texts.size(), threads, [&](size_t i) { breathe(i), bits[i] = bigram_entropy(texts[i]); },
      [] {});
  return bits;
}

}  // namespace supratok
