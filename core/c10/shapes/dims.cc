// Sizes and strides: counting, and overflow.

#include "core/c10/shapes/dims.h"

#include "core/c10/shapes/sym_int.h"

namespace slotcore {

void throw_overflow() {
  throw std::runtime_error("the sizes are too large: the number of bytes overflows");
}

template <class Int>
Int element_count(const BasicDims<Int>& sizes) {
  Int count = 1;
  for (const Int& size : sizes) {
    if (size < 0) {
      throw std::runtime_error("a size cannot be negative: " + text(sizes));
    }
    count = checked_multiply(count, size);
  }
  return count;
}

template <class Int>
BasicDims<Int> contiguous_strides(const BasicDims<Int>& sizes) {
  BasicDims<Int> strides = sizes;
  Int stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = checked_multiply(stride, larger(sizes[i], 1));
  }
  return strides;
}

size_t checked_dim(int64_t dim, size_t rank) {
  auto count = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -count || dim >= count) {
    throw std::out_of_range("there is no dimension " + std::to_string(dim) + " in a tensor of " +
                            std::to_string(rank));
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

template int64_t element_count(const Dims&);
template Dims contiguous_strides(const Dims&);
template SymInt element_count(const SymDims&);
template SymDims contiguous_strides(const SymDims&);

}  // namespace slotcore
