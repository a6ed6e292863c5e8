// The impl of the counts scenario with its wrapper: what each reference that is taken or released
// does to the other object, and when each dies.
//
// Here a wrapper is a Python reference count, a body, and a strong reference to its impl; a mutex
// is the GIL. See Note [The wrapper's bit].
#pragma once

#include "harness/interleave/scenarios/counted_objects.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class CountedImpl {
 public:
  using Count = slotcore::impl::protocol::CombinedCount<P>;
  using Slot = slotcore::impl::protocol::PyObjectWord<P>;
  using Wrapper = typename CountedObjects<P>::Wrapper;
  using Block = typename CountedObjects<P>::Block;
  using Impl = typename CountedObjects<P>::Impl;

  // How the counts reach the wrapper, as in refcount_bit.cc: each function takes the GIL.
  struct Reach {
    CountedImpl* of;
    int thread;

    void incref() {
      Wrapper* wrapper = of->wrapper();
      HoldsGil<P> gil(of->gil_, thread);
      const uint32_t before = wrapper->references.fetch_add(1, std::memory_order_relaxed);
      P::check(before > 0, "", "a wrapper that dies gets no new reference");
    }
    void decref() {
      Wrapper* wrapper = of->wrapper();
      HoldsGil<P> gil(of->gil_, thread);
      of->drop_reference(wrapper);
    }
    bool try_incref() {
      HoldsGil<P> gil(of->gil_, thread);
      auto* wrapper = reinterpret_cast<Wrapper*>(of->impl_->slot.pointer());
      if (wrapper == nullptr) return false;
      // Relaxed: under the GIL.
      uint32_t references = wrapper->references.load(std::memory_order_relaxed);
      while (references > 0) {
        if (wrapper->references.compare_exchange_weak(
                references, references + 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
          return true;
        }
      }
      return false;
    }
  };

  // The impl starts with one strong reference. A wrapper that dies releases its reference by
  // decref() if DECREFS_AT_DEATH, else by expire_if_unique().
  explicit CountedImpl(bool decrefs_at_death) : decrefs_at_death_(decrefs_at_death) {
    impl_ = P::template make<Impl>();
    name_word<P, uint64_t>(impl_->count, "count");
    name_word<P, uintptr_t>(impl_->slot, "slot");
  }

  Count& count() { return impl_->count; }
  Slot& slot() { return impl_->slot; }
  Gil<P>& gil() { return gil_; }
  Reach reach(int thread) { return {this, thread}; }
  bool has_expired() const { return expirations_ > 0; }
  bool had_wrapper() const { return births_ > 0; }

  // strong + 1 and strong - 1, with the consequences for the wrapper.
  void take(int thread) {
    if (impl_->count.incref()) reach(thread).incref();
  }
  void release(int thread) {
    switch (impl_->count.decref()) {
      case Count::Left::kOwners: return;
      case Count::Left::kWrapper: return reach(thread).decref();
      case Count::Left::kNobody: return expire();
    }
  }

  Wrapper* wrapper() {
    auto* wrapper = reinterpret_cast<Wrapper*>(impl_->slot.pointer());
    P::check(wrapper != nullptr, "", "the bit leads to a wrapper in the slot");
    return wrapper;
  }
  // The wrapper takes over a strong reference.
  void make_wrapper(int thread) {
    ++births_;
    Wrapper* made = P::template make<Wrapper>();
    P::name(made->references, "references");
    impl_->slot.set(reinterpret_cast<uintptr_t>(made));
    impl_->count.set_has_pyobject(reach(thread));
  }
  void drop_python(int thread) {
    HoldsGil<P> gil(gil_, thread);
    drop_reference(wrapper());
  }

  void expire() {
    ++expirations_;
    P::check(impl_->resources.load() == 1, "", "the resources die once");
    impl_->resources.store(0);
    if (impl_->block != nullptr) drop_share(impl_->block);
    if (impl_->count.weak_decref()) free_impl();
  }
  void weak_drop() {
    if (impl_->count.weak_decref()) free_impl();
  }
  void drop_share(Block* block) {
    if (!block->shares.drop()) return;
    P::check(block->data.load() == 1, "", "the data is deleted once");
    block->data.store(0);
    P::destroy(block);
  }
  void use_resources() {
    P::check(impl_->resources.load() == 1, "P7", "what an owner has is whole");
  }

  // The data that threads share. The impl has the first share.
  void make_block() {
    if (impl_->block == nullptr) impl_->block = P::template make<Block>();
  }
  // A new share; nullptr if there is no data.
  Block* share_block() {
    if (impl_->block != nullptr) impl_->block->shares.add();
    return impl_->block;
  }

  // No reference is left.
  void check_freed() {
    P::check(expirations_ == 1, "P5", "the resources die when the last owner does");
    P::check(frees_ == 1, "P5", "the memory is freed with the last reference of either kind");
    P::check(deaths_ == births_, "P5", "the wrapper dies once");
  }

 private:
  // The caller holds the GIL.
  void drop_reference(Wrapper* wrapper) {
    // Release and acquire: pair with each other, so that the thread that destroys sees all
    // accesses.
    const uint32_t before = wrapper->references.fetch_sub(1, std::memory_order_acq_rel);
    P::check(before > 0, "P7", "a reference is dropped by someone who has one");
    if (before > 1) return;
    ++deaths_;
    wrapper->body.store(0);
    P::check(impl_->slot.pointer() == reinterpret_cast<uintptr_t>(wrapper), "", "slot of its own");
    impl_->slot.set(0);
    // As PyTorch and the core drop it. This must come first, in case a lock comes now.
    const bool last = decrefs_at_death_ ? impl_->count.decref() == Count::Left::kNobody
                                        : impl_->count.expire_if_unique();
    P::check(last, "", "with its wrapper dies the impl");
    expire();
    P::destroy(wrapper);
  }
  void free_impl() {
    ++frees_;
    P::destroy(impl_);
  }

  Gil<P> gil_;
  Impl* impl_ = nullptr;
  const bool decrefs_at_death_;
  // Written by the thread that does it; twice would be a race, or a failure at the end.
  int births_ = 0;
  int deaths_ = 0;
  int expirations_ = 0;
  int frees_ = 0;
};

}  // namespace slotfuzz::interleave
