// What each operation of a graph is in Python, and how it is run.
#pragma once

#include "core/c10/tensor/tensor_arithmetic.h"

namespace slotcore::meta {

struct OpArguments {
  TensorImpl& tensor(size_t place = 0) const { return *operands[place].tensor; }

  std::vector<arithmetic::Operand> operands;
  std::vector<SymInt> numbers;
  std::optional<ScalarType> type;
};

struct OpRule {
  // How its line is written, with the name, operands and numbers.
  enum class Form {
    kMethod,      // t0.name(operands, numbers, type)
    kFunction,    // T.name(t0)
    kFactory,     // T.name((numbers), dtype=type)
    kOperator,    // t0 name t1
    kArithmetic,  // a method, or an operator if the first operand is a number
    kAttribute,   // t0.name
    kAll,         // t0[...]
    kSlice,       // t0[start:stop:step]
    kStrided,     // t0.as_strided(size, stride, offset)
  };

  Op op;
  const char* name;
  Form form;
  bool writes;                                           // the first operand
  intrusive_ptr<TensorImpl> (*run)(const OpArguments&);  // null for item(), which gives a number
  const char* symbol = nullptr;                          // of an operator
};

const OpRule& rule_of(Op op);

}  // namespace slotcore::meta
