// Documents that the reader accepts. An edit of a text is mostly one that it must refuse.
#pragma once

#include <random>

#include "core/meta/meta_tensor_desc.h"

namespace slotfuzz {

// A tensor of two elements on a storage of its own.
slotcore::meta::Document small_document();

// One edit: a row is added, a reference leads elsewhere, or a field has another value. What
// contradicts it is changed with it, but for a layout that overflows: check() of desc_check.h
// refuses that. Sizes that were expressions are numbers afterwards.
void edit(slotcore::meta::Document& document, std::minstd_rand& random);

// The same with symbols for its sizes, and a few guards. A document that has symbols keeps them.
// Throws runtime_error for sizes whose products overflow.
slotcore::meta::Document with_symbols(const slotcore::meta::Document& document,
                                      std::minstd_rand& random);

}  // namespace slotfuzz
