// The generator and the mutator: their programs are well-formed, and they can make all programs.
#include "harness/engine/generate/mutate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/engine/session/suppressions.h"

namespace slotfuzz {
namespace {

class MutateTest : public ::testing::Test {
 protected:
  // Whether each variable that a line reads is bound there.
  bool is_well_formed(const Program& program) {
    VariableSet bound = 0;
    for (const Line& line : program.lines) {
      const Op& op = table_.ops()[line.op];
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const int kind = op.operands[i].kind;
        if (op.operands[i].binds() || (kind >= 0 && !table_.kinds()[kind].is_variable())) continue;
        if (!(bound >> line.operands[i] & 1)) return false;
      }
      bound = bound_after(table_, line, bound);
    }
    return true;
  }

  OpTable table_;
  Printer printer_{table_};
  Vocabulary vocabulary_{
      table_,
      std::vector<bool>(table_.ops().size(), true),
      {.storage = 1, .tensor = 1, .thread = 1, .interpreter = 1, .autograd = 1, .meta = 1}};
  Mutator mutator_{table_, vocabulary_};
};

TEST_F(MutateTest, every_op_is_generated) {
  std::set<std::uint16_t> seen;
  Rng rng(1);
  for (int round = 0; round < 50000 && seen.size() < table_.ops().size(); ++round) {
    for (const Line& line : mutator_.generate(rng).lines) seen.insert(line.op);
  }
  for (std::size_t op = 0; op < table_.ops().size(); ++op) {
    EXPECT_TRUE(seen.count(static_cast<std::uint16_t>(op))) << table_.ops()[op].name;
  }
}

TEST_F(MutateTest, what_is_made_is_well_formed_and_short_enough) {
  Program program;
  for (unsigned seed = 1; seed < 5000; ++seed) {
    Rng rng(seed);
    const Program other = mutator_.generate(rng);
    ASSERT_TRUE(is_well_formed(other)) << printer_.print(other);
    program = seed % 3 ? mutator_.mutate(program, rng) : mutator_.cross(program, other, rng);
    ASSERT_TRUE(is_well_formed(program)) << printer_.print(program);
    ASSERT_LE(program.lines.size(), kLineMax);
  }
}

TEST_F(MutateTest, a_seed_gives_the_same_program) {
  Rng first(7), second(7);
  EXPECT_EQ(printer_.print(mutator_.generate(first)), printer_.print(mutator_.generate(second)));
}

TEST_F(MutateTest, most_programs_are_long) {
  Rng rng(3);
  int many = 0, few = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::size_t lines = mutator_.generate(rng).lines.size();
    many += lines > kLineMax / 2;
    few += lines < kLineMax / 4;
  }
  EXPECT_GT(many, 600);
  EXPECT_GT(few, 50);
}

TEST_F(MutateTest, masked_ops_are_not_made) {
  std::vector<bool> available(table_.ops().size(), true);
  const std::uint16_t masked = *table_.find_op("ones");
  available[masked] = false;
  const Vocabulary vocabulary(table_, available, {.storage = 1});
  const Mutator mutator(table_, vocabulary);
  Program program = printer_.parse("t0 = T.ones(1)\n");
  for (unsigned seed = 1; seed < 500; ++seed) {
    Rng rng(seed);
    program = mutator.mutate(program, rng);
    for (const Line& line : program.lines) EXPECT_NE(line.op, masked);
  }
}

TEST_F(MutateTest, a_target_draws_its_themes_by_their_weights) {
  const std::vector<bool> available(table_.ops().size(), true);
  const Vocabulary storage(table_, available, {.storage = 1});
  const Vocabulary objects(table_, available, {.storage = 3, .tensor = 5, .interpreter = 1});
  for (std::size_t op = 0; op < table_.ops().size(); ++op) {
    const Op& row = table_.ops()[op];
    EXPECT_EQ(storage.weight(op), row.theme == Theme::kStorage ? row.weight : 0) << row.name;
    const unsigned factors[] = {3, 5, 0, 1, 0, 0};
    const unsigned factor = factors[static_cast<std::size_t>(row.theme)];
    EXPECT_EQ(objects.weight(op), factor * row.weight) << row.name;
  }
}

