// SymInt: c10's class, an integer that may be an expression of symbols. A sum or a product is
// another expression. A comparison is a bool, so it decides for the example, and the environment of
// the symbols keeps a guard. The rules of shapes are instantiated with it.
#pragma once

#include <memory>

#include "core/c10/shapes/layout.h"

namespace slotcore {

class SymInt;

// An expression, immutable. core/meta/sizes has the only kind.
class SymNode {
 public:
  enum class Operation { kAdd, kSubtract, kMultiply, kFloorDivide, kRemainder, kMaximum, kMinimum };
  enum class Comparison { kEqual, kLess };

  virtual ~SymNode() = default;

  // Of two numbers, one of which has this node. Throw what the environment throws: all are
  // runtime_error, but for length_error, and invalid_argument for symbols of two environments.
  virtual SymInt compute(Operation operation, const SymInt& a, const SymInt& b) const = 0;
  virtual bool decide(Comparison comparison, const SymInt& a, const SymInt& b) const = 0;
  // The value for the example, which from now on is the only one.
  virtual int64_t specialize() const = 0;
  // Whether only the data decides it, so that a comparison may throw.
  virtual bool is_data_dependent() const = 0;
  virtual std::string text() const = 0;
};

class SymInt {
 public:
  SymInt(int64_t value = 0) noexcept : value_(value) {}
  explicit SymInt(std::shared_ptr<const SymNode> node) noexcept : node_(std::move(node)) {}

  bool is_symbolic() const noexcept { return node_ != nullptr; }
  // Null for a plain number.
  const SymNode* node() const noexcept { return node_.get(); }
  // Of a plain number.
  int64_t value() const noexcept { return value_; }
  int64_t specialize() const { return is_symbolic() ? node_->specialize() : value_; }
  bool is_data_dependent() const { return is_symbolic() && node_->is_data_dependent(); }

  static SymInt compute(SymNode::Operation operation, const SymInt& a, const SymInt& b);
  static bool decide(SymNode::Comparison comparison, const SymInt& a, const SymInt& b);

  friend SymInt operator+(const SymInt& a, const SymInt& b) {
    return compute(SymNode::Operation::kAdd, a, b);
  }
  friend SymInt operator-(const SymInt& a, const SymInt& b) {
    return compute(SymNode::Operation::kSubtract, a, b);
  }
  friend SymInt operator*(const SymInt& a, const SymInt& b) {
    return compute(SymNode::Operation::kMultiply, a, b);
  }
  // Rounded down. That the divisor is not 0 is a decision; throws domain_error if it is.
  friend SymInt operator/(const SymInt& a, const SymInt& b) {
    return compute(SymNode::Operation::kFloorDivide, a, b);
  }
  friend SymInt operator%(const SymInt& a, const SymInt& b) {
    return compute(SymNode::Operation::kRemainder, a, b);
  }
  friend bool operator==(const SymInt& a, const SymInt& b) {
    return decide(SymNode::Comparison::kEqual, a, b);
  }
  friend bool operator<(const SymInt& a, const SymInt& b) {
    return decide(SymNode::Comparison::kLess, a, b);
  }
  friend bool operator>(const SymInt& a, const SymInt& b) { return b < a; }
  friend bool operator<=(const SymInt& a, const SymInt& b) { return !(b < a); }
  friend bool operator>=(const SymInt& a, const SymInt& b) { return !(a < b); }

 private:
  int64_t value_ = 0;
  std::shared_ptr<const SymNode> node_;
};

using SymDims = BasicDims<SymInt>;
using SymLayout = BasicLayout<SymInt>;

// Expressions check for overflow themselves.
inline SymInt checked_multiply(const SymInt& a, const SymInt& b) { return a * b; }
inline SymInt checked_add(const SymInt& a, const SymInt& b) { return a + b; }
inline SymInt larger(const SymInt& a, const SymInt& b) {
  return SymInt::compute(SymNode::Operation::kMaximum, a, b);
}
// Whether the expressions are the same. Decides nothing.
inline bool is_same(const SymInt& a, const SymInt& b) {
  SymInt difference = a - b;
  return !difference.is_symbolic() && difference.value() == 0;
}
std::string text(const SymInt& value);

bool has_symbols(const SymDims& dims) noexcept;
bool has_symbols(const SymLayout& layout) noexcept;
// Plain numbers as SymInts, and back: decides what is symbolic.
SymDims symbolic(const Dims& dims);
SymLayout symbolic(const Layout& layout);
Dims specialized(const SymDims& dims);
Layout specialized(const SymLayout& layout);

}  // namespace slotcore
