// A mutator for texts of descriptions. It edits fields by the names in core/meta/fields.def, on the
// text itself, because most of what a reader must refuse is no JSON that a library would write.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace slotfuzz {

// One edit: a field is dropped, doubled, inserted, given another value, or wrapped in a list, a
// number is changed by one, or a row is doubled.
std::string edited_text(std::string text, std::minstd_rand& random);

}  // namespace slotfuzz
