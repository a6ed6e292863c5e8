// Where the subject keeps what the judge looks at: impl, storage, grad, base and use count, as
// offsets into its objects.
//
// Reading them through the Python API would change what is observed: fetching a tensor's storage
// wraps it. So the offsets are probed at start-up, by comparing memory with values that the public
// API gives (`_cdata`), and read directly from then on. Nothing is assumed of a release; what
// cannot be found stays unknown, and the checks that need it are off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/engine/run/interpreter.h"

namespace slotfuzz {

class Layout {
 public:
  using Offset = std::optional<std::size_t>;

  explicit Layout(const Interpreter& interpreter);

  enum class Shape : std::uint8_t { kOther, kStorage, kTensor };
  Shape shape_of(PyObject* object) const;
  PyTypeObject* base_type(Shape shape) const {
    return shape == Shape::kStorage ? storage_type_ : tensor_type_;
  }

  // The impl of a wrapper; its address is its identity while it lives.
  const void* impl_of(PyObject* wrapper, Shape shape) const;
  // What a tensor owns. Null when it owns none, or when the offset is unknown.
  const void* storage_of(const void* tensor_impl) const;
  const void* grad_of(const void* tensor_impl) const;
  const void* base_of(const void* tensor_impl) const;
  std::optional<std::uint32_t> use_count_of(const void* impl) const;
  // Whether C++ owns the impl and the impl its wrapper, which then only borrows it. Never where a
  // wrapper owns its impl for life.
  bool is_borrowing(PyObject* wrapper, Shape shape) const;
  // Python references to a wrapper that lives, or lived when it was last seen.
  Py_ssize_t references_to(const PyObject* wrapper) const;
  // What an owner in C++ owns now, by its `_cdata`, or null.
  const void* owned_by(PyObject* owner) const;

  Offset use_count_offset() const { return at_.use_count; }
  // What was found, for `doctor`: offsets in bytes, "-" where unknown.
  std::string describe() const;

 private:
  void probe(const Interpreter& interpreter);
  void probe_wrappers(const Interpreter& interpreter);
  void probe_grad(const Interpreter& interpreter);
  void probe_base(const Interpreter& interpreter);
  bool find_base_flag(const Interpreter& interpreter);
  void probe_use_count(const Interpreter& interpreter);

  // What probing finds.
  struct Offsets {
    Offset storage_impl, tensor_impl, storage, use_count;
    // .grad stands in the impl itself, or in a block that the impl points to.
    Offset grad_block, grad;
    // What stands for no tensor, where that is not null: an impl that no tensor has. A library has
    // it at one address for as long as a process and those forked from it run.
    const void* undefined = nullptr;
    // So does the base of a view. The block may be of another kind then, which its size shows; and
    // a byte of it says whether there is a base.
    Offset base_block, base, base_flag;
    std::size_t base_block_bytes = 0;
  };

  PyTypeObject* storage_type_ = nullptr;
  PyTypeObject* tensor_type_ = nullptr;
  Offsets at_;
  Ref cdata_;
};

}  // namespace slotfuzz
