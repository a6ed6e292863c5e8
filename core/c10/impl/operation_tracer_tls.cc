// The tracer of each thread, in one translation unit, so that every user sees the same one.

#include "core/c10/impl/operation_tracer_tls.h"

#include <string>

namespace slotcore::impl {
namespace {

// Every operation asks for it, and so it needs no initialization.
constinit thread_local OperationTracer* current_tracer = nullptr;

}  // namespace

OperationTracer* OperationTracerTLS::current() noexcept { return current_tracer; }

void OperationTracerTLS::set_current(OperationTracer* tracer) noexcept { current_tracer = tracer; }

void check_untraced(const char* what) {
  if (current_tracer == nullptr) [[likely]]
    return;
  throw UntraceableError(std::string("no graph can have this: ") + what);
}

}  // namespace slotcore::impl
