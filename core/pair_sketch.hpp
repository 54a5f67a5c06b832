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
  uint32_t bound(uint64_t left, uint64_t right) const { return at(place(left, right)); }
  // The same in steps, so that the counter can be fetched some pairs ahead.
  size_t place(uint64_t left, uint64_t right) const {
    return mix(left * 0x9e3779b97f4a7c15ull ^ right) >> shift_;
  }
  void prefetch(size_t place) const { __builtin_prefetch(&counters_[place]); }
  uint32_t at(size_t place) const { return counters_[place].load(std::memory_order_relaxed); }

  // How many counters have reached `count`.
  size_t at_least(uint32_t count) const {
    return static_cast<size_t>(
        std::count_if(counters_.begin(), counters_.end(),
                      [&](const auto& counter) { return counter.load() >= count; }));
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
    // Stops well below the largest number, so that threads racing past this check cannot wrap it.
    if (counter.load(std::memory_order_relaxed) < 0xf0000000u)
      counter.fetch_add(1, std::memory_order_relaxed);
  }

  int shift_;
  LargeVector<std::atomic<uint32_t>> counters_;
};

}  // namespace supratok
