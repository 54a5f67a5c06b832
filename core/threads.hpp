// Work for several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <semaphore>
#include <system_error>
#include <thread>

#include "text.hpp"

namespace supratok {

// Up to `most` threads that call body(), which throws nothing: fewer where the system starts no
// more, maybe none. More than four a core never start.
class Threads {
 public:
  template <class Body>
  Threads(size_t most, Body body) {
    most = std::min<size_t>(most, 4 * std::max(1u, std::thread::hardware_concurrency()));
    try {
      threads_.reserve(most);
      while (threads_.size() < most) {
        ::operator delete(::operator new(1 << 22));  // there is memory for its variables
        threads_.emplace_back([this, body] {
          claim_variables();
          claimed_.release();
          begin_.acquire();
          body();
        });
        claimed_.acquire();  // nobody else takes that memory
      }
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    begin_.release(static_cast<std::ptrdiff_t>(threads_.size()));
  }
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  size_t size() const { return threads_.size(); }

 private:
  std::counting_semaphore<> claimed_{0}, begin_{0};
  std::vector<std::thread> threads_;
};

// Calls work(i) for every i below `items` on up to `threads` threads, of which the calling one is
// the first. That one also calls collect(), after each of its items and while it waits for the
// others. The first exception stops all of them and goes up.
template <class Work, class Collect>
void in_parallel(size_t items, size_t threads, Work work, Collect collect) {
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex lock;
  std::condition_variable changed;
  std::exception_ptr failure;
  size_t ended = 0;  // helpers
  const auto guarded = [&](auto act) noexcept {
    try {
      act();
    } catch (...) {
      const std::lock_guard guard(lock);
      if (!failure) failure = std::current_exception();
      next = items;
      stopped = true;
    }
  };
  const Watch check = [&stopped] {
    if (stopped) throw Stopped();
  };
  {
    const Threads helpers(std::clamp<size_t>(threads, 1, std::max<size_t>(items, 1)) - 1, [&] {
      const Watched watched(&check);
      guarded([&] {
        for (size_t i; (i = next++) < items;) work(i);
      });
      const std::lock_guard guard(lock);
      ++ended;
      changed.notify_one();
    });
    guarded([&] {
      for (size_t i; (i = next++) < items; collect()) work(i);
    });
    std::unique_lock guard(lock);
    while (!changed.wait_for(guard, kBreath, [&] { return ended == helpers.size(); })) {
      guard.unlock();
      guarded([&] { breathe(), collect(); });
      guard.lock();
    }
  }
  if (failure) std::rethrow_exception(failure);
  collect();
}

// Bytes that become texts on the thread that counts them.
struct Raw {
  virtual ~Raw() = default;
  virtual const Texts& texts() = 0;  // as long as it lives; asked for once
};

// Threads that count documents while the caller reads on. The caller copies texts into portions of
// about two megabytes, or hands over raw bytes, and waits while too many are under way.
class Counting {
 public:
  Counting(std::function<void(const Texts&)> count, size_t threads)
      : count_(std::move(count)), threads_(threads, [this] { work(); }) {}
  ~Counting() {
    const std::lock_guard guard(lock_);
    stopping_ = true;
    changed_.notify_all();
  }

  // Takes a text. True when the portion is full: then the caller must hand it over.
  bool add(std::string_view text) {
    portion_.sizes.push_back(text.size());
    if (portion_.text.empty()) portion_.text.reserve(kPortion * 5 / 4);
    portion_.text += text;
    return portion_.text.size() >= kPortion;
  }
  void hand_over() { hand_over(std::exchange(portion_, {})); }
  void hand_over(std::unique_ptr<Raw> raw) { hand_over({{}, {}, std::move(raw)}); }
  // Waits until all texts are counted.
  void finish() {
    hand_over();
    wait([this] { return queue_.empty() && busy_ == 0; });
  }
  // Throws the exception of a thread that failed.
  void check() {
    const std::lock_guard guard(lock_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr size_t kPortion = 1 << 21;
  struct Portion {
    std::string text;
    std::vector<size_t> sizes;
    std::unique_ptr<Raw> raw;  // instead of them
  };

  void hand_over(Portion portion) {
    breathe();
    if (threads_.size() == 0) {
      const Watched unwatched(nullptr);  // a signal's handler must not count in between
      return count(portion);
    }
    wait([this] { return queue_.size() <= threads_.size(); });
    const std::lock_guard guard(lock_);
    queue_.push_back(std::move(portion));
    changed_.notify_all();
  }

  // Throws the exception of a thread that failed.
  template <class Ready>
  void wait(Ready ready) {
    std::unique_lock guard(lock_);
    while (!changed_.wait_for(guard, kBreath, [&] { return failure_ || ready(); })) {
      guard.unlock();
      breathe();
      guard.lock();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  void work() {
    const Watch check = [this] {
      if (stopping_) throw Stopped();
    };
    const Watched watched(&check);
    std::unique_lock guard(lock_);
    while (true) {
      changed_.wait(guard, [this] { return !queue_.empty() || stopping_; });
      if (stopping_) return;
      std::optional<Portion> portion = std::move(queue_.front());
      queue_.pop_front();
      ++busy_;
      guard.unlock();
      changed_.notify_all();
      std::exception_ptr failure;
      try {
        count(*portion);
      } catch (...) {
        failure = std::current_exception();
      }
      portion.reset();
      guard.lock();
      --busy_;
      if (failure && !failure_) failure_ = failure;
      if (failure) stopping_ = true;
      if (failure) queue_.clear();  // who waits for raw bytes must not wait for ever
      changed_.notify_all();
    }
  }

  void count(const Portion& portion) const {
    if (portion.raw) return count_(portion.raw->texts());
    Texts documents;
    const char* start = portion.text.data();
    for (const size_t size : portion.sizes) {
      documents.push_back({start, size});
      start += size;
    }
    count_(documents);
  }

  std::function<void(const Texts&)> count_;
  Portion portion_;
  std::deque<Portion> queue_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  size_t busy_ = 0;  // threads
  std::atomic<bool> stopping_{false};
  Threads threads_;  // ends first
};

}  // namespace supratok
