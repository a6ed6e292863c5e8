// What a description must satisfy so that a describer could have written it, and a converter can
// build it.
#pragma once

#include <stdexcept>
#include <string>

#include "core/meta/meta_tensor_desc.h"

namespace slotcore::meta {

// A text is no description. An invalid_argument, so a ValueError in Python.
class DescError : public std::invalid_argument {
 public:
  // `pointer` is the JSON pointer of the field that is wrong, such as "/tensors/3/base".
  DescError(const std::string& pointer, const std::string& message)
      : std::invalid_argument("\"" + pointer + "\": " + message), pointer_(pointer) {}
  const std::string& pointer() const noexcept { return pointer_; }

 private:
  std::string pointer_;
};

// Gives the rows the values that the expressions have for the example. Throws DescError for an
// expression that is not simplified in the environment, or has no value there, or has a negative
// one where none can be.
void set_numbers(Document& document, const SymbolicSizes& symbols);

// Each row's id is its place. References lead to rows, and rows to be reached from the roots. Bases
// are no views. Layouts fit into int64; dtypes, flags and version groups fit together. Throws
// DescError. Takes time in proportion to the document.
void check(const Document& document);

}  // namespace slotcore::meta
