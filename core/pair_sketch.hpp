// A bound for the count of every pair of neighbours, in a fixed amount of memory: pairs share
// counters by hash, so a bound may be too high but never too low.
#pragma once

#include <atomic>

#include "flat_map.hpp"
#include "memory.hpp"

namespace supratok {

class PairSketch {
 public:
  explicit PairSketch(int bits) : shift_(64 - bits), counters_(size_t{1} << bits) {}
  PairSketch(const PairSketch&) = delete;
  uint32_t bound(uint64_t left, uint64_t right) const { return at(place(left, right)); }
  // The same in steps, so that the counter can be fetched some pairs ahead.
  size_t place(uint64_t left, uint64_t right) const {
    return mix(left * 0x9e3779b97f4a7c15ull ^ right) >> shift_;
  }
  void prefetch(size_t place) const { __builtin_prefetch(&counters_[place]); }
  uint32_t at(size_t place) const { return value(counters_[place]); }

  // How many counters have reached `count`.
  size_t at_least(uint32_t count) const {
    return static_cast<size_t>(
        std::count_if(counters_.begin(), counters_.end(),
                      [&](const auto& counter) { return value(counter) >= count; }));
  }

  // All counters, and the sum with those of another sketch of this size.
  Numbers counters() const {
    Numbers values(counters_.size());
    std::transform(counters_.begin(), counters_.end(), values.begin(), value);
    return values;
  }
  void add(const uint32_t* values, size_t size) {
    if (size != counters_.size())
      throw std::invalid_argument("sketches of pairs with " + std::to_string(size) + " and " +
                                  std::to_string(counters_.size()) + " counters do not add up");
    for (size_t i = 0; i < size; ++i)
      counters_[i] = static_cast<uint32_t>(
          std::min<uint64_t>(uint64_t{value(counters_[i])} + values[i], kMost));
  }

  // Counts pairs, for one thread. The sketch is far larger than a cache, so counters are fetched
  // some pairs ahead.
  class Adder {
   public:
    explicit Adder(PairSketch& sketch) : sketch_(sketch) {}
    ~Adder() {
      for (size_t i = 0; i < std::min(seen_, kAhead); ++i) sketch_.count(waiting_[i]);
    }
    void add(uint64_t left, uint64_t right) {
      size_t& place = waiting_[seen_ % kAhead];
      if (seen_++ >= kAhead) sketch_.count(place);
      place = sketch_.place(left, right);
      __builtin_prefetch(&sketch_.counters_[place], 1);
    }

   private:
    static constexpr size_t kAhead = 16;
    PairSketch& sketch_;
    std::array<size_t, kAhead> waiting_;
    size_t seen_ = 0;
  };

 private:
  void count(size_t place) {
    std::atomic<uint32_t>& counter = counters_[place];
    if (counter.load(std::memory_order_relaxed) < kMost)
      counter.fetch_add(1, std::memory_order_relaxed);
  }
  // A counter stops at kMost. Threads racing past the check in `count` may add a few more, which
  // cannot wrap it and which nobody sees: so sums do not depend on their order.
  static constexpr uint32_t kMost = 0xf0000000u;
  static uint32_t value(const std::atomic<uint32_t>& counter) {
    return std::min(counter.load(std::memory_order_relaxed), kMost);
  }

  int shift_;
  LargeVector<std::atomic<uint32_t>> counters_;
};

}  // namespace supratok
