// std::yielding_atomic: std::atomic, but before each access another thread of the schedule may run.
// headers.h makes the headers of an installed libtorch use it instead of std::atomic. It has the
// size and the members of std::atomic, so code that was compiled with one works on the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <type_traits>

#include "harness/interleave/fibre/schedule.h"

namespace slotfuzz::c10_subject {

// Not while an exception passes, because all fibres share the C++ runtime's record of exceptions.
inline void before_access() {
  if (std::uncaught_exceptions() == 0) [[likely]]
    interleave::FibreScheduler::yield();
}

// Prints each access of a run at once, because a run that crashes never gets to print.
struct Explained {
  static inline bool on = false;

  template <class T>
  static void access(const char* operation, std::memory_order order, const void* location,
                     const char* verb, T value) {
    static constexpr const char* kOrders[] = {"relaxed", "consume", "acquire",
                                              "release", "acq_rel", "seq_cst"};
    if (!on || interleave::FibreScheduler::thread() < 0) [[likely]]
      return;
    uint64_t number;
    if constexpr (std::is_pointer_v<T>) {
      number = reinterpret_cast<uintptr_t>(value);
    } else {
      number = static_cast<uint64_t>(value);
    }
    std::fprintf(stderr, "  step: thread %d line %d %s %p %s %s %s %llx\n",
                 interleave::FibreScheduler::thread(), interleave::FibreScheduler::line(),
                 std::is_pointer_v<T> ? "pointer" : "number", location, operation,
                 kOrders[static_cast<int>(order)], verb, static_cast<unsigned long long>(number));
  }
};

}  // namespace slotfuzz::c10_subject

// In std because the headers write std::atomic, and a macro replaces only the last word.
namespace std {

template <class T>
class yielding_atomic : public atomic<T> {
 public:
  using Base = atomic<T>;
  static constexpr memory_order kStrict = memory_order_seq_cst;

  constexpr yielding_atomic() noexcept = default;
  constexpr yielding_atomic(T value) noexcept : Base(value) {}
  yielding_atomic(const yielding_atomic&) = delete;
  yielding_atomic& operator=(const yielding_atomic&) = delete;

  T load(memory_order order = kStrict) const noexcept {
    return reported("load", order, "sees", yielded().Base::load(order));
  }
  operator T() const noexcept { return load(); }
  void store(T value, memory_order order = kStrict) noexcept {
    yielded().Base::store(value, order);
    reported("store", order, "writes", value);
  }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }
  T exchange(T value, memory_order order = kStrict) noexcept {
    return reported("exchange", order, "sees", yielded().Base::exchange(value, order));
  }
  T fetch_add(auto value, memory_order order = kStrict) noexcept {
    return reported("add", order, "sees", yielded().Base::fetch_add(value, order));
  }
  T fetch_sub(auto value, memory_order order = kStrict) noexcept {
    return reported("subtract", order, "sees", yielded().Base::fetch_sub(value, order));
  }
  T operator++() noexcept { return fetch_add(1) + 1; }
  T operator++(int) noexcept { return fetch_add(1); }
  T operator--() noexcept { return fetch_sub(1) - 1; }
  T operator--(int) noexcept { return fetch_sub(1); }

  // The weak exchange never fails spuriously, so that a schedule does the same on every machine.
  bool compare_exchange_strong(T& expected, T desired, memory_order order = kStrict) noexcept {
    return told_swap(yielded().Base::compare_exchange_strong(expected, desired, order), order,
                     expected, desired);
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order success,
                               memory_order failure) noexcept {
    return told_swap(yielded().Base::compare_exchange_strong(expected, desired, success, failure),
                     success, expected, desired);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order order = kStrict) noexcept {
    return compare_exchange_strong(expected, desired, order);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order success,
                             memory_order failure) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  T reported(const char* operation, memory_order order, const char* verb, T value) const noexcept {
    slotfuzz::c10_subject::Explained::access(operation, order, this, verb, value);
    return value;
  }
  bool told_swap(bool done, memory_order order, const T& seen, T desired) const noexcept {
    reported("swap", order, done ? "writes" : "sees", done ? desired : seen);
    return done;
  }
  const yielding_atomic& yielded() const noexcept {
    slotfuzz::c10_subject::before_access();
    return *this;
  }
  yielding_atomic& yielded() noexcept {
    slotfuzz::c10_subject::before_access();
    return *this;
  }
};

static_assert(sizeof(yielding_atomic<void*>) == sizeof(atomic<void*>));
static_assert(sizeof(yielding_atomic<bool>) == sizeof(atomic<bool>));
static_assert(alignof(yielding_atomic<size_t>) == alignof(atomic<size_t>));

}  // namespace std
