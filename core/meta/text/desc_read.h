// The reader of descriptions, for texts from anywhere (M6): an error names the place, and memory
// and time are in proportion to the text.
#pragma once

#include <memory>
#include <string_view>

#include "core/meta/desc_check.h"

namespace slotcore::meta {

// Reads what dumps() of desc_write.h has written, in this version or an earlier one; white space,
// the order of fields, and initial values that are written out do not matter. Throws DescError with
// the JSON pointer of the first field that is wrong: for a field that is unknown, missing or there
// twice, a value of another type or out of range, a later version, an expression that the
// environment does not have in this form, and what check() of desc_check.h refuses. Uses at most
// seven times the memory of the text, a hundred times that of expressions, and 1 MiB.
std::shared_ptr<const Document> loads(std::string_view text);

}  // namespace slotcore::meta
