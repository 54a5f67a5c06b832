// Long work can be stopped: its loops breathe now and then, and whoever watches the thread may end
// the work there with an exception.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <utility>

namespace supratok {

using Watch = std::function<void()>;
inline thread_local const Watch* watch = nullptr;  // of this thread
constexpr std::chrono::milliseconds kBreath{50};   // Ctrl-C waits about so long

struct Watched {
  explicit Watched(const Watch* by) : before(std::exchange(watch, by)) {}
  ~Watched() { watch = before; }
  const Watch* before;
};

// Not inlined: a call is all that a loop should hold of it.
[[gnu::noinline, gnu::cold]] inline void breathe() {
  if (watch) (*watch)();
}
// For small steps of a loop, by their number.
inline void breathe(size_t step) {
  if (step % 8192 == 0) breathe();
}

template <class Rows, class Less>
void sort(Rows& rows, Less less) {
  size_t steps = 0;
  std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    breathe(++steps);
    return less(a, b);
  });
}

// Thrown in a thread whose work nobody needs any more.
struct Stopped : std::exception {};

// The C library makes room for a thread's variables, ours and those of exceptions, when it first
// meets them, or ends the process. So let it meet them while there is memory.
inline void claim_variables() {
  try {
    breathe();
    throw Stopped();
  } catch (const Stopped&) {
  }
}

}  // namespace supratok
