// A tensor of the installed libtorch, and its slot, whose location depends on the release.
#pragma once

#include "targets/c10/interpreter.h"

namespace slotfuzz::c10_subject {

using Tensor = c10::intrusive_ptr<c10::TensorImpl>;
using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl>;
using Status = c10::impl::PyInterpreterStatus;

inline Tensor make_tensor() {
  return c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                              caffe2::TypeMeta::Make<float>(),
                                              c10::optional<c10::Device>(c10::kCPU));
}

#if SLOTFUZZ_C10_SLOT_IS_A_STRUCT
inline c10::impl::PyObjectSlot& slot_of(const Tensor& tensor) { return *tensor->pyobj_slot(); }
#else
inline c10::TensorImpl& slot_of(const Tensor& tensor) { return *tensor; }
#endif

}  // namespace slotfuzz::c10_subject
