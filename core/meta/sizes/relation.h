// A relation of sizes: what a program asks of an expression.
#pragma once

#include <set>
#include <string>

#include "core/meta/sizes/size_expr.h"

namespace slotcore::meta {

// `expr` == 0, != 0, or >= 0.
struct Relation {
  enum class Kind : uint8_t { kEqual, kNotEqual, kNotNegative };

  SizeExpr expr;
  Kind kind = Kind::kEqual;

  bool operator==(const Relation&) const noexcept = default;
  bool holds(int64_t value) const noexcept;
  Relation negated() const;
  std::string text() const;  // an expression of Python
};

// An order in which relations that say the same are equal: of an equation, the other may have the
// other sign.
struct RelationOrder {
  bool operator()(const Relation& a, const Relation& b) const noexcept;
};
using RelationSet = std::set<Relation, RelationOrder>;

}  // namespace slotcore::meta
