// Interpreters that claim one impl at the same time and use the slot afterwards (T1 to T4).
#pragma once

#include <algorithm>

#include "core/c10/impl/protocol/slot.h"
#include "harness/interleave/scenarios/scenario.h"

namespace slotfuzz::interleave {

template <class P>
class ClaimScenario {
 public:
  static constexpr const char* kName = "claim";
  static constexpr const char* kSentence = "interpreters claim one slot and use it (T1-T4)";
  static constexpr uint8_t kId = 0xc1;
  static constexpr int kThreadsLeast = 1;
  static constexpr Named kOps[] = {
      {"wrap", "claim the slot; the winner stores a wrapper, a loser reads who won"},
      {"check", "read the tag, and use the wrapper or the name"},
      {"own", "the impl owns the wrapper from now on"},
      {"disown", "the wrapper owns the impl again"},
      {"die", "the wrapper dies, unless the impl owns it"},
      {"publish", "wrap an impl that nobody else has, then hand it out"},
      {"receive", "take the impl that the next thread hands out"},
  };
  static constexpr Named kShapes[] = {
      {"alone", "each thread in its own interpreter, whose GIL it holds"},
      {"one", "all threads in one interpreter"},
      {"two", "threads alternate between two interpreters"},
      {"three", "threads alternate between three interpreters"},
  };

  // N threads that wrap have N * 2^(N-1) execution graphs.
  static Plan golden(int threads) {
    Plan plan;
    plan.threads = static_cast<uint8_t>(threads);
    for (int thread = 0; thread < threads; ++thread) plan.add(thread, kWrap);
    return plan;
  }

  // With two interpreters in turn, threads of one interpreter are interchangeable.
  static int role(int shape, int thread) { return shape < 2 ? 0 : thread % shape; }
  static bool concerns_neighbour(int op) { return op == kReceive; }

  explicit ClaimScenario(const Plan& plan) : plan_(plan) {
    const int interpreters = plan.shape == 0 ? plan.threads : std::min(plan.shape, plan.threads);
    for (int i = 0; i < interpreters; ++i) interpreters_.add(i + 1);
    for (int thread = 0; thread < plan.threads; ++thread) {
      Interpreter& interpreter = interpreters_[thread % interpreters];
      interpreter.gil.set_always_held(++interpreter.threads == 1);
      mine_[thread] = &interpreter;
      seen_[thread] = nullptr;
    }
    name_word<P, Interpreter*>(impl_.tag, "tag");
    name_word<P, uintptr_t>(impl_.word, "pyobj");
    if (hands_out(plan)) {
      for (int thread = 0; thread < plan.threads; ++thread) mail_.add(nullptr);
    }
  }

  void run(int thread) {
    for (int i = 0; i < plan_.length(thread); ++i) {
      P::begin_line(i + 1);
      HoldsGil<P> gil(mine_[thread]->gil, thread);
      mine_[thread]->write_name();
      step(thread, plan_.op(thread, i));
    }
  }

  void finish() {
    Interpreter* owner = impl_.tag.load();
    for (int thread = 0; thread < plan_.threads; ++thread) {
      check_one_winner(seen_[thread] == nullptr || seen_[thread] == owner);
    }
    free_wrapper(impl_);
    for (int i = 0; i < mail_.size(); ++i) {
      Impl* impl = mail_[i].load(std::memory_order_relaxed);
      if (impl == nullptr) continue;
      free_wrapper(*impl);
      P::destroy(impl);
    }
  }

 private:
  enum Op { kWrap, kCheck, kOwn, kDisown, kDie, kPublish, kReceive };
  using Status = slotcore::impl::PyInterpreterStatus;
  static void check_one_winner(bool holds) {
    P::check(holds, "T1", "a tag, once read, is the tag for ever");
  }

  struct Interpreter {
    explicit Interpreter(int own_number) : number(own_number) {}
    // A thread of the interpreter writes it, not the set-up, so that the claim must publish it.
    void write_name() {
      if (name.load() == 0) name.store(number);
    }

    Gil<P> gil;
    const int number;
    int threads = 0;
    typename P::template var<int> name;
  };
  struct Wrapper {
    typename P::template var<int> body;
  };
  struct Impl {
    slotcore::impl::protocol::Tag<P, Interpreter> tag;
    slotcore::impl::protocol::PyObjectWord<P> word;
    // Written with each write of the PyObject field: two writers without a common GIL race here
    // (T4).
    typename P::template var<int> writer;
  };

  static bool hands_out(const Plan& plan) {
    for (int thread = 0; thread < plan.threads; ++thread) {
      for (int i = 0; i < plan.length(thread); ++i) {
        if (plan.op(thread, i) == kPublish || plan.op(thread, i) == kReceive) return true;
      }
    }
    return false;
  }

