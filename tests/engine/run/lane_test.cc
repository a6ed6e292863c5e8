// Lines on other threads: as text, in the generator, and when they run.
#include <gtest/gtest.h>

#include <set>

#include "harness/engine/session/suppressions.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class LaneTest : public ::testing::Test {
 protected:
  std::string round_trip(std::string_view text) {
    return session_.printer.print(session_.printer.parse(text));
  }
  const Verdict& verdict_of(std::string_view text) {
    session_.run(session_.printer.parse(text));
    return session_.judge.verdict();
  }
  // Runs Python in the namespace of programs.
  void python(const char* code) {
    PyObject* names = session_.interpreter.names();
    const Ref result(PyRun_String(code, Py_file_input, names, names));
    ASSERT_TRUE(result) << take_error();
  }
  // A list that the Python above left; it is not a list of the prelude.
  Ref take(const char* name) {
    Ref list = Ref::borrow(session_.interpreter.find(name));
    PyDict_DelItemString(session_.interpreter.names(), name);
    return list;
  }
  bool holds(const char* expression) {
    const Ref value = session_.interpreter.evaluate(expression);
    return value && PyObject_IsTrue(value.get()) == 1;
  }

  Session& session_ = test_session();
};

TEST_F(LaneTest, any_line_on_any_lane_prints_and_parses_back) {
  for (const char* text : {"lane(1, \"gc.collect()\")\n", "lane(2, \"with hermetic(): del s0\")\n",
                           "lane(2, \"t0 = T.empty(0, dtype=T.uint8).set_(s3)\")\n"}) {
    EXPECT_EQ(round_trip(text), text);
  }
  EXPECT_EQ(round_trip("with suppress(NameError): lane(1, \"del s0\")\n"), "lane(1, \"del s0\")\n");
}

TEST_F(LaneTest, what_is_no_line_on_a_lane_is_dropped) {
  for (const char* text :
       {"lane(0, \"del s0\")", "lane(3, \"del s0\")", "lane(1, \"del s0\"", "lane(1, \"\")",
        "lane(1, \"import os\")", "lane(1, \"del s0\"); lane(1, \"del s0\")", "lane(1, \"",
        "lane(1, \"lane(1, \"del s0\")\")", "lane(1, \"with suppress(NameError): del s0\")"}) {
    EXPECT_EQ(round_trip(text), "") << text;
  }
}

TEST_F(LaneTest, templates_and_values_hold_no_double_quote) {
  for (const Op& op : session_.table.ops()) {
    EXPECT_EQ(op.pattern.find_first_of("\"\\"), std::string_view::npos) << op.name;
  }
  for (const Kind& kind : session_.table.kinds()) {
    for (const std::string& value : kind.values) EXPECT_EQ(value.find('"'), std::string::npos);
  }
}

TEST_F(LaneTest, lanes_are_part_of_the_key) {
  std::set<std::uint64_t> keys;
  for (std::uint8_t lane = 0; lane < kLaneCount; ++lane) {
    for (std::uint16_t op = 0; op < session_.table.ops().size(); ++op) {
      keys.insert(key_of({op, {1, 2, 3}, lane}));
    }
  }
  EXPECT_EQ(keys.size(), kLaneCount * session_.table.ops().size());
}

TEST_F(LaneTest, every_lane_is_generated_and_most_programs_have_none) {
  std::set<std::uint8_t> seen;
  int with_lanes = 0;
  Program program;
  constexpr int kRounds = 4000;
  Rng rng(1);
  for (int round = 0; round < kRounds; ++round) {
    program = session_.mutator.mutate(program, rng);
    for (const Line& line : program.lines) seen.insert(line.lane);
    with_lanes += has_lanes(program);
  }
  EXPECT_EQ(seen.size(), kLaneCount);
  EXPECT_GT(with_lanes, kRounds / 100);
  EXPECT_LT(with_lanes, kRounds / 8);
}

TEST_F(LaneTest, known_programs_are_found_under_other_lanes) {
  Suppressions suppressions(session_.table);
  const auto contains = [&](const char* text) {
    return suppressions.contains(session_.printer.parse(text));
  };
  suppressions.add(session_.printer.parse("lane(1, \"enter_hermetic()\")\ngc.collect()\n"));
  EXPECT_TRUE(contains("lane(2, \"enter_hermetic()\")\ngc.collect()\n"));
  EXPECT_TRUE(contains("enter_hermetic()\nlane(2, \"gc.collect()\")\n"));
  EXPECT_FALSE(contains("enter_hermetic()\ngc.collect()\n"));
  EXPECT_FALSE(contains("lane(1, \"enter_hermetic()\")\nlane(1, \"gc.collect()\")\n"));
  // A program that fails on one thread is the same bug on several.
  suppressions.add(session_.printer.parse("t0 = T.ones(1)\ndel t0\n"));
  EXPECT_TRUE(contains("lane(1, \"t0 = T.ones(1)\")\nlane(2, \"del t0\")\n"));
}

