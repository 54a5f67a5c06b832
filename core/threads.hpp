// Work for several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <thread>

#include "text.hpp"

namespace supratok {

// Calls work(i) for every i below `items` on `threads` threads, of which the calling one is the
// first. An exception stops all of them and goes up.
template <class Work>
void in_parallel(size_t items, size_t threads, Work work) {
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    try {
      for (size_t i; (i = next.fetch_add(1)) < items;) work(i);
    } catch (...) {
      next = items;
      throw;
    }
  };
  std::vector<std::future<void>> helpers;
  for (size_t t = 1; t < std::min(threads, items); ++t)
    helpers.push_back(std::async(std::launch::async, loop));
  loop();
  for (std::future<void>& helper : helpers) helper.get();
}

// Threads that count documents while the caller reads on. The caller copies texts into portions of
// about a megabyte, and waits while too many portions are under way.
class Counting {
 public:
  Counting(std::function<void(const Texts&)> count, size_t threads) : count_(std::move(count)) {
    for (size_t t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }
  ~Counting() { stop(); }

  // Takes a text. True when the portion is full: then the caller must hand it over.
  bool add(std::string_view text) {
    portion_.sizes.push_back(text.size());
    if (portion_.text.empty()) portion_.text.reserve(kPortion * 5 / 4);
    portion_.text += text;
    return portion_.text.size() >= kPortion;
  }
  void hand_over() {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [this] { return queue_.size() <= threads_.size() || failure_; });
    queue_.push_back(std::exchange(portion_, {}));
    changed_.notify_all();
  }
  // Waits until all texts are counted, and throws the exception of a thread that failed.
  void finish() {
    hand_over();
    stop();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr size_t kPortion = 1 << 20;
  struct Portion {
    std::string text;
    std::vector<size_t> sizes;
  };

  void stop() {
    {
      const std::lock_guard lock(lock_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void work() {
    std::unique_lock lock(lock_);
    while (true) {
      changed_.wait(lock, [this] { return !queue_.empty() || stopping_; });
      if (queue_.empty()) return;
      const Portion portion = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      changed_.notify_all();
      std::exception_ptr failure;
      try {
        count(portion);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) failure_ = failure;
    }
  }

  void count(const Portion& portion) const {
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
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace supratok
