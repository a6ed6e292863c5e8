// Lines that are expected to raise are drawn less often, and still drawn.
#include "harness/engine/language/raises.h"

#include <gtest/gtest.h>

#include "harness/engine/generate/mutate.h"

namespace slotfuzz {
namespace {

class RaisesTest : public ::testing::Test {
 protected:
  std::uint16_t op(const char* name) { return *table_.find_op(name); }

  // Each line has a mark in front of it: '!' if it raised.
  void note(const std::string& text, int times) {
    std::string lines = text;
    LineSet raised;
    for (std::size_t at = 0; const char mark : text) {
      if (mark == '\n') ++at;
      if (mark == '!') raised.set(at);
    }
    std::erase(lines, '!');
    const Program program = printer_.parse(lines);
    ASSERT_EQ(program.dropped, 0u);
    for (int i = 0; i < times; ++i) raises_.note(program, raised);
  }

  // The number of lines in 2000 programs that use `own` on an object of `maker`.
  int drawn(const Mutator& mutator, const char* maker) {
    Rng rng(1);
    int count = 0;
    for (int round = 0; round < 2000; ++round) {
      Makers makers{};
      for (const Line& line : mutator.generate(rng).lines) {
        count += line.op == op("own") && makers[line.operands[1]] == op(maker);
        const Op& row = table_.ops()[line.op];
        for (std::size_t i = 0; i < row.operands.size(); ++i) {
          if (row.operands[i].binds()) makers[line.operands[i]] = line.op;
        }
      }
    }
    return count;
  }

  OpTable table_;
  Printer printer_{table_};
  Raises raises_{table_};
  Vocabulary vocabulary_{table_, std::vector<bool>(table_.ops().size(), true), {.storage = 1}};
};

constexpr const char* kSubRaises =
    "s0 = Sub(4)\n!t0 = T.empty(0, dtype=T.uint8).set_(s0)\n"
    "s1 = T.UntypedStorage(4)\nt1 = T.empty(0, dtype=T.uint8).set_(s1)\n";

TEST_F(RaisesTest, it_is_known_by_the_op_that_bound_the_variable) {
  note(kSubRaises, 20);
  EXPECT_TRUE(raises_.is_expected(op("own"), 1, op("new_sub")));
  EXPECT_FALSE(raises_.is_expected(op("own"), 1, op("new_storage")));
}

TEST_F(RaisesTest, one_error_is_no_rule) {
  note(kSubRaises, 1);
  EXPECT_FALSE(raises_.is_expected(op("own"), 1, op("new_sub")));
}

TEST_F(RaisesTest, what_raises_no_more_is_forgiven) {
  note(kSubRaises, 1000);
  note("s0 = Sub(4)\nt0 = T.empty(0, dtype=T.uint8).set_(s0)\n", 100);
  EXPECT_FALSE(raises_.is_expected(op("own"), 1, op("new_sub")));
}

TEST_F(RaisesTest, a_line_that_raised_binds_nothing) {
  note("s0 = T.UntypedStorage(4)\n!s0 = Sub(4)\n!t0 = T.empty(0, dtype=T.uint8).set_(s0)\n", 20);
  EXPECT_TRUE(raises_.is_expected(op("own"), 1, op("new_storage")));
  EXPECT_FALSE(raises_.is_expected(op("own"), 1, op("new_sub")));
}

TEST_F(RaisesTest, the_generator_draws_it_less_and_does_draw_it) {
  const Mutator mutator(table_, vocabulary_, &raises_);
  const int before = drawn(mutator, "new_sub");
  const int others = drawn(mutator, "new_storage");
  note(kSubRaises, 20);
  const int after = drawn(mutator, "new_sub");
  EXPECT_GT(after, 0);
  EXPECT_LT(after * 4, before);
  EXPECT_GT(drawn(mutator, "new_storage") * 2, others);
}

}  // namespace
}  // namespace slotfuzz