TEST_F(MutateTest, what_is_seldom_drawn_seldom_stays) {
  const std::vector<bool> available(table_.ops().size(), true);
  const Program program =
      printer_.parse("o0 = Other()\no0.make()\ns0 = T.UntypedStorage(1)\ns0.nbytes()\n");
  ASSERT_EQ(program.lines.size(), 4u);
  const auto kept = [&](const Weights& weights) {
    const Vocabulary vocabulary(table_, available, weights);
    const Mutator mutator(table_, vocabulary);
    Rng rng(7);
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
      const Program made = mutator.mutate(program, rng);
      count += std::ranges::any_of(
          made.lines, [&](const Line& line) { return line.op == program.lines[0].op; });
    }
    return count;
  };
  // Of the variants, which are one program in kVariantOneIn.
  EXPECT_GT(kept({.storage = 1, .interpreter = 1}), 400);
  const int seldom = kept({.storage = 64, .interpreter = 1});
  EXPECT_GT(seldom, 10);
  EXPECT_LT(seldom, 100);
}

TEST_F(MutateTest, a_rare_slow_line_seldom_stays) {
  const std::vector<bool> available(table_.ops().size(), true);
  const Vocabulary vocabulary(table_, available, {.autograd = 1});
  for (std::size_t op = 0; op < table_.ops().size(); ++op) {
    const Op& row = table_.ops()[op];
    if (row.theme == Theme::kAutograd)
      EXPECT_EQ(vocabulary.is_seldom(op), row.slow && row.is_rare()) << row.name;
  }
}

// Both mutations and crossovers decide whether a program keeps its lanes.
TEST_F(MutateTest, most_programs_lose_their_lanes) {
  const std::vector<bool> available(table_.ops().size(), true);
  const Vocabulary vocabulary(table_, available, {.storage = 1});
  const Mutator mutator(table_, vocabulary);
  const Program program =
      printer_.parse("s0 = T.UntypedStorage(1)\nlane(1, \"del s0\")\ns0 = T.UntypedStorage(1)\n");
  ASSERT_TRUE(has_lanes(program));
  Rng rng(7);
  int mutated = 0, crossed = 0;
  for (int i = 0; i < 1000; ++i) {
    mutated += has_lanes(mutator.mutate(program, rng));
    crossed += has_lanes(mutator.cross(program, program, rng));
  }
  for (const int kept : {mutated, crossed}) {
    EXPECT_GT(kept, 50);
    EXPECT_LT(kept, 150);
  }
}

TEST_F(MutateTest, most_programs_are_fresh) {
  const Program program = printer_.parse("t0 = T.ones(1)\ns0 = t0.untyped_storage()\n");
  Rng rng(7);
  int begun_alike = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const Program& made :
         {mutator_.mutate(program, rng), mutator_.cross(program, program, rng)}) {
      begun_alike += !made.lines.empty() && made.lines[0].op == program.lines[0].op;
    }
  }
  EXPECT_GT(begun_alike, 2000 / kVariantOneIn / 2);
  EXPECT_LT(begun_alike, 2000 / kVariantOneIn * 3 / 2);
}

TEST_F(MutateTest, an_extension_keeps_the_program_and_asks_for_wrappers) {
  const std::string text = "t0 = T.ones(1)\nenter_hermetic()\n";
  int asked = 0;
  for (unsigned seed = 1; seed < 100; ++seed) {
    Rng rng(seed);
    const std::string longer = printer_.print(mutator_.extend(printer_.parse(text), rng));
    ASSERT_TRUE(longer.starts_with(text + "exit_hermetic()\n")) << longer;
    asked += longer.find(" = t0.untyped_storage()\n") != std::string::npos;
  }
  EXPECT_GT(asked, 30);
}

TEST_F(MutateTest, fixup_repairs_or_drops) {
  Rng rng(1);
  const auto fixed = [&](const char* text) {
    return printer_.print(mutator_.fixup(printer_.parse(text), rng));
  };
  EXPECT_EQ(fixed("del s0\n"), "");
  EXPECT_EQ(fixed("t0 = T.ones(1)\ns0 = t2.untyped_storage()\n"),
            "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n");
  EXPECT_EQ(fixed("t0 = T.ones(1)\ndel t0\ns0 = t0.untyped_storage()\n"),
            "t0 = T.ones(1)\ndel t0\n");
}

