// SharedEnv: a ShapeEnv that modes, sizes of tensors and Python objects own together. An expression
// of it is a SymNode; the environment knows none of them.
#pragma once

#include <mutex>
#include <unordered_map>

#include "core/c10/shapes/sym_int.h"
#include "core/meta/sizes/shape_env.h"

namespace slotcore::meta {

// A fake may be in two interpreters, which do not share a GIL: an expression takes the mutex for
// each decision, and so does everyone else. No code of a user runs meanwhile.
struct SharedEnv {
  std::mutex mutex;
  ShapeEnv env;
  // The name in sources of each tensor and storage that was converted, by what its description says
  // of it. When its fake has died, the next one gets the same symbols, and adds no input.
  std::unordered_map<std::string, std::string> names;

  // The Python object of it in one interpreter, so that `size.shape_env is env`. The layer that has
  // such objects reads and writes it with the mutex held.
  const void* interpreter = nullptr;
  void* object = nullptr;  // borrowed: it removes itself
};

using EnvPtr = std::shared_ptr<SharedEnv>;

// A plain number if the expression is a constant.
SymInt sym_int_of(const EnvPtr& env, SizeExpr expr);
// The environment of a symbolic number.
const EnvPtr& env_of(const SymInt& value) noexcept;
// Throws invalid_argument for a number of another environment.
SizeExpr expr_of(const EnvPtr& env, const SymInt& value);

// What `a` COMPARISON `b` asks of expressions. An asked-for negation is a relation, too.
enum class Comparison { kLess, kLessEqual, kEqual, kNotEqual };
Relation relation_of(const EnvPtr& env, const SymInt& a, Comparison comparison, const SymInt& b);

}  // namespace slotcore::meta
