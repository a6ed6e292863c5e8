// The checks that run before elements are read or written.

#include "core/c10/tensor/elements.h"

#include <stdexcept>

namespace slotcore {

void check_elements(const TensorImpl& tensor) {
  tensor.check_reach();
  if (tensor.bits().neg && tensor.type() == ScalarType::bool_ && tensor.numel() != 0)
    throw std::runtime_error("a bool cannot be negated");
}

Elements::Elements(const TensorImpl& tensor) : type_(tensor.type()), bits_(tensor.bits()) {
  check_elements(tensor);
  bytes_ = static_cast<char*>(tensor.checked_data());
}

}  // namespace slotcore
