// The policy under which protocol templates run as real code: std::atomic and plain memory, as
// compiled, with a hook before each operation. Points says what the hook does:
//   static void before()                         another thread may run here
//   static void after(what, location, value)     for a printed run
//   class Mutex                                  lock(), unlock()
//   class Condition                              wait(Mutex&), notify_one(), notify_all()
//   static void begin_line(int)                  the thread starts this line of its program
//   static void fail(contract, what)             an invariant does not hold
//   static void made(void*) / bool unmake(void*) an object on the heap
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace slotfuzz::interleave {

template <class Points>
struct RealPolicy {
  template <class T>
  class atomic {
   public:
    atomic() noexcept : value_(T{}) {}
    explicit atomic(T value) noexcept : value_(value) {}

    T load(std::memory_order order) const {
      Points::before();
      return reported("load", value_.load(order));
    }
    void store(T value, std::memory_order order) {
      Points::before();
      value_.store(value, order);
      reported("store", value);
    }
    T exchange(T value, std::memory_order order) {
      Points::before();
      return reported("exchange", value_.exchange(value, order));
    }
    T fetch_add(T value, std::memory_order order) {
      Points::before();
      return reported("fetch_add", value_.fetch_add(value, order));
    }
    T fetch_sub(T value, std::memory_order order) {
      Points::before();
      return reported("fetch_sub", value_.fetch_sub(value, order));
    }
    T fetch_or(T value, std::memory_order order) {
      Points::before();
      return reported("fetch_or", value_.fetch_or(value, order));
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) {
      Points::before();
      const bool exchanged = value_.compare_exchange_strong(expected, desired, success, failure);
      reported(exchanged ? "compare_exchange" : "compare_exchange, failed", expected);
      return exchanged;
    }
    // No spurious failures, so that the same schedule does the same on every machine.
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) {
      return compare_exchange_strong(expected, desired, success, failure);
    }

   private:
    T reported(const char* what, T value) const {
      uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      Points::after(what, this, bits);
      return value;
    }

    std::atomic<T> value_;
  };

  // Plain memory, as compiled: a bare T.
  template <class T>
  class var {
   public:
    var() noexcept = default;
    explicit var(T value) noexcept : value_(value) {}
    T load() const noexcept { return value_; }
    void store(T value) noexcept { value_ = value; }

   private:
    T value_{};
  };

  using mutex = typename Points::Mutex;
  using condition = typename Points::Condition;

  static void begin_line(int line) { Points::begin_line(line); }
  static void fence(std::memory_order order) { std::atomic_thread_fence(order); }
  static void check(bool holds, const char* contract, const char* what) {
    if (!holds) [[unlikely]]
      Points::fail(contract, what);
  }

  // As in the model's policy.
  template <class T, class... Arguments>
  static T* make(Arguments&&... arguments) {
    void* memory = ::operator new(sizeof(T));
    Points::made(memory);
    return new (memory) T(std::forward<Arguments>(arguments)...);
  }
  template <class T>
  static void destroy(T* object) {
    if (!Points::unmake(object)) return Points::fail("", "an object was freed twice");
    object->~T();
    ::operator delete(object);
  }
  template <class Object>
  static void name(const Object& object, const char* name) {
    Points::name(&object, name);
  }
};

}  // namespace slotfuzz::interleave
