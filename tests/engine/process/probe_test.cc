// A child that runs Python beside the threads of its parent.
#include "harness/engine/process/probe.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class ProbeTest : public ::testing::Test {
 protected:
  static void python(const char* code) {
    PyObject* names = test_session().interpreter.names();
    const Ref result(PyRun_String(code, Py_file_input, names, names));
    ASSERT_TRUE(result) << take_error();
  }
};

// The second thread waits for the GIL most of the time. The child has no such thread, and would
// wait for it to take the GIL.
TEST_F(ProbeTest, a_child_waits_for_no_thread_of_its_parent) {
  python(
      "import threading as threads_of_test\nover = threads_of_test.Event()\n"
      "def work():\n  while not over.is_set(): pass\n"
      "worker = threads_of_test.Thread(target=work)\nworker.start()\n");
  for (int child = 0; child < 5; ++child) {
    EXPECT_EQ(status_of_child([] { python("for number in range(100000): pass\n"); }), 0);
  }
  python("over.set()\nworker.join()\ndel threads_of_test, over, work, worker\n");
}

TEST_F(ProbeTest, a_child_that_fails_is_reported) {
  EXPECT_EQ(status_of_child([] {}), 0);
  EXPECT_NE(status_of_child([] { std::_Exit(1); }), 0);
}

}  // namespace
}  // namespace slotfuzz
