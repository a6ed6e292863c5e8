// The text of a description: one for each graph of tensors, whatever its ids and addresses (M12).
//
// No white space, fields in the order of fields.def, initial values left out, decimal integers.
// Rows are numbered from 0 in the order of first visits from the roots: storage, base, grad. A size
// that is an expression is a string, and the environment of its symbols is one, too.
#pragma once

#include <string>

#include "core/meta/meta_tensor_desc.h"

namespace slotcore::meta {

inline constexpr char kFormat[] = "slotfuzz-meta";
inline constexpr int64_t kVersion = 2;

// Of a document that passes check() of desc_check.h.
std::string dumps(const Document& document);

}  // namespace slotcore::meta
