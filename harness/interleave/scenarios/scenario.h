// A scenario checks a protocol: a few threads, each with a short program of operations, from a
// given start. Scenario classes are templates over a policy, so the same thread programs run in the
// model, on fibres and on threads.
//
// A scenario class has
//   explicit Scenario(const Plan&)   the set-up, which runs alone
//   void run(int thread)             the thread's program
//   void finish()                    after all threads: the last invariants; frees what it made
// and the tables kName, kId, kOps, kShapes, kThreadsLeast, golden(threads) and role.
// Threads with the same role(shape, thread) are interchangeable, unless an operation refers to a
// neighbour.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/interleave/compiled/fibres_policy.h"
#include "harness/interleave/model/model_policy.h"
#include "harness/interleave/compiled/threads_policy.h"

namespace slotfuzz::interleave {

// More operations per thread only add schedules, and find nothing new.
constexpr int kOpsMax = 8;

// One byte per operation: its index in the protocol's table.
struct Plan {
  uint8_t threads = 1;
  uint8_t shape = 0;  // the start: an index in the protocol's table
  uint8_t lengths[kThreadsMax]{};
  uint8_t ops[kThreadsMax][kOpsMax]{};

  bool operator==(const Plan&) const = default;

  // ThreadSanitizer need not watch values that are constant while threads run: it took a tenth of
  // the time.
  [[clang::no_sanitize("thread")]] int length(int thread) const { return lengths[thread]; }
  [[clang::no_sanitize("thread")]] int op(int thread, int i) const { return ops[thread][i]; }

  void add(int thread, int op) { ops[thread][lengths[thread]++] = static_cast<uint8_t>(op); }
};

struct Named {
  const char* name;
  const char* sentence;
};

// A protocol with its scenario, without its types.
struct Protocol {
  const char* name;
  const char* sentence;
  uint8_t id;  // the first byte of a schedule in hexadecimal digits
  std::vector<Named> ops;
  std::vector<Named> shapes;
  int threads_least;
  Plan (*golden)(int threads);
  int (*role)(int shape, int thread);
  bool (*concerns_neighbour)(int op);

  using Make = std::unique_ptr<Program> (*)(const Plan&);
  Make in_model;
  Make on_fibres;
  Make on_threads;
};

template <template <class> class Scenario>
Protocol protocol_of() {
  using Any = Scenario<ModelPolicy>;
  return {Any::kName,
          Any::kSentence,
          Any::kId,
          {std::begin(Any::kOps), std::end(Any::kOps)},
          {std::begin(Any::kShapes), std::end(Any::kShapes)},
          Any::kThreadsLeast,
          &Any::golden,
          &Any::role,
          &Any::concerns_neighbour,
          [](const Plan& plan) -> std::unique_ptr<Program> {
            return std::make_unique<ProgramOf<Scenario<ModelPolicy>, Plan>>(plan.threads, plan);
          },
          [](const Plan& plan) -> std::unique_ptr<Program> {
            return std::make_unique<ProgramOf<Scenario<FibresPolicy>, Plan>>(plan.threads, plan);
          },
          [](const Plan& plan) -> std::unique_ptr<Program> {
            return std::make_unique<ProgramOf<Scenario<ThreadsPolicy>, Plan>>(plan.threads, plan);
          }};
}

// Up to Max objects that never move. Unlike an array of optionals, absent objects cost nothing, and
// a scenario is constructed for each execution.
template <class T, int Max>
class Row {
 public:
  Row() = default;
  ~Row() {
    while (count_ > 0) (*this)[--count_].~T();
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  template <class... Arguments>
  void add(Arguments&&... arguments) {
    new (places_ + sizeof(T) * count_) T(std::forward<Arguments>(arguments)...);
    ++count_;
  }
  T& operator[](int i) { return *std::launder(reinterpret_cast<T*>(places_ + sizeof(T) * i)); }
  int size() const { return count_; }

 private:
  alignas(T) std::byte places_[sizeof(T) * Max];
  int count_ = 0;
};

// A GIL: an interpreter's lock, which a thread may take again while it holds it. A thread that is
// alone in its interpreter holds that GIL all the time, and needs no operation for it.
template <class P>
class Gil {
 public:
  explicit Gil(bool always_held = false) : always_held_(always_held) {}

  [[clang::no_sanitize("thread")]] void lock(int thread) {
    if (always_held_ || depth_[thread]++ > 0) return;
    mutex_.lock();
  }
  [[clang::no_sanitize("thread")]] void unlock(int thread) {
    if (always_held_ || --depth_[thread] > 0) return;
    mutex_.unlock();
  }
  void set_always_held(bool held) { always_held_ = held; }

 private:
  typename P::mutex mutex_;
  bool always_held_;
  // One for each thread, and one for the thread that finishes. Small, because a scenario's memory
  // is allocated for each execution.
  uint8_t depth_[kThreadsMax + 1]{};
};

// Gives a name, for printed runs, to the one atomic that a protocol's class consists of.
template <class P, class T, class Object>
void name_word(const Object& object, const char* name) {
  using Atomic = typename P::template atomic<T>;
  static_assert(std::is_standard_layout_v<Object> && sizeof(Object) == sizeof(Atomic),
                "only then is the object's address the address of its only member");
  P::name(reinterpret_cast<const Atomic&>(object), name);
}

constexpr int kFinisher = kThreadsMax;  // the index, in a Gil, of the thread that finishes

template <class P>
class HoldsGil {
 public:
  HoldsGil(Gil<P>& gil, int thread) : gil_(gil), thread_(thread) { gil_.lock(thread_); }
  ~HoldsGil() { gil_.unlock(thread_); }
  HoldsGil(const HoldsGil&) = delete;
  HoldsGil& operator=(const HoldsGil&) = delete;

 private:
  Gil<P>& gil_;
  int thread_;
};

}  // namespace slotfuzz::interleave
