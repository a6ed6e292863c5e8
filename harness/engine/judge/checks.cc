// Runs the checks of a stage, and reports.
#include "harness/engine/judge/checks.h"

#include <algorithm>

#include "harness/engine/language/sentences.h"

namespace slotfuzz {
namespace {

bool keeps(std::string_view contract) {
  const Sentence* sentence = find_sentence(contract);
  return sentence && sentence->keeps;
}

}  // namespace

Checks::Checks(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
               const Layout& layout, const Capabilities& capabilities, const Tracker& tracker)
    : executor_(executor),
      table_(table),
      layout_(layout),
      capabilities_(capabilities),
      tracker_(tracker),
      unraisable_(interpreter.find("unraisable")) {
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    for (const Check& check : check_table()) {
      if (check.runs_at(static_cast<Stage>(stage))) by_stage_[stage].push_back(&check);
    }
  }
}

void Checks::run(Stage stage, const Moment& moment) {
  if (moment.result) collections_ = std::max(collections_, moment.result->collections);
  for (const Check* check : by_stage_[static_cast<std::size_t>(stage)]) {
    if (verdict_.found()) return;
    (this->*check->run)(*check, moment);
  }
}

void Checks::report(const Check& check, const ImplKind* kind, std::vector<std::string> asserts,
                    std::string message) {
  if (verdict_.found()) return;
  verdict_ = {.kind = "assert",
              .contract = std::string(check.contract),
              .check = std::string(kind ? kind->row->check_prefix : "").append(check.name),
              .message = message.empty() ? std::string(check.text) : std::move(message),
              .object = std::string(kind ? kind->name() : ""),
              .implies = EffectSet(check.implies),
              .keeps = keeps(check.contract),
              .line = tracker_.seen().index,
              .asserts = std::move(asserts)};
}

void Checks::report_finalizer(const Check& check, long serial, std::vector<std::string> asserts) {
  if (verdict_.found()) return;
  report(check, tracker_.kind_of_serial(serial), std::move(asserts));
  verdict_.serial = serial;
}

void Checks::report_error(std::string contract, std::string name, std::string error,
                          std::vector<std::string> shown, std::string object) {
  if (verdict_.found()) return;
  const bool is_kept = keeps(contract);
  verdict_ = {.kind = "exception",
              .contract = std::move(contract),
              .check = std::move(name),
              .message = std::move(error),
              .object = std::move(object),
              .implies = {},
              .keeps = is_kept,
              .line = tracker_.seen().index,
              .asserts = std::move(shown)};
}

std::vector<std::string> Checks::after_reset(std::string last) const {
  std::vector<std::string> lines;
  if (tracker_.seen().index == tracker_.line_count()) {
    lines = executor_.reset_as_lines();
    // As the ledger does.
    if (!capabilities_.counts_objects) {
      lines.push_back("for _ in range(" + std::to_string(collections_) +
                      "): gc.collect()");
    }
  }
  lines.push_back(std::move(last));
  return lines;
}

}  // namespace slotfuzz
