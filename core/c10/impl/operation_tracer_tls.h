// OperationTracer: what records the operations of a thread, and the place of it. A thread that is
// traced has no tracer while an operation runs, so what the operation computes by others is not
// recorded again.
#pragma once

#include <stdexcept>
#include <variant>

#include "core/c10/intrusive_ptr.h"
#include "core/c10/shapes/sym_int.h"

namespace slotcore {

class TensorImpl;
struct OpCall;
// A new tensor, the tensor that was written, or a number that was read.
using OpResult = std::variant<intrusive_ptr<TensorImpl>, SymInt>;

// What a graph could not repeat.
class UntraceableError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace impl {

class OperationTracer {
 public:
  // Throws UntraceableError; then the operation does not run.
  virtual void before(const OpCall& call) = 0;
  virtual void after(const OpCall& call, const OpResult& result) = 0;

  // How many modes the thread was in when the trace began: none of these may be left before it
  // ends.
  size_t mode_count = 0;

 protected:
  ~OperationTracer() = default;
};

class OperationTracerTLS {
 public:
  // Borrowed; null if nothing is to be recorded now.
  static OperationTracer* current() noexcept;
  static void set_current(OperationTracer* tracer) noexcept;
};

// Sets the tracer of the thread, null for none; restores the former one.
class OperationTracerScope {
 public:
  explicit OperationTracerScope(OperationTracer* tracer) noexcept
      : former_(OperationTracerTLS::current()) {
    OperationTracerTLS::set_current(tracer);
  }
  ~OperationTracerScope() { OperationTracerTLS::set_current(former_); }
  OperationTracerScope(const OperationTracerScope&) = delete;
  OperationTracerScope& operator=(const OperationTracerScope&) = delete;

 private:
  OperationTracer* former_;
};

// Whatever changes or reads a tensor, and is no operation of a graph, calls it first. Throws
// UntraceableError while this thread is traced.
void check_untraced(const char* what);

}  // namespace impl
}  // namespace slotcore
