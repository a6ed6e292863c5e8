// The cost of a wrapper's lifetime under the protocol that this binary is built with: one iteration
// is one lifetime, or one step of it, on the main thread and under the GIL.
//
//   build/plain/bench/preservation [flags of Google Benchmark]
#include <benchmark/benchmark.h>

#include "core/c10/intrusive_ptr.h"
#include "harness/engine/run/interpreter.h"

extern "C" PyObject* PyInit_slotcore();

namespace slotfuzz {
namespace {

using slotcore::intrusive_ptr_target;

Ref method(const Ref& object, const char* name) {
  return Ref(PyObject_GetAttrString(object.get(), name));
}

intrusive_ptr_target* impl_of(const Ref& wrapper) {
  const Ref address = method(wrapper, "_cdata");
  return static_cast<intrusive_ptr_target*>(PyLong_AsVoidPtr(address.get()));
}

void call(benchmark::State& state, const Ref& function) {
  for (auto _ : state) Py_DECREF(PyObject_CallNoArgs(function.get()));
}

// A storage that C++ never sees: made, wrapped, dropped, destroyed.
void python_life(benchmark::State& state, const Interpreter& interpreter) {
  call(state, interpreter.evaluate("T.UntypedStorage"));
}

// A tensor owns the storage and no Python code holds the wrapper: wrap, and drop it again.
void drop_and_rewrap(benchmark::State& state, const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  call(state, method(tensor, "untyped_storage"));
}

// The same while Python holds the wrapper.
void wrap_again(benchmark::State& state, const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  const Ref wrap = method(tensor, "untyped_storage");
  const Ref held(PyObject_CallNoArgs(wrap.get()));
  call(state, wrap);
}

// Python holds the wrapper, and a C++ owner is made and released.
void first_owner(benchmark::State& state, const Interpreter& interpreter) {
  const Ref storage = interpreter.evaluate("T.UntypedStorage(0)");
  intrusive_ptr_target* impl = impl_of(storage);
  for (auto _ : state) {
    slotcore::raw::incref(impl);
    slotcore::raw::decref(impl);
  }
}

// The same when there is a C++ owner already.
void second_owner(benchmark::State& state, const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  const Ref storage(PyObject_CallNoArgs(method(tensor, "untyped_storage").get()));
  intrusive_ptr_target* impl = impl_of(storage);
  for (auto _ : state) {
    slotcore::raw::incref(impl);
    slotcore::raw::decref(impl);
  }
}

}  // namespace
}  // namespace slotfuzz

int main(int argc, char** argv) {
  PyImport_AppendInittab("slotcore", PyInit_slotcore);
  const slotfuzz::Interpreter interpreter({}, {.storage = 1});
  const std::pair<const char*, void (*)(benchmark::State&, const slotfuzz::Interpreter&)> all[] = {
      {"python_life", &slotfuzz::python_life},   {"drop_and_rewrap", &slotfuzz::drop_and_rewrap},
      {"wrap_again", &slotfuzz::wrap_again},     {"first_owner", &slotfuzz::first_owner},
      {"second_owner", &slotfuzz::second_owner},
  };
  for (const auto& [name, run] : all) {
    benchmark::RegisterBenchmark(name, [&, run = run](auto& state) { run(state, interpreter); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
