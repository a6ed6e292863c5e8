// Runs the engine's tests, with slotcore as the module under test.
#include <gtest/gtest.h>

#include "tests/engine/session_fixture.h"

extern "C" PyObject* PyInit_slotcore();
extern "C" PyObject* PyInit_slotcore_c10();

namespace slotfuzz {

Session& test_session() {
  static std::uint8_t states[kStateCounters];
  static Session* session = [] {
    PyImport_AppendInittab("slotcore", PyInit_slotcore);
    PyImport_AppendInittab("slotcore_c10", PyInit_slotcore_c10);
    SessionOptions options;
    options.weights = {.storage = 1, .tensor = 1, .thread = 1, .interpreter = 1};
    return new Session(options, states);
  }();
  return *session;
}

}  // namespace slotfuzz

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
