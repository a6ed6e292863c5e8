// The policy with which the protocol templates run in the model. It has the members of the
// production policy (atomic, var, mutex, condition, fence,
// check); the model performs every operation.
//
// An operation of an execution that is given up never returns, so the code under test should keep
// no heap memory in locals. Memory orders have no default: sequential consistency is not modelled.
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>

#include "harness/interleave/model/model_run.h"

namespace slotfuzz::interleave {

struct ModelPolicy {
  template <class T>
  static uint64_t bits_of(const T& value) {
    uint64_t bits = 0;
    if constexpr (sizeof(T) <= sizeof bits && std::is_trivially_copyable_v<T>) {
      std::memcpy(&bits, &value, sizeof value);
    }
    return bits;
  }

  template <class T>
  static T value_of(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  template <class T>
  class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
    static_assert(std::has_unique_object_representations_v<T>, "values are compared as bits");

   public:
    atomic() : atomic(T{}) {}
    explicit atomic(T value)
        : id_(Execution::current().construct(LocationKind::kAtomic, bits_of(value), sizeof(T),
                                             std::is_pointer_v<T>)) {}
    ~atomic() { Execution::current().destroy(id_); }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order order) const { return apply(Action::kLoad, order, 0); }
    void store(T value, std::memory_order order) { apply(Action::kStore, order, bits_of(value)); }
    T exchange(T value, std::memory_order order) {
      return apply(Action::kExchange, order, bits_of(value));
    }
    T fetch_add(T value, std::memory_order order) {
      return apply(Action::kAdd, order, bits_of(value));
    }
    T fetch_sub(T value, std::memory_order order) {
      return apply(Action::kSubtract, order, bits_of(value));
    }
    T fetch_or(T value, std::memory_order order) {
      return apply(Action::kOr, order, bits_of(value));
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) {
      const Model::Outcome outcome = Execution::current().operate(
          {Action::kCompareExchange, success, failure, id_, bits_of(desired), bits_of(expected)});
      if (!outcome.exchanged) expected = value_of<T>(outcome.value);
      return outcome.exchanged;
    }
    // A spurious failure is a failure that read the expected value. Callers loop, and a further
    // round of the loop only adds executions.
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) {
      return compare_exchange_strong(expected, desired, success, failure);
    }

    int16_t id() const { return id_; }

   private:
    T apply(Action action, std::memory_order order, uint64_t operand) const {
      return value_of<T>(Execution::current()
                             .operate({action, order, std::memory_order_relaxed, id_, operand, 0})
                             .value);
    }

    int16_t id_;
  };

  // Plain memory: each access is checked for races.
  template <class T>
  class var {
   public:
    var() : var(T{}) {}
    explicit var(T value)
        : value_(value),
          id_(Execution::current().construct(LocationKind::kPlain, 0, sizeof(T),
                                             std::is_pointer_v<T>)) {}
    ~var() { Execution::current().destroy(id_); }
    var(const var&) = delete;
    var& operator=(const var&) = delete;

    T load() const {
      Execution::current().plain_access(id_, false, bits_of(value_));
      return value_;
    }
    void store(T value) {
      Execution::current().plain_access(id_, true, bits_of(value));
      value_ = value;
    }

    int16_t id() const { return id_; }

   private:
    T value_;
    int16_t id_;
  };

  class mutex {
   public:
    mutex() : id_(Execution::current().construct(LocationKind::kMutex, 0, 1, false)) {}
    ~mutex() { Execution::current().destroy(id_); }
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    void lock() { apply(Action::kLock); }
    void unlock() { apply(Action::kUnlock); }

    int16_t id() const { return id_; }

   private:
    void apply(Action action) {
      Execution::current().operate(
          {action, std::memory_order_relaxed, std::memory_order_relaxed, id_, 0, 0});
    }

    int16_t id_;
  };

  // See Note [Waiting for a condition].
  class condition {
   public:
    condition() : id_(Execution::current().construct(LocationKind::kCondition, 0, 8, false)) {}
    ~condition() { Execution::current().destroy(id_); }
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;

    void wait(mutex& held) {
      const bool waits = apply(Action::kWait).exchanged;
      held.unlock();
      if (waits) apply(Action::kWake);
      held.lock();
    }
    void notify_one() { apply(Action::kNotifyOne); }
    void notify_all() { apply(Action::kNotifyAll); }

    int16_t id() const { return id_; }

   private:
    Model::Outcome apply(Action action) {
      return Execution::current().operate(
          {action, std::memory_order_relaxed, std::memory_order_relaxed, id_, 0, 0});
    }

    int16_t id_;
  };

  static void fence(std::memory_order order) { Execution::current().fence(order); }
  static void check(bool holds, const char* contract, const char* what) {
    Execution::current().check(holds, contract, what);
  }
  // The thread starts this line of its program, from 1: for printed runs.
  static void begin_line(int line) { Execution::current().begin_line(line); }

  // For printed runs.
  template <class Object>
  static void name(const Object& object, const char* name) {
    Execution::current().name(object.id(), name);
  }
  // An object in memory that lives as long as the execution: the model reports a use after
  // destroy() as a failure, and the use does not crash.
  template <class T, class... Arguments>
  static T* make(Arguments&&... arguments) {
    return new (Execution::current().allocate(sizeof(T), alignof(T)))
        T(std::forward<Arguments>(arguments)...);
  }
  template <class T>
  static void destroy(T* object) {
    object->~T();
  }
};

}  // namespace slotfuzz::interleave