TEST_F(MutateTest, known_programs_are_found_under_other_names_and_values) {
  Suppressions suppressions(table_);
  suppressions.add(printer_.parse("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel s0\n"));
  suppressions.add(Program());
  const auto contains = [&](const char* text) {
    return suppressions.contains(printer_.parse(text));
  };
  EXPECT_TRUE(contains("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel s0\n"));
  EXPECT_TRUE(contains("t3 = T.ones(1)\ngc.collect()\ns1 = t3.untyped_storage()\ndel s1\n"));
  EXPECT_TRUE(contains("t0 = T.ones(0)\ns0 = t0.untyped_storage()\ndel s0\n"));
  EXPECT_FALSE(contains("t0 = T.ones(1)\ns0 = t1.untyped_storage()\ndel s0\n"));
  EXPECT_FALSE(contains("t0 = T.ones(1)\ndel s0\ns0 = t0.untyped_storage()\n"));
  EXPECT_TRUE(contains("t0 = T.ones(1)\nt1 = T.ones(1)\ns0 = t1.untyped_storage()\ndel s0\n"));
  EXPECT_FALSE(contains(""));
}

TEST_F(MutateTest, what_is_made_plainly_may_be_made_in_any_way) {
  Suppressions suppressions(table_);
  const auto contains = [&](const char* text) {
    return suppressions.contains(printer_.parse(text));
  };
  suppressions.add(printer_.parse("t0 = T.ones(1)\nt0.grad = None\n"));
  EXPECT_TRUE(contains("t0 = TensorSub(1)\nt0.grad = None\n"));
  EXPECT_TRUE(contains("t0 = T.ones(1)\nt1 = t0.detach()\nt1.grad = None\n"));
  EXPECT_FALSE(contains("s0 = Sub(1)\nt0.grad = None\n"));
  // An object that is not made in the plainest form must be made so to match.
  suppressions.add(printer_.parse("s0 = LeaksSelf(1)\ndel s0\nt0 = leaked_self.pop()\n"));
  EXPECT_FALSE(contains("s0 = Sub(1)\ndel s0\nt0 = leaked_self.pop()\n"));
  EXPECT_TRUE(contains("s1 = LeaksSelf(4)\ndel s1\nt0 = leaked_self.pop()\n"));
}

TEST_F(MutateTest, a_known_error_is_known_by_its_words) {
  const std::string folder = testing::TempDir() + "known-errors";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/error-0.txt") << "RuntimeError: N failed at ADDRESS, please report";
  Suppressions suppressions(table_);
  suppressions.add_folder(folder, printer_);
  EXPECT_EQ(suppressions.size(), 0u);
  EXPECT_TRUE(
      suppressions.contains_error("RuntimeError: 71 failed at 0x7f3a, please report \nmore"));
  EXPECT_FALSE(suppressions.contains_error("RuntimeError: 71 failed at 0x7f3a"));
  EXPECT_FALSE(suppressions.contains_error("RuntimeError: N71 failed at 0x7f3a, please report"));
  EXPECT_FALSE(
      Suppressions(table_).contains_error("RuntimeError: N failed at ADDRESS, please report"));
}

TEST_F(MutateTest, what_comes_to_a_folder_later_is_added) {
  const std::string folder = testing::TempDir() + "/later-suppressions";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/first.py") << "t0 = T.ones(1)\ndel t0.grad\n";
  Suppressions suppressions(table_);
  suppressions.add_folder(folder, printer_);
  EXPECT_EQ(suppressions.size(), 1u);
  std::ofstream(folder + "/second.py") << "s0 = Sub(1)\ndel s0\n";
  std::ofstream(folder + "/third") << "t0 = T.ones(1)\n";
  suppressions.add_folder(folder, printer_);
  EXPECT_EQ(suppressions.size(), 2u);
  EXPECT_TRUE(suppressions.contains(printer_.parse("s1 = Sub(4)\ndel s1\n")));
}

TEST_F(MutateTest, another_name_is_another_use) {
  Suppressions suppressions(table_);
  suppressions.add(printer_.parse("t0 = T.ones(1)\ndel t0.grad\n"));
  EXPECT_TRUE(suppressions.contains(printer_.parse("t2 = T.ones(0)\ndel t2.grad\n")));
  EXPECT_FALSE(suppressions.contains(printer_.parse("t0 = T.ones(1)\ndel t0.data\n")));
}

}  // namespace
}  // namespace slotfuzz
