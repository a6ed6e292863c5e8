// The markers of the prelude's snippets.
#include "harness/engine/language/snippets.h"

#include <gtest/gtest.h>

namespace slotfuzz {
namespace {

using Words = std::vector<std::string_view>;

TEST(SnippetsTest, a_snippet_has_names_a_module_effects_and_its_text) {
  const auto snippets = read_snippets(
      "\"\"\"Not a snippet.\"\"\"\n\n"
      "#: made, Child [torch]: uses: a colon\n"
      "#> Child: finalizes resurrects\n"
      "made = []\nclass Child:\n\n    pass\n\n"
      "#: last: for every module\nlast = 1\n");
  ASSERT_EQ(snippets.size(), 2u);
  const Snippet& first = snippets[0];
  ASSERT_EQ(first.names.size(), 2u);
  EXPECT_EQ(first.names[0].name, "made");
  EXPECT_EQ(first.names[0].effects.words(), Words());
  EXPECT_EQ(first.names[1].name, "Child");
  EXPECT_EQ(first.names[1].effects.words(), (Words{"finalizes", "resurrects"}));
  EXPECT_EQ(first.sentence, "uses: a colon");
  EXPECT_EQ(first.text, "made = []\nclass Child:\n\n    pass");
  EXPECT_TRUE(first.is_for("torch", {}));
  EXPECT_FALSE(first.is_for("slotcore", {}));
  EXPECT_EQ(snippets[1].text, "last = 1");
  EXPECT_TRUE(snippets[1].is_for("slotcore", {}));
}

TEST(SnippetsTest, a_snippet_of_a_theme_is_for_targets_that_draw_it) {
  const Snippet only = read_snippets("#: fakes [torch meta]: of meta\nfakes = []\n").at(0);
  EXPECT_EQ(only.module, "torch");
  EXPECT_TRUE(only.is_for("torch", {.meta = 1}));
  EXPECT_FALSE(only.is_for("torch", {.storage = 1, .tensor = 1}));
  EXPECT_FALSE(only.is_for("slotcore", {.meta = 1}));
}

TEST(SnippetsDeathTest, a_marker_that_cannot_be_read_is_our_mistake) {
  EXPECT_DEATH(read_snippets("#: one: it\n#> one: colects\n"), "unknown effect colects");
  EXPECT_DEATH(read_snippets("#: one: it\n#> other: collects\n"), "effects of no name");
  EXPECT_DEATH(read_snippets("#: one\n"), "without a sentence");
  EXPECT_DEATH(read_snippets("#: one [torch mata]: it\n"), "unknown theme");
}

}  // namespace
}  // namespace slotfuzz
