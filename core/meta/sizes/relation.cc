// What a relation says of a value, its negation, and its text.

#include "core/meta/sizes/relation.h"

#include <algorithm>

namespace slotcore::meta {

bool Relation::is_same(const Relation& other) const noexcept {
  if (kind != other.kind) return false;
  if (expr == other.expr) return true;
  auto is_opposite = [](const SizeExpr::Term& a, const SizeExpr::Term& b) {
    return 0 - static_cast<uint64_t>(a.coefficient) == static_cast<uint64_t>(b.coefficient) &&
           a.atoms == b.atoms;
  };
  const auto &terms = expr.terms(), &others = other.expr.terms();
  return kind != Kind::kNotNegative &&
         std::equal(terms.begin(), terms.end(), others.begin(), others.end(), is_opposite);
}

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
