// Strong and weak pointers for scenarios, over the counts of the core. A target is a class with a
// member `count`; expire() runs when the last strong pointer is dropped.
#pragma once

#include <utility>

#include "core/c10/impl/protocol/combined_count.h"

namespace slotfuzz::interleave {

template <class P>
using Count = slotcore::impl::protocol::CombinedCount<P>;

// These targets have no wrapper.
template <class P>
struct NoWrapper {
  void decref() { fail(); }
  bool try_incref() { return fail(), false; }
  static void fail() { P::check(false, "", "a target of this scenario has no wrapper"); }
};

template <class P, class T>
class Strong {
 public:
  Strong() = default;
  explicit Strong(T* taken) : target_(taken) {}
  Strong(const Strong& other) : target_(other.get()) {
    T* target = get();
    if (target != nullptr && target->count.incref()) NoWrapper<P>::fail();
  }
  Strong(Strong&& other) : target_(other.take()) {}
  ~Strong() { reset(); }
  // By value: the old target is dropped last.
  Strong& operator=(Strong other) {
    T* target = get();
    target_.store(other.get());
    other.target_.store(target);
    return *this;
  }

  void reset() {
    T* target = take();
    if (target == nullptr) return;
    if (target->count.decref() != Count<P>::Left::kNobody) return;
    target->expire();
    if (target->count.weak_decref()) P::destroy(target);
  }
  T* get() const { return target_.load(); }
  T* operator->() const { return get(); }
  explicit operator bool() const { return get() != nullptr; }
  bool operator==(const Strong& other) const { return get() == other.get(); }

 private:
  T* take() {
    T* target = get();
    if (target != nullptr) target_.store(nullptr);
    return target;
  }

  // Checked for races, as the pointers that threads share are.
  typename P::template var<T*> target_{nullptr};
};

template <class P, class T>
class Weak {
 public:
  Weak() = default;
  explicit Weak(const Strong<P, T>& strong) : Weak(strong.get()) {}
  Weak(const Weak& other) : Weak(other.get()) {}
  ~Weak() {
    T* target = get();
    if (target != nullptr && target->count.weak_decref()) P::destroy(target);
  }
  Weak& operator=(Weak other) {
    T* target = get();
    target_.store(other.get());
    other.target_.store(target);
    return *this;
  }

  Strong<P, T> lock() const {
    T* target = get();
    if (target == nullptr || !target->count.lock(NoWrapper<P>{})) return Strong<P, T>();
    return Strong<P, T>(target);
  }
  bool operator==(const Weak& other) const { return get() == other.get(); }

 private:
  explicit Weak(T* target) : target_(target) {
    if (target != nullptr) target->count.weak_incref();
  }
  T* get() const { return target_.load(); }

  typename P::template var<T*> target_{nullptr};
};

}  // namespace slotfuzz::interleave
