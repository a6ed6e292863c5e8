// C++ owners in program lines: what they witness, what they release later, and on which threads.
#include <gtest/gtest.h>

#include "harness/engine/planted/planted.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class OwnerTest : public ::testing::Test {
 protected:
  const Verdict& verdict_of(std::string_view text) {
    session_.run(session_.printer.parse(text));
    return session_.judge.verdict();
  }

  Session& session_ = test_session();
};

// The reset would fail after the tampering, so each program runs in a separate process.
class OwnerDeathTest : public OwnerTest {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void tamper(std::string_view text) {
    run_planted({"test", "judge", "", text}, session_.interpreter, session_.executor,
                session_.printer, session_.judge, session_.layout);
  }
};

TEST_F(OwnerDeathTest, an_owner_in_cpp_witnesses_that_the_impl_lives) {
  EXPECT_EXIT(tamper("s0 = Finalized(1)\nx0 = Owner(s0)\ndel s0\n!finalized.append(0)\n"
                     "gc.collect()\n"),
              ::testing::ExitedWithCode(1), "P3 finalized early");
}

TEST_F(OwnerDeathTest, an_owner_of_a_tensor_witnesses_its_storage) {
  EXPECT_EXIT(tamper("s0 = Finalized(1)\nt0 = T.empty(0, dtype=T.uint8).set_(s0)\n"
                     "x0 = Owner(t0)\ndel s0\ndel t0\n!finalized.append(0)\ngc.collect()\n"),
              ::testing::ExitedWithCode(1), "P3 finalized early");
}

TEST_F(OwnerDeathTest, owners_in_cpp_count) {
  // One less than the two observed owners.
  EXPECT_EXIT(tamper("s0 = T.UntypedStorage(1)\nx0 = Owner(s0)\nx1 = Owner(s0)\n"
                     "!import ctypes\n"
                     "!ctypes.c_uint32.from_address(s0._cdata + use_count_offset).value = 1\n"
                     "s0.nbytes()\n"),
              ::testing::ExitedWithCode(1), "P7 use count");
}

TEST_F(OwnerTest, an_owner_that_let_go_is_no_witness) {
  EXPECT_FALSE(verdict_of("s0 = Finalized(1)\nx0 = Owner(s0)\nx0.drop()\ndel s0\n"
                          "x0.use_count()\ngc.collect()\n")
                   .found());
  EXPECT_FALSE(verdict_of("s0 = T.UntypedStorage(1)\nx0 = Owner(s0)\nx1 = Owner(s0)\n"
                          "t0 = T.empty(0, dtype=T.uint8).set_(s0)\nx1.drop()\ns0.nbytes()\n")
                   .found());
}

TEST_F(OwnerTest, a_drop_that_waits_for_the_gil_is_settled_by_the_reset) {
  for (const char* drop : {"drop()", "drop_on_thread()", "drop_under_lock()", "start_locking()"}) {
    EXPECT_FALSE(verdict_of(std::string("s0 = Finalized(1)\ns0.tag = 7\nx0 = Owner(s0)\ndel s0\n"
                                        "x0.") +
                            drop + "\n")
                     .found())
        << drop << session_.judge.verdict().describe();
    const std::vector<std::string> expected = {"del x0", "T.UntypedStorage(0)", "gc.collect()"};
    EXPECT_EQ(session_.executor.reset_as_lines(), expected) << drop;
  }
}

TEST_F(OwnerTest, programs_without_owners_are_reset_as_before) {
  EXPECT_FALSE(verdict_of("s0 = T.UntypedStorage(1)\n").found());
  const std::vector<std::string> expected = {"del s0", "gc.collect()"};
  EXPECT_EQ(session_.executor.reset_as_lines(), expected);
}

TEST_F(OwnerTest, random_programs_beside_threads_are_clean) {
  const Weights weights = {.storage = 1, .thread = 1};
  const Vocabulary words(session_.table,
                         unmasked(session_.interpreter.masked_ops(session_.table, weights)),
                         weights);
  const Mutator mutator(session_.table, words);
  Rng rng(7);
  int with_owners = 0;
  for (int round = 0; round < 300; ++round) {
    const Program program = mutator.generate(rng);
    for (const Line& line : program.lines) {
      with_owners += session_.table.ops()[line.op].has(Effect::kMakesOwner);
    }
    session_.executor.run(program, session_.judge);
    ASSERT_FALSE(session_.judge.verdict().found())
        << session_.printer.print(program) << session_.judge.verdict().describe();
  }
  EXPECT_GT(with_owners, 100);
}

}  // namespace
}  // namespace slotfuzz
