// Counts live objects, and compares with the start.
#include "harness/engine/judge/ledger.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// How often to check for objects left by caches and imports, and how many are too many.
constexpr int kProgramsPerLook = 16;
constexpr Py_ssize_t kTrackedMax = 2000;

// Returns -1, like PyLong_AsLong, when the subject returns no number.
long call_for_number(PyObject* function) {
  const Ref number(PyObject_CallNoArgs(function));
  const long count = number ? PyLong_AsLong(number.get()) : -1;
  PyErr_Clear();
  return count;
}

std::vector<Ledger::Count> counts_of(const Interpreter& interpreter, const Layout& layout,
                                     const Capabilities& capabilities) {
  std::vector<Ledger::Count> counts;
  if (!capabilities.counts_objects) {
    // The prelude's function also asks the collector.
    counts.push_back({"wrappers", "live_wrappers()", {}});
    return counts;
  }
  for (const ImplKind& kind : layout.kinds()) {
    for (const LedgerCount& row : kind.row->counts) {
      const std::string call = std::string(row.function) + "()";
      const bool is_new =
          std::none_of(counts.begin(), counts.end(),
                       [&](const Ledger::Count& count) { return count.call == call; });
      if (!is_new) continue;
      counts.push_back({std::string(row.noun), call,
                        interpreter.evaluate(std::string(row.function)), row.is_of_impls});
    }
  }
  return counts;
}

}  // namespace

Ledger::Ledger(const Interpreter& interpreter, const Layout& layout,
               const Capabilities& capabilities, const std::vector<std::string>& attribute_names)
    : interpreter_(interpreter),
      layout_(layout),
      capabilities_(capabilities),
      attribute_names_(attribute_names),
      counts_(counts_of(interpreter, layout, capabilities)),
      collect_(interpreter.evaluate("gc.collect")),
      tracked_objects_(interpreter.evaluate("gc.get_objects")),
      referrers_(interpreter.evaluate("gc.get_referrers")) {
  CHECK(counts_.size() <= kCountsMax, counts_.size() << " counts");
  // Set-up's objects are frozen: all objects that the collector tracks are newer.
  if (!capabilities.counts_objects) return;
  baseline_ = live();
  if (is_known(baseline_)) return;
  std::string calls;
  for (const Count& count : counts_) calls += (calls.empty() ? "" : " and ") + count.call;
  throw StartError("the module under test does not say what lives: " + calls +
                   " must return numbers");
}

Ledger::Numbers Ledger::live() const {
  Numbers numbers{};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    numbers[i] = counts_[i].function ? call_for_number(counts_[i].function.get())
                                     : static_cast<long>(tracked_wrappers().size());
  }
  return numbers;
}

long Ledger::total(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0L);
}

bool Ledger::is_known(const Numbers& numbers) const {
  return std::find(numbers.begin(), numbers.end(), kNoNumber) == numbers.end();
}

void Ledger::remember(std::vector<std::uintptr_t>& words) const {
  const Numbers now = live();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    words.push_back(static_cast<std::uintptr_t>(now[i] - baseline_[i]));
  }
}

// Whether C++ released an object of this program while its interpreter ended: it stays (T6).
bool Ledger::left_references_behind() {
  if (!capabilities_.left_behind) return false;
  const long now = call_for_number(capabilities_.left_behind.get());
  return std::exchange(left_behind_before_, now) != now;
}

Ledger::Result Ledger::settle(const CppCycles& made, const KeptNames& names) {
  Result result;
  Numbers now = live();
  const bool excused = left_references_behind();
  // CPython 3.14 treats an object as resurrected if its finalizer has read its __dict__. The next
  // collection frees it, and what it owned in C++. That may be the next such object, and so on;
  // finalizers may fill lists again.
  if (now != baseline_ && !capabilities_.counts_objects) end_failed_backwards();
  long fewest = total(now);
  int idle = 0;
  while (now != baseline_ && !capabilities_.counts_objects && idle < kIdleCollections) {
    drop_held(result);
    ++result.collections;
    now = live();
    idle = total(now) < fewest ? 0 : idle + 1;
    fewest = std::min(fewest, total(now));
  }
  if (now == baseline_) {
    hide_what_is_left();
    return result;
  }
  if (!is_known(now)) return without_number(std::move(result));
  result.balance = Balance::kExcused;
  if (excused) {
    baseline_ = now;
    return result;
  }
  const bool is_allowed = capabilities_.lists_owners ? excuse_listed(result, made, names)
                                                     : excuse_unlisted(result, made.any);
  if (is_allowed) return result;
  result.balance = Balance::kUneven;
  while (now[result.count] == baseline_[result.count]) ++result.count;
  result.left = now[result.count] - baseline_[result.count];
  return result;
}

