// The judge checks how the subject answers a reset: a subject that fails there is a finding, and
// not a failure of the harness.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class ResetTest : public ::testing::Test {
 protected:
  // Runs a program between the Python of CODE and the Python of UNDO.
  Verdict verdict_with(const char* code, const char* undo, std::string_view text) {
    python(code);
    session_.run(session_.printer.parse(text));
    Verdict verdict = session_.judge.verdict();
    python(undo);
    session_.run(Program());
    EXPECT_FALSE(session_.judge.verdict().found()) << session_.judge.verdict().describe();
    return verdict;
  }
  bool shows(const Verdict& verdict, const char* line) {
    return std::find(verdict.asserts.begin(), verdict.asserts.end(), line) != verdict.asserts.end();
  }

  Session& session_ = test_session();

 private:
  void python(const char* code) {
    PyObject* names = session_.interpreter.names();
    const Ref result(PyRun_String(code, Py_file_input, names, names));
    ASSERT_TRUE(result) << take_error();
  }
};

constexpr const char* kLeave = "exit_hermetic = T.exit_hermetic";
constexpr const char* kRefuse =
    "def exit_hermetic():\n  T.exit_hermetic()\n  raise RuntimeError('not in hermetic mode')\n";

TEST_F(ResetTest, hermetic_mode_that_cannot_be_left_at_the_end_breaks_h1) {
  const Verdict verdict = verdict_with(kRefuse, kLeave, "enter_hermetic()\nt0 = T.ones(1)\n");
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.contract, "H1");
  EXPECT_EQ(verdict.message, "RuntimeError: not in hermetic mode");
  EXPECT_EQ(verdict.line, 2u);
  EXPECT_EQ(verdict.asserts.at(0), "exit_hermetic()");
  EXPECT_TRUE(shows(verdict, "del t0")) << "the rest of the reset is done all the same";
}

TEST_F(ResetTest, hermetic_mode_that_cannot_be_left_by_a_line_breaks_h1) {
  const Verdict verdict = verdict_with(kRefuse, kLeave, "enter_hermetic()\nexit_hermetic()\n");
  EXPECT_EQ(verdict.contract, "H1");
  EXPECT_EQ(verdict.line, 1u);
}

TEST_F(ResetTest, to_leave_a_mode_that_was_not_entered_is_answered) {
  EXPECT_FALSE(verdict_with("", "", "exit_hermetic()\n").found());
  EXPECT_FALSE(verdict_with("", "", "enter_hermetic()\nlane(1, \"exit_hermetic()\")\n").found());
}

TEST_F(ResetTest, hermetic_mode_that_stays_breaks_h1) {
  const Verdict verdict =
      verdict_with("def exit_hermetic(): pass",
                   "T.exit_hermetic()\nexit_hermetic = T.exit_hermetic", "enter_hermetic()\n");
  EXPECT_EQ(verdict.contract, "H1");
  EXPECT_TRUE(shows(verdict, "assert T._is_hermetic() is False"));
}

TEST_F(ResetTest, hermetic_mode_that_stays_on_a_lane_breaks_h1) {
  const Verdict verdict = verdict_with(
      "def exit_hermetic(): pass", "exit_hermetic = T.exit_hermetic\nlane(1, 'exit_hermetic()')",
      "lane(1, \"enter_hermetic()\")\n");
  EXPECT_EQ(verdict.contract, "H1");
  EXPECT_EQ(verdict.message, "AssertionError: H1: the thread is still in hermetic mode");
  EXPECT_TRUE(shows(verdict,
                    "lane(1, \"assert not T._is_hermetic(), "
                    "'H1: the thread is still in hermetic mode'\")"));
}

TEST_F(ResetTest, a_wrap_that_raises_in_the_reset_is_a_finding) {
  const Verdict verdict = verdict_with(
      "storage = T.UntypedStorage\n"
      "def fails(size): raise SystemError('error return without exception set')\n"
      "T.UntypedStorage = fails\n",
      "T.UntypedStorage = storage\ndel storage, fails\n",
      "t0 = T.ones(1)\ns0 = t0.untyped_storage()\nx0 = Owner(s0)\n");
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.message, "SystemError: error return without exception set");
  EXPECT_TRUE(shows(verdict, "T.UntypedStorage(0)"));
}

}  // namespace
}  // namespace slotfuzz
