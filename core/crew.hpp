// Threads that share small pieces of work, thousands of times a second.
#pragma once

#include <mutex>
#include <optional>

#include "threads.hpp"

namespace supratok {

// They start with the first work. Between two works they spin for a moment, then sleep. The caller
// takes parts like the others, so it waits only for parts that others have begun.
class Crew {
 public:
  explicit Crew(size_t threads) : threads_(threads) {}  // the calling one is the first
  ~Crew() {
    stopping_ = true;
    state_ += kRound;
    state_.notify_all();
  }

  // Calls work(part) for every part below `parts`. The first exception goes up, after all ended.
  template <class Work>
  void run(size_t parts, Work work) {
    if (parts == 1 || threads_ == 1) {
      for (size_t part = 0; part < parts; ++part) work(part);
      return;
    }
    if (!helpers_) helpers_.emplace(threads_ - 1, [this] { serve(); });
    const std::function<void(size_t)> shared = std::ref(work);
    work_ = &shared;
    done_ = 0;
    state_ = (state_ / kRound + 1) * kRound + parts;
    state_.notify_all();
    for (uint64_t state; (state = state_) % kRound;) take(state);
    for (int turn = 0; done_ < parts; ++turn) pause(turn);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static constexpr uint64_t kRound = 1 << 16;  // above the number of parts that nobody has taken
  static constexpr int kSpins = 1000;

  static void pause(int turn) {
    if (turn % kSpins == kSpins - 1) return std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  void serve() noexcept {
    for (int turn = 0; !stopping_; ++turn) {
      const uint64_t state = state_;
      if (state % kRound) {
        take(state);
        turn = 0;
      } else if (turn < kSpins) {
        pause(0);
      } else {
        state_.wait(state);
      }
    }
  }

  // Works on one part, unless another thread has changed the state.
  void take(uint64_t state) noexcept {
    if (!state_.compare_exchange_strong(state, state - 1)) return;
    try {
      (*work_)(state % kRound - 1);
    } catch (...) {
      const std::lock_guard guard(lock_);
      failure_ = std::current_exception();
    }
    ++done_;
  }

  size_t threads_;
  std::atomic<uint64_t> state_{0};
  std::atomic<size_t> done_{0};  // parts
  std::atomic<bool> stopping_{false};
  const std::function<void(size_t)>* work_ = nullptr;
  std::mutex lock_;
  std::exception_ptr failure_;
  std::optional<Threads> helpers_;  // end first
};

}  // namespace supratok
