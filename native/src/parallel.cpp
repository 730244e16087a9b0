#include "tikhon/parallel.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tikhon {
namespace {

// What the workers share: the next chunk to begin, and the first thing that went wrong.
class Loop {
 public:
  Loop(Index n, Index grain, detail::ChunkFunction function, void* body,
       const std::atomic<bool>* stop)
      : n_(n),
        grain_(grain),
        chunks_(ceil_div(n, grain)),
        function_(function),
        body_(body),
        stop_(stop) {}

  void work(int worker) noexcept {
    while (!failed_.load(std::memory_order_relaxed) && !stopped()) {
      const Index chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks_) {
        return;
      }
      try {
        const Index begin = chunk * grain_;
        function_(body_, begin, std::min(begin + grain_, n_), worker);
        done_.fetch_add(1, std::memory_order_relaxed);
      } catch (...) {
        fail(chunk, std::current_exception());
      }
    }
  }

  // After every worker has been joined.
  bool finish() {
    if (error_) {
      std::rethrow_exception(error_);
    }
    return done_.load(std::memory_order_relaxed) == chunks_;
  }

 private:
  bool stopped() const noexcept {
    return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  }

  void fail(Index chunk, std::exception_ptr error) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_ || chunk < failed_chunk_) {
      error_ = std::move(error);
      failed_chunk_ = chunk;
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const Index n_;
  const Index grain_;
  const Index chunks_;
  const detail::ChunkFunction function_;
  void* const body_;
  const std::atomic<bool>* const stop_;
  std::atomic<Index> next_{0};
  std::atomic<Index> done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  Index failed_chunk_ = 0;
};

// Joins in the destructor, so that no path leaves a thread running.
class Crew {
 public:
  Crew(Loop& loop, int helpers) {
    threads_.reserve(static_cast<std::size_t>(helpers));
    for (int worker = 1; worker <= helpers; ++worker) {
      try {
        threads_.emplace_back([&loop, worker] { loop.work(worker); });
      } catch (const std::system_error&) {
        break;  // The system gives no more threads: those at hand share the same chunks.
      }
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

int worker_count(Index n, Index grain, int threads) noexcept {
  const Index chunks = ceil_div(std::max<Index>(n, 0), std::max<Index>(grain, 1));
  return static_cast<int>(std::max<Index>(1, std::min<Index>(threads, chunks)));
}

bool detail::run_chunks(Index n, Index grain, int threads, ChunkFunction function, void* body,
                        const std::atomic<bool>* stop) {
  n = std::max<Index>(n, 0);
  grain = std::max<Index>(grain, 1);
  Loop loop(n, grain, function, body, stop);
  {
    const Crew crew(loop, worker_count(n, grain, threads) - 1);
    loop.work(0);
  }
  return loop.finish();
}

}  // namespace tikhon