bool Ledger::excuse_listed(Result& result, const CppCycles& made, const KeptNames& names) {
  std::size_t known = 0;
  const auto is_all = [&](auto is_meant) {
    const References references(tracked_objects_.get(), layout_);
    result.kept = kept_cycles(references, capabilities_.resurrects, made.owned, names);
    // An impl may refer weakly to another one, which has expired and still counts.
    known = 2 * (references.impl_count() + made.owned.size());
    return std::all_of(result.kept.begin(), result.kept.end(),
                       [&](const KeptCycle& one) { return is_meant(one.kept); });
  };
  if (!is_all(&is_excused)) return false;
  std::vector<KeptCycle> kept = result.kept;
  kept.insert(kept.end(), made.cycles.begin(), made.cycles.end());
  if (kept.empty()) return false;
  break_cycles(result);
  const Numbers after = live();
  if (!std::equal(after.begin(), after.end(), baseline_.begin(), std::less_equal())) {
    // The ledger cannot free what owns itself in C++. It freezes that, or every later reset would
    // visit it.
    if (!is_all([](Kept one) { return one == Kept::kOwnsItself; })) return false;
    if (!knows_impls(after, known)) return false;
    interpreter_.freeze();
  }
  result.kept = std::move(kept);
  baseline_ = live();  // the collector no longer counts frozen objects
  return true;
}

bool Ledger::excuse_unlisted(Result& result, bool made_cpp_cycle) {
  made_cpp_cycle = made_cpp_cycle || is_graph_left();
  const bool is_shared = has_cpp_owner();
  if (!is_shared && !made_cpp_cycle) return false;
  if (is_shared) break_cycles(result);
  const Numbers after = live();
  const bool back = std::equal(after.begin(), after.end(), baseline_.begin(), std::less_equal());
  if (!back && !made_cpp_cycle) return false;
  if (after != baseline_) interpreter_.freeze();
  baseline_ = live();
  return true;
}

bool Ledger::knows_impls(const Numbers& now, std::size_t known) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (!counts_[i].is_of_impls) continue;
    if (now[i] - baseline_[i] > static_cast<long>(known)) return false;
  }
  return true;
}

Ledger::Result Ledger::without_number(Result result) const {
  result.balance = Balance::kUnknown;
  for (; result.count < counts_.size(); ++result.count) {
    const Ref number(PyObject_CallNoArgs(counts_[result.count].function.get()));
    if (number && PyLong_Check(number.get())) continue;
    result.error = number ? "TypeError: no number" : take_error();
    break;
  }
  return result;
}

// A collection fails when the subject's code in it leaves an exception.
void Ledger::collect(Result& result) const {
  if (Ref(PyObject_CallNoArgs(collect_.get()))) return;
  const std::string error = take_error();
  if (!result.collect_error) result.collect_error = error;
}

// PyTorch keeps the tasks of a backward that failed in the queue of its thread. The thread's next
// backward drops them, with the ctxs and tensors that they own.
void Ledger::end_failed_backwards() const {
  if (!interpreter_.find("trivial_backward")) return;
  interpreter_.evaluate("trivial_backward()");
  interpreter_.evaluate("[lane(number, 'trivial_backward()') for number in lanes]");
}

// The prelude's classes, and a library's caches and warnings, grow with the programs, and every
// later collection would visit them.
void Ledger::hide_what_is_left() {
  if (++clean_programs_ % kProgramsPerLook != 0) return;
  const Ref all(PyObject_CallNoArgs(tracked_objects_.get()));
  CHECK(all && PyList_Check(all.get()), "gc.get_objects: " << take_error());
  if (PyList_GET_SIZE(all.get()) <= kTrackedMax) return;
  interpreter_.freeze();
  baseline_ = live();
}

}  // namespace slotfuzz
