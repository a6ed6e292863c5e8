// The checks that run before elements are read or written.

#include "core/c10/tensor/elements.h"

#include <stdexcept>

namespace slotcore {

Elements::Elements(const TensorImpl& tensor)
    : bytes_(static_cast<char*>(tensor.checked_data())),
      type_(tensor.type()),
      bits_(tensor.bits()) {
  if (bits_.neg && type_ == ScalarType::bool_ && tensor.numel() != 0)
    throw std::runtime_error("a bool cannot be negated");
}

}  // namespace slotcore