  void step(int thread, int op) {
    switch (static_cast<Op>(op)) {
      case kWrap: return wrap(thread);
      case kCheck: return check(thread);
      case kOwn: return set_owns(thread, true);
      case kDisown: return set_owns(thread, false);
      case kDie: return die(thread);
      case kPublish: return publish(thread);
      case kReceive: return receive(thread);
    }
  }

  void wrap(int thread) {
    Interpreter* me = mine_[thread];
    const Status status = impl_.tag.status(me, false);
    Interpreter* owner = impl_.tag.claim(me, status);
    saw(thread, owner);
    if (owner != me) {
      P::check(status != Status::TAGGED_BY_US, "T3", "a slot that was ours is ours");
      return read_name(owner);
    }
    P::check(status != Status::TAGGED_BY_OTHER, "T1", "a slot that was another's is another's");
    if (impl_.word.pointer() == 0) store_wrapper(impl_, thread);
    P::check(impl_.tag.load() == me, "T2", "the winner's tag stays");
    use_wrapper(impl_);
  }

  void check(int thread) {
    Interpreter* owner = impl_.tag.load();
    if (owner == nullptr) return check_one_winner(seen_[thread] == nullptr);
    saw(thread, owner);
    if (owner != mine_[thread]) return read_name(owner);
    if (impl_.word.pointer() != 0) use_wrapper(impl_);
  }

  void set_owns(int thread, bool owns) {
    if (!has_wrapper(thread)) return;
    const uintptr_t before = impl_.word.pointer();
    impl_.word.set_owns(owns);
    impl_.writer.store(thread);
    P::check(impl_.word.owns() == owns, "T4", "the owns bit is what its only writer wrote");
    P::check(impl_.word.pointer() == before, "", "the owns bit leaves the pointer alone");
  }

  void die(int thread) {
    if (!has_wrapper(thread) || impl_.word.owns()) return;
    free_wrapper(impl_);
    impl_.writer.store(thread);
  }

  void publish(int thread) {
    if (mail_[thread].load(std::memory_order_relaxed) != nullptr) return;
    Impl* impl = P::template make<Impl>();
    const Status status = impl->tag.status(mine_[thread], true);
    P::check(status == Status::DEFINITELY_UNINITIALIZED, "T3", "nobody else has this impl");
    P::check(impl->tag.claim(mine_[thread], status) == mine_[thread], "T3", "nobody can be first");
    store_wrapper(*impl, thread);
    // Release: pairs with receive(), and publishes the plain store of the tag as well.
    mail_[thread].store(impl, std::memory_order_release);
  }

  void receive(int thread) {
    // Acquire: pairs with publish().
    Impl* impl = mail_[(thread + 1) % plan_.threads].load(std::memory_order_acquire);
    if (impl == nullptr) return;
    const Status status = impl->tag.status(mine_[thread], false);
    if (status == Status::TAGGED_BY_US) return use_wrapper(*impl);
    P::check(status == Status::TAGGED_BY_OTHER, "T3", "an impl that was handed out has its tag");
    read_name(impl->tag.claim(mine_[thread], status));
  }

  void saw(int thread, Interpreter* owner) {
    P::check(owner != nullptr, "T1", "a tag never goes back to none");
    check_one_winner(seen_[thread] == nullptr || seen_[thread] == owner);
    seen_[thread] = owner;
  }

  // As an error message that names both interpreters does.
  void read_name(Interpreter* owner) {
    if (owner == nullptr) return P::check(false, "T1", "a tag never goes back to none");
    P::check(owner->name.load() == owner->number, "T2", "a loser can read who won");
  }

  void store_wrapper(Impl& impl, int thread) {
    auto* wrapper = P::template make<Wrapper>();
    wrapper->body.store(1);
    impl.word.set(reinterpret_cast<uintptr_t>(wrapper));
    impl.writer.store(thread);
  }

  void use_wrapper(Impl& impl) {
    auto* wrapper = reinterpret_cast<Wrapper*>(impl.word.pointer());
    if (wrapper == nullptr) return P::check(false, "T2", "the winner's wrapper is in the slot");
    P::check(wrapper->body.load() == 1, "", "the wrapper in the slot is whole");
  }

  bool has_wrapper(int thread) {
    return impl_.tag.load() == mine_[thread] && impl_.word.pointer() != 0;
  }

  void free_wrapper(Impl& impl) {
    auto* wrapper = reinterpret_cast<Wrapper*>(impl.word.pointer());
    if (wrapper == nullptr) return;
    impl.word.set(0);
    P::destroy(wrapper);
  }

  const Plan& plan_;
  Row<Interpreter, kThreadsMax> interpreters_;
  Interpreter* mine_[kThreadsMax];
  Interpreter* seen_[kThreadsMax];  // one for each thread
  Impl impl_;
  Row<typename P::template atomic<Impl*>, kThreadsMax> mail_;
};

}  // namespace slotfuzz::interleave
