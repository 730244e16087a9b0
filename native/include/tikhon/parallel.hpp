// Loops over threads whose results do not depend on the number of threads.
//
// The range [0, n) is cut into chunks of `grain`, whatever the number of threads; each chunk is
// handled whole by one thread. A body that writes only what belongs to its chunk, or one partial
// result for each chunk which the caller then combines in chunk order, is bitwise reproducible.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

#include "tikhon/matrix.hpp"

namespace tikhon {

namespace detail {

using ChunkFunction = void (*)(void* body, Index begin, Index end, int worker);

bool run_chunks(Index n, Index grain, int threads, ChunkFunction function, void* body,
                const std::atomic<bool>* stop);

}  // namespace detail

// How many threads a loop really uses: at least one, and no more than there are chunks.
int worker_count(Index n, Index grain, int threads) noexcept;

// Call `body(begin, end, worker)` once for every chunk, `worker` in [0, worker_count).
//
// The calling thread is one of the workers. When bodies throw, chunks not yet begun are dropped,
// the threads are joined, and of the exceptions caught that of the lowest chunk is rethrown. When
// `*stop` becomes true no further chunk is begun. Returns whether every chunk was run.
template <class Body>
bool parallel_for(Index n, Index grain, int threads, Body&& body,
                  const std::atomic<bool>* stop = nullptr) {
  using Plain = std::remove_reference_t<Body>;
  const auto call = [](void* context, Index begin, Index end, int worker) {
    (*static_cast<Plain*>(context))(begin, end, worker);
  };
  void* context = const_cast<void*>(static_cast<const void*>(std::addressof(body)));
  return detail::run_chunks(n, grain, threads, call, context, stop);
}

}  // namespace tikhon
