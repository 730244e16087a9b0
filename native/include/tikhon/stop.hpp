// A request to end a long computation early: asked for by another thread, or by the clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>

namespace tikhon {

// Kernels look at it between steps of some microseconds to milliseconds, return what they have, and
// say that it is unfinished.
class Stop {
 public:
  // `seconds` from now the time is up; infinity for never.
  explicit Stop(double seconds) : limited_(std::isfinite(seconds)) {
    if (limited_) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds));
    }
  }

  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }

  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

  bool late() const noexcept { return limited_ && Clock::now() >= deadline_; }

  bool now() const noexcept { return requested() || late(); }

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<bool> requested_{false};
  bool limited_;
  Clock::time_point deadline_{};
};

}  // namespace tikhon
