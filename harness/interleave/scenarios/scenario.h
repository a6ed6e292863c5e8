// What a protocol is checked with: a few threads, each with a short program of operations, from a
// certain start. The scenario classes are templates over a policy, so the same thread programs run
// in the model, on fibres and on threads.
//
// A scenario class has
//   explicit Scenario(const Plan&)   the set-up, which nothing runs beside
//   void run(int thread)             the thread's program
//   void finish()                    after all threads: the last invariants; frees what it made
// and the tables kName, kId, kOps, kShapes, kThreadsLeast, golden(threads), and what threads are
// interchangeable: those of one role(shape, thread), unless an operation is about a neighbour.
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

// More operations than this per thread give nothing new, only more schedules.
constexpr int kOpsMax = 8;

// One byte per operation: its place in the protocol's table.
struct Plan {
  uint8_t threads = 1;
  uint8_t shape = 0;  // the start: a place in the protocol's table
  uint8_t lengths[kThreadsMax]{};
  uint8_t ops[kThreadsMax][kOpsMax]{};

  bool operator==(const Plan&) const = default;

  // ThreadSanitizer need not watch what is constant while threads run: it was a tenth of its work.
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

// Up to Max objects that stay where they are. Unlike an array of optionals it costs nothing for
// those that are not there, and a scenario is constructed for each execution.
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

// A GIL: an interpreter's lock, which a thread may take again while it holds it. A thread that has
// an interpreter to itself holds that GIL all the time, and needs no operation to show it.
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
  // Each thread's own; an index for whoever finishes. Small: the memory of a scenario is made anew
  // for each execution.
  uint8_t depth_[kThreadsMax + 1]{};
};

// Names, for printed runs, the one atomic that a protocol's class consists of.
template <class P, class T, class Object>
void name_word(const Object& object, const char* name) {
  using Atomic = typename P::template atomic<T>;
  static_assert(std::is_standard_layout_v<Object> && sizeof(Object) == sizeof(Atomic),
                "only then is the object's address the address of its only member");
  P::name(reinterpret_cast<const Atomic&>(object), name);
}

constexpr int kFinisher = kThreadsMax;  // the number, in a Gil, of who finishes

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
