// A Python interpreter as c10 sees it, without Python: a tag, a lock for a GIL, and objects with a
// count. On fibres its GIL belongs to the scheduler, on threads it is a mutex.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "harness/interleave/compiled/fibres_policy.h"
#include "targets/c10/vtable.h"

extern "C" {
[[gnu::weak]] void __tsan_read8(void* address);
[[gnu::weak]] void __tsan_write8(void* address);
}

namespace slotfuzz::c10_subject {

// libtorch treats this as a PyObject; it only stores the address.
struct Object {
  explicit Object(int interpreter) : owner(interpreter) {}
  int count = 1;
  const int owner;
  int body = 1;

  PyObject* address() { return reinterpret_cast<PyObject*>(this); }
  static Object* at(PyObject* object) { return reinterpret_cast<Object*>(object); }
};

class Gil {
 public:
  void lock() { on_fibre() ? fibres_.lock() : threads_.lock(); }
  void unlock() { on_fibre() ? fibres_.unlock() : threads_.unlock(); }

 private:
  static bool on_fibre() { return interleave::FibreScheduler::thread() >= 0; }

  interleave::FibrePoints::Mutex fibres_;
  std::mutex threads_;
};

class Interpreter {
 public:
  explicit Interpreter(int number)
      : number_(number), vtable_(std::make_unique<VTable>(*this)), tag_(vtable_.get()) {}

  c10::impl::PyInterpreter* tag() { return &tag_; }
  Gil& gil() { return gil_; }
  int number() const { return number_; }

  // As when an interpreter's library is unloaded: the interpreter is disarmed, and then its vtable
  // is gone. The tag stays, as c10 requires.
  void end() {
    // libc10 is not instrumented, so this reports the plain write in disarm() to ThreadSanitizer.
    if (__tsan_write8 != nullptr) __tsan_write8(&tag_.vtable_);
    tag_.disarm();
    vtable_.reset();
  }

  void drop(Object* object) {
    std::lock_guard lock(gil_);
    if (--object->count == 0) delete object;
  }

 private:
  struct VTable final : UnusedVTable {
    explicit VTable(Interpreter& of) : interpreter(of) {}
    std::string name() const override { return "fake"; }
    c10::Device device(const c10::TensorImpl*) const override { return c10::Device(c10::kCPU); }
#if SLOTFUZZ_C10_SLOT_IS_A_STRUCT
    void incref(PyObject* object) const override {
      std::lock_guard lock(interpreter.gil_);
      ++Object::at(object)->count;
    }
#endif
    void decref(PyObject* object, bool) const override {
      // A thread may stop between the read of the vtable, in libc10, and the use of what it read.
      before_access();
      // Reports that read as end() reports the write.
      if (__tsan_read8 != nullptr) __tsan_read8(&interpreter.tag_.vtable_);
      interpreter.drop(Object::at(object));
    }
    Interpreter& interpreter;
  };

  const int number_;
  Gil gil_;
  std::unique_ptr<VTable> vtable_;
  c10::impl::PyInterpreter tag_;
};

}  // namespace slotfuzz::c10_subject
