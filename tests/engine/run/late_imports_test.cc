// What one process imports late, others import before they fork.
#include "harness/engine/run/late_imports.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/engine/process/probe.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

bool holds(const std::string& expression) {
  const Ref value = test_session().interpreter.evaluate(expression);
  return value && PyObject_IsTrue(value.get()) == 1;
}

constexpr const char* kHasModule = "'colorsys' in __import__('sys').modules";
constexpr const char* kImport = "__import__('colorsys')";

TEST(LateImportsTest, a_module_that_came_late_is_told_to_others) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "imports";
  std::filesystem::remove(path);
  const Interpreter& interpreter = test_session().interpreter;
  ASSERT_FALSE(holds(kHasModule));
  EXPECT_EQ(status_of_child([&] {
              LateImports imports(interpreter, path);
              LateImports silent(interpreter, "");
              imports.note();
              if (std::filesystem::exists(path)) std::_Exit(1);
              if (!holds(kImport)) std::_Exit(2);
              imports.note();
              silent.note();
            }),
            0);
  EXPECT_EQ(read_file(path), "colorsys\n");
  std::ofstream(path, std::ios::app) << "no module of this name\nunfin";
  EXPECT_EQ(status_of_child([&] {
              interpreter.evaluate("globals().update(before=gc.get_freeze_count())");
              LateImports imports(interpreter, path);
              if (!holds(kHasModule) || !holds("gc.get_freeze_count() > before")) std::_Exit(1);
              std::ofstream(path, std::ios::app) << "ished\n";
              imports.learn();
              imports.note();
              if (PyErr_Occurred()) std::_Exit(2);
            }),
            0);
  EXPECT_EQ(read_file(path), "colorsys\nno module of this name\nunfinished\n");
}

}  // namespace
}  // namespace slotfuzz
