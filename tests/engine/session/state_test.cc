// States: programs that behave alike later have equal states, and others have not.
#include "harness/engine/session/state.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

// Reads the state after the last line, as the fork server does.
class Reader final : public Watcher {
 public:
  explicit Reader(Session& session)
      : judge_(session.judge),
        reader_(session.interpreter, session.executor, session.table, session.layout,
                session.judge) {}

  void start(const Program& program) override {
    left_ = program.lines.size();
    judge_.start(program);
  }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    judge_.after_line(index, line, raised);
    PyErr_Clear();
    if (--left_ == 0) state_ = reader_.read();
  }
  void after_drop() override { judge_.after_drop(); }
  std::uint64_t state() const { return state_; }

 private:
  Judge& judge_;
  const StateReader reader_;
  std::size_t left_ = 0;
  std::uint64_t state_ = 0;
};

std::uint64_t state_after(const std::string& text) {
  Session& session = test_session();
  const Program program = session.printer.parse(text);
  EXPECT_EQ(program.dropped, 0u) << text;
  session.executor.prepare(program);
  session.interpreter.freeze();
  Reader reader(session);
  session.executor.run(Program(), session.judge);
  session.executor.run(program, reader);
  EXPECT_FALSE(session.judge.verdict().found()) << text;
  return reader.state();
}

constexpr const char* kWrapped = "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n";
constexpr const char* kTwo = "s0 = T.UntypedStorage(1)\ns1 = T.UntypedStorage(1)\n";

TEST(StateTest, a_program_leads_to_the_same_state_each_time) {
  for (const char* more :
       {"", "dead_cycle(s0)\n", "s0.tag = 0\n", "c0 = CppWeak(s0)\n", "r0 = weakref.ref(s0)\n",
        "l0 = [s0]\n", "e0 = keep_frame(s0)\n", "g0 = keep_generator(s0)\n", "x0 = Owner(s0)\n"}) {
    EXPECT_EQ(state_after(std::string(kWrapped) + more), state_after(std::string(kWrapped) + more))
        << more;
  }
}

TEST(StateTest, what_leaves_nothing_behind_leads_to_no_new_state) {
  for (const char* more :
       {"s0.nbytes()\n", "s1.nbytes()\n", "t1 = T.ones(1)\ndel t1\n", "s1 = s0\ndel s1\n",
        "check_wraps(t0)\n", "enter_hermetic()\nexit_hermetic()\n", "l0 = [s0]\ndel l0\n",
        "s0 = t0.untyped_storage()\n"}) {
    EXPECT_EQ(state_after(kWrapped), state_after(std::string(kWrapped) + more)) << more;
  }
}

TEST(StateTest, what_makes_a_difference_later_is_another_state) {
  std::set<std::uint64_t> seen;
  const char* const programs[] = {"",
                                  "del s0\n",
                                  "del t0\n",
                                  "s0.tag = 0\n",
                                  "s0.tag = 7\n",
                                  "s0.tag = 0\ndel s0\n",
                                  "s0.me = s0\n",
                                  "dead_cycle(s0)\n",
                                  "dead_cycle(s0)\ndel s0\n",
                                  "enter_hermetic()\n",
                                  "r0 = weakref.ref(s0)\n",
                                  "r0 = weakref.ref(s0)\ndel s0\n",
                                  "c0 = CppWeak(s0)\n",
                                  "x0 = Owner(s0)\n",
                                  "x0 = Owner(t0)\n",
                                  "x0 = Owner(s0)\nx0.drop()\n",
                                  "s1 = s0\n",
                                  "with hermetic(): s1 = t0.untyped_storage()\n",
                                  "t1 = t0.view(-1)\n",
                                  "t1 = T.ones(1)\nt0.grad = t1\n",
                                  "t1 = T.ones(1)\n",
                                  "l0 = [s0]\n",
                                  "m0 = memoryview(s0)\n",
                                  "s0.resize_(64)\n"};
  for (const char* more : programs) {
    EXPECT_TRUE(seen.insert(state_after(std::string(kWrapped) + more)).second) << more;
  }
}

TEST(StateTest, it_matters_which_of_two_objects_is_meant) {
  const auto after = [](const char* more) { return state_after(std::string(kTwo) + more); };
  EXPECT_NE(after("c0 = CppWeak(s0)\n"), after("c0 = CppWeak(s1)\n"));
  EXPECT_NE(after("x0 = Owner(s0)\n"), after("x0 = Owner(s1)\n"));
  EXPECT_NE(after("l0 = [s0]\n"), after("l0 = [s1]\n"));
  EXPECT_NE(after("s0.tag = 0\n"), after("s1.tag = 0\n"));
  EXPECT_NE(after("t0 = T.ones(1)\nt0.set_(s0)\ndel s0\n"),
            after("t0 = T.ones(1)\nt0.set_(s1)\ndel s0\n"));
}

}  // namespace
}  // namespace slotfuzz
