// The table of planted bugs.
#include "harness/engine/planted/planted.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "harness/engine/check.h"
#include "harness/engine/planted/tampering.h"
#include "harness/engine/session/observations.h"

namespace slotfuzz {
namespace {

// The planted bugs for the judge are in its table of checks.
const Planted kPlanted[] = {
    {"use-after-free", "address", "heap-use-after-free", ""},
    {"python-use-after-free", "address", "heap-use-after-free", ""},
    {"use-after-free-by-python", "address", "on unknown address", ""},
    {"overflow", "undefined", "signed integer overflow", ""},
    {"race", "thread", "data race", ""},
    {"race-with-a-lane", "thread", "data race", ""},
    {"lock-inversion", "thread", "lock-order-inversion", ""},
    {"deadlock", "watchdog", "slotfuzz: deadlock: line 2, `dead_cycle(s0)`,",
     "s0 = T.UntypedStorage(1)\ndead_cycle(s0)"},
    {"difference", "differential", "line 2 of the trace differs",
     "t0 = T.ones(1)\n!t0.zero_()\ngc.collect()"},
    {"refcount", "debugpy", "negative ref count", ""},
};

std::vector<Planted> all_planted() {
  std::vector<Planted> all;
  for (const Check& check : check_table()) {
    for (const PlantedProgram& program : check.planted) {
      all.push_back({program.name, "judge", check.expected(program), program.text});
    }
  }
  all.insert(all.end(), std::begin(kPlanted), std::end(kPlanted));
  return all;
}

// The results are stored here, so that no compiler can optimise the bugs away.
volatile int sink;

void read_freed_cpp() {
  auto owner = std::make_unique<int>(1);
  const volatile int* freed = owner.get();
  owner.reset();
  sink = *freed;
}

// CPython's code is not instrumented: it must read poisoned bytes there.
void let_python_read_freed() {
  auto view = std::make_unique<Py_buffer>();
  const Ref bytes(PyByteArray_FromStringAndSize("", 0));
  CHECK(bytes && PyObject_GetBuffer(bytes.get(), view.get(), PyBUF_SIMPLE) == 0, "buffer");
  Py_buffer* freed = view.get();
  view.reset();
  PyBuffer_Release(freed);
}

// ASan reports this only when Python allocates with malloc.
void read_freed_python() {
  const Ref object(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyList_Type)));
  auto* block = static_cast<volatile char*>(PyObject_Malloc(64));
  block[0] = 1;
  PyObject_Free(const_cast<char*>(block));
  sink = block[0];
}

void overflow() {
  const volatile int most = std::numeric_limits<int>::max();
  sink = most + 1;
}

void race() {
  int shared = 0;
  std::thread other([&] { ++shared; });
  ++shared;
  other.join();
  sink = shared;
}

// One thread holds a lock and wants the GIL; this thread has the GIL and wants the lock. To
// ThreadSanitizer the GIL is not a mutex.
PyObject* wait_for_ever(PyObject*, PyObject*) {
  std::mutex mutex;
  std::atomic<bool> locked{false};
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    locked.store(true, std::memory_order_release);  // pairs with the loop below
    PyGILState_Release(PyGILState_Ensure());
  });
  // Acquire: pairs with the store above.
  while (!locked.load(std::memory_order_acquire)) std::this_thread::yield();
  mutex.lock();
  mutex.unlock();
  other.join();
  Py_RETURN_NONE;
}

PyObject* add_one(PyObject* capsule, PyObject*) {
  ++*static_cast<int*>(PyCapsule_GetPointer(capsule, nullptr));
  Py_RETURN_NONE;
}

// A C++ thread races with a lane: a handover of a line must order the lanes, and nothing else.
void race_with_a_lane(Interpreter& interpreter) {
  int shared = 0;
  PyMethodDef method = {"add_one", &add_one, METH_NOARGS, nullptr};
  const Ref capsule(PyCapsule_New(&shared, nullptr, nullptr));
  const Ref function(PyCFunction_New(&method, capsule.get()));
  CHECK(function, "function");
  CHECK(PyDict_SetItemString(interpreter.names(), "add_one", function.get()) == 0, "names");
  std::thread other([&] { ++shared; });
  CHECK(interpreter.evaluate("[lane(1, 'add_one()')]"), "lane");
  other.join();
  sink = shared;
  CHECK(PyDict_DelItemString(interpreter.names(), "add_one") == 0, "names");
}

// The threads never deadlock here: only the lock order is wrong.
void invert_locks() {
  std::mutex first, second;
  std::thread([&] {
    const std::lock_guard outer(first);
    const std::lock_guard inner(second);
  }).join();
  const std::lock_guard outer(second);
  const std::lock_guard inner(first);
}

void drop_too_often() {
  alignas(PyObject) static char memory[sizeof(PyObject)];
  auto* object = reinterpret_cast<PyObject*>(memory);
  Py_SET_TYPE(object, &PyBaseObject_Type);
  Py_SET_REFCNT(object, 0);
  Py_DECREF(object);
}

// The tampering breaks no promise: only the trace differs from that of the bare program.
void differ(Tampering& tampering, Interpreter& interpreter, Executor& executor) {
  ObservationsWatcher plain(interpreter), tampered(interpreter, &tampering);
  executor.run(tampering.program(), plain);
  executor.run(tampering.program(), tampered);
  for (std::size_t i = 0; i < plain.trace().size(); ++i) {
    if (plain.trace()[i] == tampered.trace().at(i)) continue;
    std::cerr << "slotfuzz: line " << i + 1 << " of the trace differs\n";
    std::_Exit(1);
  }
}

}  // namespace

std::span<const Planted> planted_bugs() {
  static const std::vector<Planted> all = all_planted();
  return all;
}

void run_planted(const Planted& bug, Interpreter& interpreter, Executor& executor, Printer& printer,
                 Judge& judge, const Layout& layout) {
  if (bug.name == "use-after-free") return read_freed_cpp();
  if (bug.name == "python-use-after-free") return read_freed_python();
  if (bug.name == "use-after-free-by-python") return let_python_read_freed();
  if (bug.name == "overflow") return overflow();
  if (bug.name == "race") return race();
  if (bug.name == "race-with-a-lane") return race_with_a_lane(interpreter);
  if (bug.name == "lock-inversion") return invert_locks();
  if (bug.name == "refcount") return drop_too_often();
  const Ref offset(PyLong_FromSize_t(layout.kind_named("storage").at.use_count.value_or(0)));
  CHECK(PyDict_SetItemString(interpreter.names(), "use_count_offset", offset.get()) == 0, "names");
  PyMethodDef method = {"wait_for_ever", &wait_for_ever, METH_O, nullptr};
  const Ref function(PyCFunction_New(&method, nullptr));
  if (bug.oracle == "watchdog") {
    CHECK(PyDict_SetItemString(interpreter.names(), "dead_cycle", function.get()) == 0, "names");
  }
  // The reset would fail after the tampering, so the process ends with the verdict.
  const auto report = [](const Verdict& verdict) {
    std::cerr << verdict.describe();
    std::_Exit(1);
  };
  Tampering tampering(bug.text, printer, interpreter, judge, report);
  if (bug.oracle == "differential") return differ(tampering, interpreter, executor);
  executor.run(tampering.program(), tampering);
}

}  // namespace slotfuzz
