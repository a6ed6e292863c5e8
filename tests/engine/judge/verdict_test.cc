// The fields of a verdict besides its message.
#include <gtest/gtest.h>

#include "tests/engine/judge/tampered.h"

namespace slotfuzz {
namespace {

TEST(VerdictTest, a_broken_promise_names_the_kind_of_impl) {
  Judge& judge = test_session().judge;
  EXPECT_EQ(reported_of("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\n!del s0.tag\n"
                    "s1 = t0.untyped_storage()\n",
                    judge),
            "P2 attributes (storage)");
  EXPECT_EQ(reported_of("t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.tag = 7\n!del t1.tag\n"
                    "t2 = t0.grad\n",
                    judge),
            "P2 tensor attributes (tensor)");
}

TEST(VerdictTest, what_is_about_no_impl_names_none) {
  EXPECT_EQ(reported_of("t0 = T.ones(1)\n!unraisable.append('words')\nt1 = T.ones(1)\n",
                    test_session().judge),
            "P3 unraisable ()");
  EXPECT_EQ(reported_of("t0 = T.ones(1)\n", test_session().judge), "clean");
}

}  // namespace
}  // namespace slotfuzz
