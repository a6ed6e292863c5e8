// The rules of modes. A mode makes no kernel run: shapes are computed as for any tensor without
// bytes.

#include "core/c10/tensor/announce.h"

#include <stdexcept>

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {

using impl::ModePtr, impl::TorchDispatchModeTLS;

void announce(std::initializer_list<const TensorImpl*> operands) {
  const impl::TorchDispatchMode* mode = TorchDispatchModeTLS::innermost();
  if (mode == nullptr) [[likely]]
    return;
  impl::check_untraced("an operation that has no node");
  for (const TensorImpl* operand : operands) {
    if (operand->place().mode.get() == mode) continue;
    throw std::runtime_error(
        operand->is_fake()
            ? "an operand is a fake of another mode than the one that this thread is in"
            : "an operand is a real tensor and this thread is in a fake mode; convert it with"
              " from_tensor() first");
  }
}

void check_same_mode(const TensorImpl& a, const TensorImpl& b) {
  if (a.place().mode == b.place().mode) return;
  throw std::runtime_error(a.is_fake() && b.is_fake()
                               ? "the operands are fakes of different modes"
                               : "one of the operands is a fake and the other a real tensor");
}

Place place_of_new(Device device) {
  impl::check_untraced("a factory that has no node");
  impl::TorchDispatchMode* mode = TorchDispatchModeTLS::innermost();
  return {device, mode == nullptr ? ModePtr() : ModePtr::retain(mode)};
}

}  // namespace slotcore
