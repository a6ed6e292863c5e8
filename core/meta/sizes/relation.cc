// What a relation says of a value, its negation, and its text.

#include "core/meta/sizes/relation.h"

namespace slotcore::meta {

bool Relation::holds(int64_t value) const noexcept {
  switch (kind) {
    case Kind::kEqual: return value == 0;
    case Kind::kNotEqual: return value != 0;
    case Kind::kNotNegative: return value >= 0;
  }
  __builtin_unreachable();
}

Relation Relation::negated() const {
  switch (kind) {
    case Kind::kEqual: return {expr, Kind::kNotEqual};
    case Kind::kNotEqual: return {expr, Kind::kEqual};
    case Kind::kNotNegative: return {SizeExpr(-1) - expr, Kind::kNotNegative};
  }
  __builtin_unreachable();
}

std::string Relation::text() const {
  switch (kind) {
    case Kind::kEqual: return expr.text() + " == 0";
    case Kind::kNotEqual: return expr.text() + " != 0";
    case Kind::kNotNegative: return expr.text() + " >= 0";
  }
  __builtin_unreachable();
}

}  // namespace slotcore::meta
