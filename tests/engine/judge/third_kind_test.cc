// A third kind of impl is one row: all code that follows impls follows it too.
#include <gtest/gtest.h>

#include "tests/engine/judge/stand_in.h"
#include "tests/engine/judge/tampered.h"

namespace slotfuzz {
namespace {

// Runs in a child: the type would otherwise exist in later tests.
std::string reported_of_nodes(std::string_view text) {
  std::string reported = reported_by_child([&](int pipe) {
    JudgeOfNodes nodes;
    const std::string words = reported_of(text, *nodes.judge);
    if (write(pipe, words.data(), words.size()) < 0) std::abort();
  });
  return reported;
}

// The judge's observations after the last line.
class LastObserved final : public Watcher {
 public:
  explicit LastObserved(Judge& judge) : judge_(judge) {}
  void start(const Program& program) override { judge_.start(program); }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    judge_.after_line(index, line, raised);
    seen = judge_.observed();
    impls = judge_.memory().impls;
  }
  void after_drop() override { judge_.after_drop(); }

  std::string seen;
  std::vector<Judge::Memory::Impl> impls;

 private:
  Judge& judge_;
};

std::string observed_nodes(std::string_view text) {
  return reported_by_child([&](int pipe) {
    JudgeOfNodes nodes;
    Session& session = test_session();
    LastObserved last(*nodes.judge);
    session.executor.run(session.printer.parse(text), last);
    std::string words = last.seen + "kinds";
    for (const auto& [impl, kind] : last.impls) words.append(" ").append(kind->name());
    if (write(pipe, words.data(), words.size()) < 0) std::abort();
  });
}

TEST(ThirdKindTest, its_parts_are_found_by_its_row) {
  EXPECT_EQ(reported_by_child([](int pipe) {
              JudgeOfNodes nodes;
              const ImplKind& node = nodes.layout->kind_named("node");
              const std::string words = std::to_string(*node.at.use_count) + ' ' +
                                        std::to_string(*node.at.edges[0].word) + ' ' +
                                        std::to_string(*node.at.edges[1].word) +
                                        (node.at.impl ? " impl" : "");
              if (write(pipe, words.data(), words.size()) < 0) std::abort();
            }),
            "0 8 16 impl");
}

TEST(ThirdKindTest, programs_with_it_are_clean) {
  EXPECT_EQ(reported_of_nodes("s0 = Sub(1)\ns0.tag = 7\nt0 = T.ones(1)\ns0.owner = t0\n"
                          "r0 = weakref.ref(s0)\ns1 = s0\ndel s0\ns2 = Sub(1)\ns1.other = s2\n"
                          "del t0\ngc.collect()\n"),
            "clean");
}

TEST(ThirdKindTest, the_tracker_follows_its_edges) {
  const std::string seen = observed_nodes(
      "s0 = Sub(1)\ns1 = Sub(1)\ns0.other = s1\nt0 = T.ones(1)\ns0.owner = t0\n"
      "del t0\ndel s1\n");
  // The other node and the tensor live on, as the first one shows.
  EXPECT_NE(seen.find("held by s0  names  weak\n"), std::string::npos) << seen;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), '\n'), 3) << seen;
  EXPECT_NE(seen.find("kinds node"), std::string::npos) << seen;
}

TEST(ThirdKindTest, checks_and_messages_name_it) {
  EXPECT_EQ(reported_of_nodes("s0 = Sub(1)\ns0.tag = 7\n!del s0.tag\ns1 = s0\n"),
            "P2 node attributes (node)");
  EXPECT_EQ(reported_of_nodes("s0 = Sub(1)\ns1 = s0\n!class Odd(Node): pass\n!s0.__class__ = Odd\n"
                          "s2 = s1\n"),
            "P2 node type (node)");
  EXPECT_EQ(reported_of_nodes("s0 = Sub(1)\nr0 = weakref.ref(s0)\n"
                          "!ctypes.pythonapi._PyWeakref_ClearRef(ctypes.py_object(r0))\n"
                          "s0.nbytes()\n"),
            "P4 node weakref (node)");
  EXPECT_EQ(reported_of_nodes("s0 = Sub(1)\ns1 = Sub(1)\ns0.other = s1\n!s1.count(-1)\n"
                          "s1.nbytes()\n"),
            "P7 node use count (node)");
}

TEST(ThirdKindTest, the_ledger_counts_it) {
  EXPECT_EQ(reported_of_nodes("s0 = Sub(1)\n!leak = s0\n"), "P5 live nodes ()");
  EXPECT_EQ(reported_of_nodes("t0 = T.ones(1)\ns0 = t0.untyped_storage()\n!leak = s0\n"),
            "P5 live impls ()");
}

}  // namespace
}  // namespace slotfuzz
