// Relacy, another model checker by D. Vyukov (relacy-dev), as a second opinion on the claim: it
// runs the same template. Its headers define macros for the names of memory orders, for `new`,
// `delete`, `malloc` and `assert`, so they come last.
//
// No sanitizer supports Relacy's ucontext fibres; with a sanitizer the test reports that it was
// skipped.

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <streambuf>

#include "tests/interleave/model_claim.h"

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define RELACY_RUNS 1
// Relacy compares signed with unsigned numbers, and causes similar warnings.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <relacy/relacy.hpp>
#pragma clang diagnostic pop
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#endif

namespace slotfuzz::interleave {
namespace {

#ifdef RELACY_RUNS

rl::debug_info here() { return rl::debug_info("claim", "model_claim.h", 0); }

rl::memory_order relacy_order(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed: return rl::mo_relaxed;
    case std::memory_order::consume: return rl::mo_consume;
    case std::memory_order::acquire: return rl::mo_acquire;
    case std::memory_order::release: return rl::mo_release;
    case std::memory_order::acq_rel: return rl::mo_acq_rel;
    case std::memory_order::seq_cst: return rl::mo_seq_cst;
  }
  return rl::mo_seq_cst;
}

struct RelacyPolicy {
  template <class T>
  class atomic {
   public:
    explicit atomic(T value) : value_(value) {}
    T load(std::memory_order order) const { return value_.load(relacy_order(order), here()); }
    void store(T value, std::memory_order order) {
      value_.store(value, relacy_order(order), here());
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) {
      return value_.compare_exchange_strong(expected, desired, relacy_order(success), here(),
                                            relacy_order(failure), here());
    }

   private:
    rl::atomic<T> value_;
  };

  template <class T>
  class var {
   public:
    explicit var(T value) { value_(here()).store(value); }
    T load() const { return value_(here()).load(); }
    void store(T value) { value_(here()).store(value); }

   private:
    rl::var<T> value_;
  };

  class mutex {
   public:
    void lock() { mutex_.lock(here()); }
    void unlock() { mutex_.unlock(here()); }

   private:
    rl::mutex mutex_;
  };

  static void check(bool holds, const char* /*contract*/, const char* what) {
    if (!holds) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, here());
  }
};

constexpr int kThreads = 2;

template <ClaimFault fault>
struct RelacyClaim : rl::test_suite<RelacyClaim<fault>, kThreads> {
  void before() { claim.emplace(kThreads, fault); }
  // Under the thread's own GIL, as a claim is; modelling that GIL would add nothing.
  void thread(unsigned index) {
    gils[index].lock();
    claim->run(static_cast<int>(index));
    gils[index].unlock();
  }
  void after() {
    claim->finish();
    claim.reset();
  }

  std::optional<Claim<RelacyPolicy>> claim;
  RelacyPolicy::mutex gils[kThreads];
};

// The stream for Relacy's report of a failure. It must not allocate: Relacy also replaces operator
// new, and treats memory that it frees after a test as its own.
class Nowhere final : public std::streambuf {
 protected:
  int overflow(int character) override { return character; }
};

template <ClaimFault fault>
rl::test_params full_search() {
  Nowhere nowhere;
  std::ostream output(&nowhere);
  rl::test_params parameters;
  parameters.search_type = rl::sched_full;
  parameters.output_stream = &output;
  parameters.progress_stream = &output;
  parameters.collect_history = false;
  rl::simulate<RelacyClaim<fault>>(parameters);
  return parameters;
}

TEST(Relacy, finds_nothing_in_the_right_claim) {
  const rl::test_params result = full_search<ClaimFault::kNone>();
  EXPECT_EQ(result.test_result, rl::test_result_success);
  // All interleavings, without reduction, of a program with 4 graphs.
  EXPECT_EQ(result.stop_iteration, 832u);
}

TEST(Relacy, finds_a_race_where_the_claim_does_not_publish) {
  EXPECT_EQ(full_search<ClaimFault::kNoRelease>().test_result, rl::test_result_data_race);
  EXPECT_EQ(full_search<ClaimFault::kNoAcquireOnFailure>().test_result, rl::test_result_data_race);
}

TEST(Relacy, finds_two_winners_of_check_then_store) {
  EXPECT_NE(full_search<ClaimFault::kCheckThenStore>().test_result, rl::test_result_success);
}

#else

TEST(Relacy, finds_nothing_in_the_right_claim) {
  GTEST_SKIP() << "Relacy's fibres are not known to the sanitizer";
}

#endif

}  // namespace
}  // namespace slotfuzz::interleave
