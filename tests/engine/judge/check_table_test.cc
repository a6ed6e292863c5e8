// The table of checks: what a row must have, and the readers of the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "harness/engine/language/sentences.h"
#include "harness/engine/planted/planted.h"
#include "harness/engine/serve/describe.h"
#include "tests/engine/judge/tampered.h"

namespace slotfuzz {
namespace {

TEST(CheckTableTest, each_check_has_a_planted_bug_or_says_why_not) {
  for (const Check& check : check_table()) {
    EXPECT_NE(check.planted.empty(), check.unplanted.empty()) << check.text;
  }
}

TEST(CheckTableTest, each_check_runs_at_some_stage_and_each_stage_has_one) {
  for (const Check& check : check_table()) EXPECT_FALSE(check.stages.empty()) << check.text;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    EXPECT_TRUE(std::any_of(check_table().begin(), check_table().end(), [&](const Check& check) {
      return check.runs_at(static_cast<Stage>(stage));
    })) << stage;
  }
}

TEST(CheckTableTest, the_contract_has_its_number_and_a_row_for_it) {
  const std::string contract = read_file("docs/contract.md");
  for (const Check& check : check_table()) {
    if (!check.contract.empty()) {
      EXPECT_NE(contract.find("**" + std::string(check.contract)), std::string::npos)
          << check.contract;
    }
    std::string planted;
    for (const PlantedProgram& program : check.planted) {
      planted.append(planted.empty() ? "" : ", ").append(program.name);
    }
    const auto cell = [](std::string_view text) { return "| " + std::string(text) + ' '; };
    const std::string row =
        cell(check.contract) + cell(check.name) + cell(check.text) +
        cell(planted.empty() ? "none: " + std::string(check.unplanted) : planted) + "|\n";
    EXPECT_NE(contract.find(row), std::string::npos) << "docs/contract.md lacks\n" << row;
  }
}

TEST(CheckTableTest, the_sentences_are_those_of_the_contract) {
  std::istringstream contract(read_file("docs/contract.md"));
  std::vector<std::string> written, known;
  for (std::string line; std::getline(contract, line);) {
    if (!line.starts_with("- **")) continue;
    written.push_back(line.substr(4, line.find_first_of(" *", 4) - 4));
  }
  for (const Sentence& sentence : sentences()) known.emplace_back(sentence.number);
  EXPECT_GT(known.size(), 40u);
  EXPECT_EQ(known, written);
}

TEST(CheckTableTest, a_message_names_its_sentence) {
  const auto number_in = [](std::string_view message) {
    const Sentence* sentence = sentence_of_message(message);
    return std::string(sentence ? sentence->number : "");
  };
  EXPECT_EQ(number_in("P2: a tensor lost its attributes"), "P2");
  EXPECT_EQ(number_in("A2b: a saved tensor was written"), "A2b");
  EXPECT_EQ(number_in("P99: no such sentence"), "");
  EXPECT_EQ(number_in("P2 without a colon"), "");
  EXPECT_EQ(number_in(""), "");
}

// A check alone reports its planted bug: the verdict is from its row and from no other.
TEST(CheckTableTest, each_planted_bug_is_reported_by_its_check) {
  int planted = 0;
  for (const Planted& bug : planted_bugs()) {
    if (bug.oracle != "judge") continue;
    ++planted;
    const std::string reported = reported_by_child([&](int pipe) {
      dup2(pipe, STDERR_FILENO);
      Session& session = test_session();
      run_planted(bug, session.interpreter, session.executor, session.printer, session.judge,
                  session.layout);
      const std::string words = session.judge.verdict().describe();
      if (write(pipe, words.data(), words.size()) < 0) std::abort();
    });
    EXPECT_EQ(reported.find("slotfuzz: " + bug.expect), 0u) << bug.name << ": " << reported;
  }
  EXPECT_GT(planted, 15);
}

TEST(CheckTableTest, the_binary_describes_it) {
  const nlohmann::json checks = describe(test_session(), "storage", "slotcore").at("checks");
  ASSERT_EQ(checks.size(), check_table().size());
  for (std::size_t i = 0; i < checks.size(); ++i) {
    EXPECT_EQ(checks[i].at("contract"), check_table()[i].contract);
    EXPECT_EQ(checks[i].at("check"), check_table()[i].name);
    EXPECT_EQ(checks[i].at("text"), check_table()[i].text);
    EXPECT_EQ(checks[i].at("implies"), EffectSet(check_table()[i].implies).words());
    EXPECT_EQ(checks[i].at("planted").size(), check_table()[i].planted.size());
  }
}

}  // namespace
}  // namespace slotfuzz
