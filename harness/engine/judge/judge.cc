// Calls tracker, ledger and checks in their order.
#include "harness/engine/judge/judge.h"

namespace slotfuzz {

Judge::Judge(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
             const Layout& layout, std::span<std::uint8_t, kStateCounters> states)
    : capabilities_(interpreter, layout),
      tracker_(interpreter, executor, table, layout),
      ledger_(interpreter, layout, capabilities_, tracker_.attribute_names()),
      checks_(interpreter, executor, table, layout, capabilities_, tracker_),
      states_(table, layout, states) {}

void Judge::start(const Program& program) {
  checks_.start();
  kept_.clear();
  tracker_.start(program);
}

void Judge::before_line(std::size_t index, const Line& line) { tracker_.before_line(index, line); }

void Judge::after_line(std::size_t, const Line& line, PyObject* raised) {
  const Moment moment = {.line = &line, .raised = raised};
  if (raised) checks_.run(Stage::kRaised, moment);
  tracker_.after_line(line, raised != nullptr);
  if (tracker_.seen().asked_in_hermetic) checks_.run(Stage::kAsked);
  if (tracker_.seen().met_again) checks_.run(Stage::kMet);
  if (!tracker_.seen().finalizer_runs.empty()) checks_.run(Stage::kFinalized);
  if (!tracker_.seen().died_early.empty()) checks_.run(Stage::kDied);
  checks_.run(Stage::kLine, moment);
  states_.mark(line, tracker_);
}

void Judge::after_drop() {
  if (verdict().found()) return;
  tracker_.drop_all();
  checks_.run(Stage::kReset);
  tracker_.note_finalizers();
  checks_.run(Stage::kFinalized);
  const KeptNames names = {[this](const void* one) { return tracker_.last_name_of(one); },
                           tracker_.attribute_names()};
  const Ledger::Result result = ledger_.settle(tracker_.cpp_cycles(), names);
  kept_ = result.kept;
  checks_.run(Stage::kLedger, {.ledger = &ledger_, .result = &result});
  if (result.balance != Ledger::Balance::kEven) return;
  // The ledger may have collected again.
  tracker_.note_finalizers();
  checks_.run(Stage::kFinalized);
  checks_.run(Stage::kEnd);
}

std::string Judge::observed() const {
  return capabilities_.counts_objects ? tracker_.describe() : "";
}

Judge::Memory Judge::memory() const {
  Memory memory;
  tracker_.remember(memory.words);
  ledger_.remember(memory.words);
  memory.words.push_back(std::hash<std::string>()(verdict().contract + verdict().check));
  for (const Binding& binding : tracker_.bindings()) {
    if (binding.impl) {
      memory.impls.push_back({binding.impl, binding.owned ? binding.owned : binding.kind});
    }
  }
  return memory;
}

}  // namespace slotfuzz
