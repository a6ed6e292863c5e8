// An impl, its wrapper, and owners on several threads under the refcount-bit protocol: strong and
// weak references, weak locks, wrapping, releasing, and shares of the data. One interpreter.
//
// This file says what a thread may do and what it owns. counted_impl.h says what follows for the
// impl and its wrapper.
#pragma once

#include <array>

#include "harness/interleave/scenarios/counted_impl.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class CountsScenario {
 public:
  static constexpr const char* kName = "counts";
  static constexpr const char* kSentence = "owners, weak locks and the wrapper's bit (P1-P4, P7)";
  static constexpr uint8_t kId = 0xe1;
  static constexpr int kThreadsLeast = 2;
  static constexpr Named kOps[] = {
      {"lock", "lock the weak reference: get a strong one"},
      {"decref", "release a strong reference"},
      {"weak_drop", "release the weak reference"},
      {"unwrap", "release a Python reference"},
      {"incref", "take another strong reference"},
      {"wrap", "take a Python reference: to the slot's wrapper, or a new one"},
      {"unique", "destroy the impl if the strong reference is the only one"},
      {"expired", "ask whether the impl has expired"},
      {"use", "read the objects that the references keep alive"},
      {"share", "share the data"},
      {"unshare", "release the share"},
      {"release", "release a strong reference, in two steps if it is the last"},
      {"own", "take a strong reference through the Python one"},
      {"adopt", "lent: give the strong reference to a new wrapper"},
      {"borrow", "lent: take a strong reference through thread 0's reference"},
  };
  static constexpr Named kShapes[] = {
      {"locks", "thread 0 has the wrapper's last Python reference, the others a weak one"},
      {"owners", "each thread has a strong and a weak reference; no wrapper yet"},
      {"wrapped", "each thread has a Python, a strong and a weak reference"},
      {"mixed", "thread 0 has a Python, thread 1 a strong reference, all have a weak one"},
      {"bare", "as owners, and there is never a wrapper"},
      {"lent",
       "thread 0 has a strong reference, and keeps it or its wrapper; the others a weak one"},
  };

  // Weak locks against the death of the wrapper: 8, 1,386, 5,853,918 execution graphs for 1 to 3.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    plan.add(0, kUnwrap);
    for (int thread = 1; thread < threads; ++thread) {
      for (int op : {kLock, kDecref, kWeakDrop}) plan.add(thread, op);
    }
    return plan;
  }

  static int role(int shape, int thread) {
    const int different = shape == kLocks ? 1 : shape == kMixed ? 2 : 0;
    return shape == kLent ? std::min(thread, 1) : std::min(thread, different);
  }
  static bool concerns_neighbour(int) { return false; }

  explicit CountsScenario(const Plan& plan) : plan_(plan), impl_(plan.shape == kLocks) {
    for (int thread = 0; thread < plan.threads; ++thread) {
      for (int i = 0; i < plan.length(thread); ++i) {
        const int op = plan.op(thread, i);
        if (op == kShare) impl_.make_block();
      }
    }
    const auto shape = static_cast<Shape>(plan.shape);
    // The impl starts with one strong reference: the wrapper's, or the first thread's.
    const bool wrapped = shape == kLocks || shape == kWrapped || shape == kMixed;
    if (wrapped) impl_.make_wrapper(kFinisher);
    for (int thread = 0; thread < plan.threads; ++thread) {
      Held& held = held_[thread];
      held.strong = shape == kOwners || shape == kBare || shape == kWrapped ||
                    (shape == kMixed && thread == 1) || (shape == kLent && thread == 0);
      held.weak = shape != kLocks || thread != 0;
      held.python = shape == kWrapped || (wrapped && thread == 0);
      if (held.weak) impl_.count().weak_incref();
      if (held.strong && (wrapped || thread != 0)) impl_.take(kFinisher);
      if (held.python && thread != 0)
        impl_.wrapper()->references.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      step(thread, plan_.op(thread, i));
    }
  }

  void finish() {
    int strong = 0;
    int python = 0;
    for (int thread = 0; thread < plan_.threads; ++thread) {
      strong += held_[thread].strong;
      python += held_[thread].python;
    }
    if (!impl_.has_expired()) check_balance(strong, python);
    P::check(!impl_.has_expired() || strong + python == 0, "P7", "what is owned has not expired");
    for (int thread = 0; thread < plan_.threads; ++thread) {
      Held& held = held_[thread];
      for (; held.strong > 0; --held.strong) impl_.release(kFinisher);
      for (; held.python > 0; --held.python) impl_.drop_python(kFinisher);
      if (held.weak) weak_drop(thread);
      if (held.share) unshare(thread);
    }
    impl_.check_freed();
  }

 private:
  enum Op {
    kLock,
    kDecref,
    kWeakDrop,
    kUnwrap,
    kIncref,
    kWrap,
    kUnique,
    kExpired,
    kUse,
    kShare,
    kUnshare,
    kRelease,
    kOwn,
    kAdopt,
    kBorrow,
  };
  enum Shape { kLocks, kOwners, kWrapped, kMixed, kBare, kLent };
  using Block = typename CountedObjects<P>::Block;
  // What a thread owns. Other threads do not touch it until the end.
  struct Held {
    int strong = 0;
    int python = 0;
    bool weak = false;
    Block* share = nullptr;
    bool expired = false;
    bool lock_failed = false;
  };

  void step(int thread, int op) {
    Held& held = held_[thread];
    switch (static_cast<Op>(op)) {
      case kLock: return held.weak ? lock(thread) : void();
      case kDecref:
        return held.strong > 0 && may_drop_strong(thread) ? drop_strong(thread) : void();
      case kWeakDrop: return held.weak ? weak_drop(thread) : void();
      case kUnwrap: return held.python > 0 && may_drop_python(thread) ? unwrap(thread) : void();
      case kIncref: return held.strong > 0 ? incref(thread) : void();
      case kWrap: return held.strong > 0 && may_wrap(thread) ? wrap(thread) : void();
      case kUnique: return held.strong > 0 && may_drop_strong(thread) ? unique(thread) : void();
      case kExpired: return held.weak ? expired(thread) : void();
      case kUse: return use(thread);
      case kShare: return held.strong > 0 && held.share == nullptr ? share(thread) : void();
      case kUnshare: return held.share != nullptr ? unshare(thread) : void();
      case kRelease: return held.strong > 0 ? release_in_steps(thread) : void();
      case kOwn: return held.python > 0 ? incref(thread) : void();
      case kAdopt: return may_adopt(thread) ? adopt(thread) : void();
      case kBorrow: return plan_.shape == kLent && thread > 0 ? incref(thread) : void();
    }
  }

  void lock(int thread) {
    Held& held = held_[thread];
    if (!impl_.count().lock(impl_.reach(thread))) {
      held.lock_failed = true;
      return;
    }
    P::check(!held.expired && !held.lock_failed, "P4", "what has expired stays expired");
    ++held.strong;
    impl_.use_resources();
  }
  void drop_strong(int thread) {
    --held_[thread].strong;
    impl_.release(thread);
  }
  void weak_drop(int thread) {
    held_[thread].weak = false;
    impl_.weak_drop();
  }
  void unwrap(int thread) {
    --held_[thread].python;
    impl_.drop_python(thread);
  }
  void incref(int thread) {
    ++held_[thread].strong;
    impl_.take(thread);
  }
  void wrap(int thread) {
    HoldsGil<P> gil(impl_.gil(), thread);
    ++held_[thread].python;
    if (impl_.slot().pointer() != 0) {
      const uint32_t before = impl_.wrapper()->references.fetch_add(1, std::memory_order_relaxed);
      return P::check(before > 0, "P1", "the wrapper in the slot of a live impl lives");
    }
    P::check(!impl_.count().incref(), "", "without a wrapper no reference of one is due");
    impl_.make_wrapper(thread);
  }
  void unique(int thread) {
    if (!impl_.count().expire_if_unique()) return;
    --held_[thread].strong;
    impl_.expire();
  }
  void expired(int thread) {
    const bool now = impl_.count().strong() == 0;
    P::check(now || !held_[thread].expired, "P4", "expired never goes back");
    held_[thread].expired = now;
  }
  void use(int thread) {
    const Held& held = held_[thread];
    if (held.strong > 0) impl_.use_resources();
    if (held.share != nullptr) P::check(held.share->data.load() == 1, "", "shared data is whole");
    if (held.python == 0) return;
    HoldsGil<P> gil(impl_.gil(), thread);
    P::check(impl_.wrapper()->body.load() == 1, "P2", "a wrapper that is referred to is whole");
  }
  void share(int thread) { held_[thread].share = impl_.share_block(); }
  void unshare(int thread) {
    impl_.drop_share(held_[thread].share);
    held_[thread].share = nullptr;
  }
  // The release of the resurrection protocol, which has no bit.
  void release_in_steps(int thread) {
    if (plan_.shape != kBare) return;
    --held_[thread].strong;
    if (!impl_.count().decref_unless_last()) impl_.release(thread);
  }

  // As for a fresh storage: no other thread can wrap, so none reads the slot before. Borrowers find
  // the wrapper through the bit alone; nothing else publishes it.
  bool may_adopt(int thread) const {
    return plan_.shape == kLent && thread == 0 && !impl_.had_wrapper() && held_[0].strong > 0;
  }
  void adopt(int thread) {
    HoldsGil<P> gil(impl_.gil(), thread);
    --held_[thread].strong;
    ++held_[thread].python;
    impl_.make_wrapper(thread);
  }

  // A reference that other threads borrow from must not be released: the strong reference, then the
  // Python reference of the wrapper that adopted it. Exchanging that one for a strong reference
  // would be wrong: a borrower that has counted 1 to 2 has not yet taken the wrapper's reference
  // that this count promises.
  bool may_drop_strong(int thread) const {
    const Held& held = held_[thread];
    return plan_.shape != kLent || thread > 0 || held.strong > 1 || held.python > 0;
  }
  bool may_drop_python(int thread) const {
    return plan_.shape != kLent || thread > 0 || held_[thread].python > 1;
  }
  // A borrower does not wrap.
  bool may_wrap(int thread) const {
    return plan_.shape != kBare && (plan_.shape != kLent || thread == 0);
  }

  // No thread is inside an operation.
  void check_balance(int strong, int python) {
    const bool wrapped = impl_.slot().pointer() != 0;
    P::check(impl_.count().has_pyobject() == wrapped, "", "the bit is set with the wrapper");
    P::check(impl_.count().strong() == static_cast<uint32_t>(strong + wrapped), "P7",
             "the strong count is what the references add up to");
    if (!wrapped) return P::check(python == 0, "P2", "a wrapper that is referred to lives");
    P::check(impl_.wrapper()->references.load(std::memory_order_relaxed) ==
                 static_cast<uint32_t>(python + (strong > 0)),
             "", "the impl has one reference of its wrapper exactly while it has owners");
  }

  const Plan& plan_;
  CountedImpl<P> impl_;
  std::array<Held, kThreadsMax> held_{};
};

}  // namespace slotfuzz::interleave