TEST_F(LaneTest, a_line_runs_on_its_thread_and_each_lane_is_one_thread) {
  ASSERT_FALSE(verdict_of("lane(1, \"t0 = T.ones(1)\")\nlane(2, \"t1 = T.ones(1)\")\n").found());
  python(
      "import _thread\nthreads = []\n"
      "for number in (1, 2, 1): lanes[number].call(lambda: threads.append(_thread.get_ident()))\n");
  const Ref threads = take("threads");
  ASSERT_EQ(PyList_GET_SIZE(threads.get()), 3);
  const long main_thread = static_cast<long>(PyThread_get_thread_ident());
  const auto thread = [&](int i) { return PyLong_AsLong(PyList_GET_ITEM(threads.get(), i)); };
  EXPECT_EQ(thread(0), thread(2));
  EXPECT_NE(thread(0), thread(1));
  EXPECT_NE(thread(0), main_thread);
  EXPECT_NE(thread(1), main_thread);
}

TEST_F(LaneTest, hermetic_mode_is_the_threads_and_the_reset_leaves_it_on_each) {
  // Wrapping is fresh on lane 1 only; otherwise the judge would report H1 or P1.
  EXPECT_FALSE(verdict_of("lane(1, \"enter_hermetic()\")\nt0 = T.ones(1)\n"
                          "s0 = t0.untyped_storage()\ns1 = t0.untyped_storage()\n"
                          "lane(1, \"s2 = t0.untyped_storage()\")\n"
                          "lane(2, \"s3 = t0.untyped_storage()\")\nlane(2, \"enter_hermetic()\")\n")
                   .found())
      << session_.judge.verdict().describe();
  const auto reset = session_.executor.reset_as_lines();
  ASSERT_GE(reset.size(), 2u);
  EXPECT_EQ(reset[0], "lane(1, \"exit_hermetic()\")");
  EXPECT_EQ(reset[1], "lane(2, \"exit_hermetic()\")");
  EXPECT_FALSE(verdict_of("t0 = T.ones(1)\nlane(1, \"s0 = t0.untyped_storage()\")\n"
                          "lane(2, \"s1 = t0.untyped_storage()\")\n")
                   .found());
  python(
      "modes = []\n"
      "for number in (1, 2): lanes[number].call(lambda: modes.append(T._is_hermetic()))\n");
  const Ref modes = take("modes");
  ASSERT_EQ(PyList_GET_SIZE(modes.get()), 2);
  EXPECT_EQ(PyList_GET_ITEM(modes.get(), 0), Py_False);
  EXPECT_EQ(PyList_GET_ITEM(modes.get(), 1), Py_False);
}

TEST_F(LaneTest, an_exception_on_a_lane_is_the_lines_and_leaves_nothing) {
  // Earlier programs of this process may have left cycles that the contract excuses.
  python("before = T._live_impls(), T._live_wrappers()\n");
  // Objects in the exception's frames would stay in the ledger.
  EXPECT_FALSE(verdict_of("s0 = T.UntypedStorage(1)\nlane(1, \"s0[100]\")\nlane(2, \"del s3\")\n"
                          "lane(1, \"e0 = keep_frame(s0)\")\nlane(2, \"raise_in_hermetic(t0)\")\n"
                          "lane(2, \"s1 = e0.__traceback__.tb_frame.f_locals['held']\")\n"
                          "lane(1, \"exit_hermetic()\")\n")
                   .found())
      << session_.judge.verdict().describe();
  EXPECT_FALSE(PyErr_Occurred());
  EXPECT_TRUE(holds("(T._live_impls(), T._live_wrappers()) == before"));
  EXPECT_TRUE(holds("all(lane.work is None and lane.error is None for lane in lanes.values())"));
}

TEST_F(LaneTest, random_programs_on_lanes_are_clean) {
  const Vocabulary quick(session_.table, quick_ops(session_), session_.weights);
  const Mutator mutator(session_.table, quick);
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    Program program = mutator.generate(rng);
    for (Line& line : program.lines) line.lane = static_cast<std::uint8_t>(rng() % kLaneCount);
    session_.executor.run(program, session_.judge);
    ASSERT_FALSE(session_.judge.verdict().found())
        << session_.printer.print(program) << session_.judge.verdict().describe();
  }
}

}  // namespace
}  // namespace slotfuzz
