// A PyInterpreterVTable of the installed libtorch. Releases have different operations on tensors,
// which are never called. The derived class implements what the slot calls.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "targets/c10/headers.h"

namespace slotfuzz::c10_subject {

// NOLINTBEGIN: names and parameters are c10's
#define NEVER_CALLED \
  const override { std::abort(); }

struct UnusedVTable : c10::impl::PyInterpreterVTable {
  using Impl = const c10::TensorImpl*;
  using Stack = torch::jit::Stack*;

  c10::intrusive_ptr<c10::TensorImpl> detach(Impl) NEVER_CALLED
      void dispatch(const c10::OperatorHandle&, Stack) NEVER_CALLED
      void python_dispatcher(const c10::OperatorHandle&, c10::DispatchKeySet, Stack) NEVER_CALLED
      bool is_contiguous(Impl, at::MemoryFormat) NEVER_CALLED
      bool is_strides_like(Impl, at::MemoryFormat) NEVER_CALLED
      bool is_non_overlapping_and_dense(Impl) NEVER_CALLED c10::Device
      device(Impl) NEVER_CALLED int64_t dim(Impl) NEVER_CALLED c10::IntArrayRef
      strides(Impl) NEVER_CALLED c10::IntArrayRef sizes(Impl) NEVER_CALLED c10::SymIntArrayRef
      sym_sizes(Impl) NEVER_CALLED c10::Layout layout(Impl) NEVER_CALLED c10::SymInt
      sym_numel(Impl) NEVER_CALLED c10::SymIntArrayRef sym_strides(Impl) NEVER_CALLED c10::SymInt
      sym_storage_offset(Impl) NEVER_CALLED
#if SLOTFUZZ_C10_SLOT_IS_A_STRUCT
      using Device = c10::DeviceType;
  void reportErrorCallback(PyObject*, c10::DispatchKey) NEVER_CALLED
      void python_op_registration_trampoline(const c10::OperatorHandle&, c10::DispatchKey,
                                             c10::DispatchKeySet, Stack, bool, bool) NEVER_CALLED
      void throw_abstract_impl_not_imported_error(std::string, const char*,
                                                  const char*) NEVER_CALLED int64_t
      numel(Impl) NEVER_CALLED void trace_gpu_event_creation(Device, uintptr_t) NEVER_CALLED
      void trace_gpu_event_deletion(Device, uintptr_t) NEVER_CALLED
      void trace_gpu_event_record(Device, uintptr_t, uintptr_t) NEVER_CALLED
      void trace_gpu_event_wait(Device, uintptr_t, uintptr_t) NEVER_CALLED
      void trace_gpu_memory_allocation(Device, uintptr_t) NEVER_CALLED
      void trace_gpu_memory_deallocation(Device, uintptr_t) NEVER_CALLED
      void trace_gpu_stream_creation(Device, uintptr_t) NEVER_CALLED
      void trace_gpu_device_synchronization(Device) NEVER_CALLED
      void trace_gpu_stream_synchronization(Device, uintptr_t) NEVER_CALLED
      void trace_gpu_event_synchronization(Device, uintptr_t) NEVER_CALLED
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

#undef NEVER_CALLED
// NOLINTEND

}  // namespace slotfuzz::c10_subject
