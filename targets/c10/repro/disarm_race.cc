// disarm() of an interpreter while a tensor that owns one of its wrappers dies: a plain write of
// the vtable pointer against a plain read. c10's own comment says that this will trigger TSan, and
// hopes that it never happens. libtorch 1.13.1 and 2.6.0. libc10 is not instrumented, so two calls
// report its accesses to ThreadSanitizer.
//   clang++ -std=c++20 -fsanitize=thread disarm_race.cc -lc10 -o disarm_race && ./disarm_race
// Exit code 66 and a report "data race" on PyInterpreter::vtable_.
// Shows: disarm: a data race, sanitizer undefined-behavior, sanitizer heap-use-after-free
// Documented: c10/core/impl/PyInterpreter.h: will trigger TSAN

#include <c10/core/TensorImpl.h>

#include <atomic>
#include <cstdlib>
#include <thread>

extern "C" void __tsan_read8(void* address);
extern "C" void __tsan_write8(void* address);

#if __has_include(<c10/core/impl/PyObjectSlot.h>)
#define NEW_RELEASE 1
static auto& slot_of(c10::TensorImpl& tensor) { return *tensor.pyobj_slot(); }
#else
#define NEW_RELEASE 0
static auto& slot_of(c10::TensorImpl& tensor) { return tensor; }
#endif

static c10::impl::PyInterpreter* interpreter;

#define NEVER_CALLED \
  const override { std::abort(); }

struct VTable final : c10::impl::PyInterpreterVTable {
  using Impl = const c10::TensorImpl*;
  using Operator = const c10::OperatorHandle&;
  using Stack = torch::jit::Stack*;

  std::string name() const override { return "interpreter"; }
  void decref(PyObject*, bool) const override { __tsan_read8(&interpreter->vtable_); }

  c10::intrusive_ptr<c10::TensorImpl> detach(Impl) NEVER_CALLED
      void dispatch(Operator, Stack) NEVER_CALLED
      void python_dispatcher(Operator, c10::DispatchKeySet, Stack) NEVER_CALLED
      bool is_contiguous(Impl, at::MemoryFormat) NEVER_CALLED
      bool is_strides_like(Impl, at::MemoryFormat) NEVER_CALLED
      bool is_non_overlapping_and_dense(Impl) NEVER_CALLED c10::Device
      device(Impl) NEVER_CALLED int64_t dim(Impl) NEVER_CALLED c10::IntArrayRef
      strides(Impl) NEVER_CALLED c10::IntArrayRef sizes(Impl) NEVER_CALLED c10::SymIntArrayRef
      sym_sizes(Impl) NEVER_CALLED c10::Layout layout(Impl) NEVER_CALLED c10::SymInt
      sym_numel(Impl) NEVER_CALLED c10::SymIntArrayRef sym_strides(Impl) NEVER_CALLED c10::SymInt
      sym_storage_offset(Impl) NEVER_CALLED
#if NEW_RELEASE
      using Type = c10::DeviceType;
  void incref(PyObject*) NEVER_CALLED
      void reportErrorCallback(PyObject*, c10::DispatchKey) NEVER_CALLED
      void python_op_registration_trampoline(Operator, c10::DispatchKey, c10::DispatchKeySet, Stack,
                                             bool, bool) NEVER_CALLED
      void throw_abstract_impl_not_imported_error(std::string, const char*,
                                                  const char*) NEVER_CALLED int64_t
      numel(Impl) NEVER_CALLED void trace_gpu_event_creation(Type, uintptr_t) NEVER_CALLED
      void trace_gpu_event_deletion(Type, uintptr_t) NEVER_CALLED
      void trace_gpu_event_record(Type, uintptr_t, uintptr_t) NEVER_CALLED
      void trace_gpu_event_wait(Type, uintptr_t, uintptr_t) NEVER_CALLED
      void trace_gpu_memory_allocation(Type, uintptr_t) NEVER_CALLED
      void trace_gpu_memory_deallocation(Type, uintptr_t) NEVER_CALLED
      void trace_gpu_stream_creation(Type, uintptr_t) NEVER_CALLED
      void trace_gpu_device_synchronization(Type) NEVER_CALLED
      void trace_gpu_stream_synchronization(Type, uintptr_t) NEVER_CALLED
      void trace_gpu_event_synchronization(Type, uintptr_t) NEVER_CALLED
      void reset_backward_hooks(Impl) NEVER_CALLED
#else
      void trace_gpu_event_creation(uintptr_t) NEVER_CALLED
      void trace_gpu_event_deletion(uintptr_t) NEVER_CALLED
      void trace_gpu_event_record(uintptr_t, uintptr_t) NEVER_CALLED
      void trace_gpu_event_wait(uintptr_t, uintptr_t) NEVER_CALLED
      void trace_gpu_memory_allocation(uintptr_t) NEVER_CALLED
      void trace_gpu_memory_deallocation(uintptr_t) NEVER_CALLED
      void trace_gpu_stream_creation(uintptr_t) NEVER_CALLED
      void trace_gpu_device_synchronization() NEVER_CALLED
      void trace_gpu_stream_synchronization(uintptr_t) NEVER_CALLED
      void trace_gpu_event_synchronization(uintptr_t) NEVER_CALLED
#endif
};

int main() {
  static VTable vtable;
  static char wrapper alignas(8) = 0;
  // In every run the destructor ends first, and then the other thread disarms. The relaxed flag
  // ensures that and orders nothing, which is what ThreadSanitizer reports.
  static std::atomic<bool> destroyed{false};
  interpreter = new c10::impl::PyInterpreter(&vtable);
  auto tensor = c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                     caffe2::TypeMeta::Make<float>(),
                                                     c10::optional<c10::Device>(c10::kCPU));
  slot_of(*tensor).init_pyobj(interpreter, reinterpret_cast<PyObject*>(&wrapper),
                              c10::impl::PyInterpreterStatus::DEFINITELY_UNINITIALIZED);
  slot_of(*tensor).set_owns_pyobj(true);
  std::thread destroys([&tensor] {
    tensor.reset();
    destroyed.store(true, std::memory_order_relaxed);
  });
  std::thread disarms([] {
    while (!destroyed.load(std::memory_order_relaxed)) std::this_thread::yield();
    __tsan_write8(&interpreter->vtable_);
    interpreter->disarm();
  });
  destroys.join();
  disarms.join();
}
