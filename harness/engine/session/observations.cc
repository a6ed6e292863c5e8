// Calls a function of the prelude after each line.
#include "harness/engine/session/observations.h"

#include <utility>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// Keeps the exception that a line raised; the executor clears it later.
class KeptError {
 public:
  KeptError() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~KeptError() { PyErr_Restore(type_, value_, traceback_); }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

std::string name_of_type(PyObject* type) {
  const std::string name = type ? reinterpret_cast<PyTypeObject*>(type)->tp_name : "";
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

ObservationsWatcher::ObservationsWatcher(const Interpreter& interpreter, Watcher* other,
                                         const std::string& question)
    : interpreter_(interpreter), question_(interpreter.evaluate(question)), other_(other) {
  CHECK(question_, "the prelude has no " << question);
}

void ObservationsWatcher::start(const Program& program) {
  trace_.clear();
  if (other_) other_->start(program);
}

void ObservationsWatcher::before_line(std::size_t index, const Line& line) {
  if (other_) other_->before_line(index, line);
}

void ObservationsWatcher::after_line(std::size_t index, const Line& line, PyObject* raised) {
  if (other_) other_->after_line(index, line, raised);
  observe(name_of_type(raised));
}

void ObservationsWatcher::after_drop() {
  if (other_) other_->after_drop();
  observe("");
}

void ObservationsWatcher::observe(std::string raised) {
  const KeptError kept;
  const Ref observations(PyObject_CallOneArg(question_.get(), interpreter_.names()));
  CHECK(observations, "the prelude: " << take_error());
  const char* text = PyUnicode_AsUTF8(observations.get());
  CHECK(text, "the prelude: " << take_error());
  trace_.push_back({std::move(raised), text});
}

}  // namespace slotfuzz
