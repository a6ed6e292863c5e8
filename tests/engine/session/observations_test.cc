// Observations: the trace has what a program can see, and nothing else.
#include "harness/engine/session/observations.h"

#include <gtest/gtest.h>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

std::vector<Observation> trace_of(const std::string& text) {
  Session& session = test_session();
  const Program program = session.printer.parse(text);
  EXPECT_EQ(program.dropped, 0u) << text;
  ObservationsWatcher watcher(session.interpreter);
  session.executor.run(program, watcher);
  EXPECT_EQ(watcher.trace().size(), program.lines.size() + 1) << text;
  return watcher.trace();
}

// The observations after the last line.
std::string observed_after(const std::string& text) {
  const auto trace = trace_of(text);
  return trace[trace.size() - 2].seen;
}

bool has(const std::string& observed, const std::string& one) {
  return ("\n" + observed + "\n").find("\n" + one + "\n") != std::string::npos;
}

TEST(ObservationsTest, each_line_reports_what_it_raised) {
  const auto trace = trace_of("t0 = T.ones(1)\nt0.untyped_storage().tag = 7\ndel t0\ndel t0\n");
  EXPECT_EQ(trace[0].raised, "");
  EXPECT_EQ(trace[3].raised, "NameError");
  EXPECT_EQ(trace[4].raised, "");
}

TEST(ObservationsTest, a_tensor_shows_its_layout_numbers_and_owners) {
  const std::string observed = observed_after("t0 = T.ones(1)\nt1 = t0.view(-1)\nt1.tag = 7\n");
  for (const char* one : {"t0.type = Tensor", "t0.dtype = float32", "t0.size() = (1,)",
                          "t0.tolist = [1.0]", "t0._base = None", "t1._base = t0", "t1.tag = 7",
                          "t1._is_view() = True", "t0._version = 0"}) {
    EXPECT_TRUE(has(observed, one)) << one << "\n" << observed;
  }
}

TEST(ObservationsTest, what_is_one_object_has_one_name) {
  const std::string observed = observed_after(
      "t0 = T.ones(1)\ns0 = t0.untyped_storage()\nl0 = [s0]\nr0 = weakref.ref(s0)\n");
  for (const char* one : {"s0 is s0", "t0.untyped_storage = s0", "l0.[0] = s0", "r0.() = s0"}) {
    EXPECT_TRUE(has(observed, one)) << one << "\n" << observed;
  }
}

TEST(ObservationsTest, the_variables_whose_elements_lie_where_no_memory_is_are_reported) {
  Session& session = test_session();
  const auto outside_after = [&](const std::string& text) {
    const Program program = session.printer.parse(text);
    EXPECT_EQ(program.dropped, 0u) << text;
    ObservationsWatcher watcher(session.interpreter, nullptr, "outside");
    session.executor.run(program, watcher);
    return watcher.trace().at(watcher.trace().size() - 2).seen;
  };
  const std::string view = "t0 = T.ones(1)\nt1 = t0.view(-1)\ns0 = t0.untyped_storage()\n";
  EXPECT_EQ(outside_after(view), "");
  EXPECT_EQ(outside_after(view + "s0.resize_(0)\n"), "t0\nt1");
  EXPECT_EQ(outside_after("t0 = T.ones(0)\ns0 = t0.untyped_storage()\ns0.resize_(0)\n"), "");
}

TEST(ObservationsTest, equal_programs_have_equal_traces) {
  for (const char* text :
       {"s0 = T.UntypedStorage(4)\ns0.me = s0\ndel s0\ngc.collect()\n",
        "t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nenter_hermetic()\nt2 = t0.grad\n"}) {
    EXPECT_EQ(trace_of(text), trace_of(text)) << text;
    for (const Observation& one : trace_of(text)) {
      EXPECT_EQ(one.seen.find("0x"), std::string::npos) << one.seen;
    }
  }
}

TEST(ObservationsTest, looking_leaves_nothing_behind) {
  Session& session = test_session();
  const Program program = session.printer.parse("t0 = T.ones(1)\nt0.me = t0\nt1 = t0.view(-1)\n");
  ObservationsWatcher watcher(session.interpreter, &session.judge);
  session.executor.run(program, watcher);
  EXPECT_FALSE(session.judge.verdict().found()) << session.judge.verdict().describe();
}

}  // namespace
}  // namespace slotfuzz
