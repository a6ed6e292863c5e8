// Runs the engine's tests, with slotcore as the module under test.
#include <gtest/gtest.h>

#include "tests/engine/session_fixture.h"

extern "C" PyObject* PyInit_slotcore();

namespace slotfuzz {

Session& test_session() {
  static std::uint8_t states[kStateCounters];
  static Session* session = [] {
    PyImport_AppendInittab("slotcore", PyInit_slotcore);
    return new Session(SessionOptions(), states);
  }();
  return *session;
}

}  // namespace slotfuzz

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
