// Following a run: what the variables hold, which impls are alive, and in which states they are.
#include "harness/engine/judge/judge.h"

#include <algorithm>
#include <bit>
#include <sstream>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// The parts of a wrapper's state, and how many values each one has.
constexpr std::size_t kShapes = 3, kHermetics = 2, kModes = 3, kOwners = 4, kReferences = 3,
                      kTypes = 2;
// Where the counters by op begin: behind the states of a wrapper.
constexpr std::size_t kStateOfOp = kShapes * kHermetics * kModes * kOwners * kReferences * kTypes;
static_assert(kStateOfOp < kStateCounters);

bool says_resurrection(const Interpreter& interpreter) {
  const Ref name = interpreter.evaluate("T._preservation");
  return name && PyUnicode_Check(name.get()) &&
         PyUnicode_CompareWithASCIIString(name.get(), "resurrection") == 0;
}

template <typename T>
std::uintptr_t as_word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else {
    return static_cast<std::uintptr_t>(value);
  }
}

}  // namespace

std::string Verdict::describe() const {
  std::string text = "slotfuzz: " + contract + ' ' + check + ": " + message + "\n";
  for (const std::string& assertion : asserts) text += "    " + assertion + "\n";
  return text;
}

Judge::Judge(Interpreter& interpreter, const Executor& executor, const OpTable& table,
             const Layout& layout, std::span<std::uint8_t, kStateCounters> states)
    : interpreter_(interpreter),
      executor_(executor),
      table_(table),
      layout_(layout),
      has_exemption_(says_resurrection(interpreter)),
      keeps_storages_(static_cast<bool>(interpreter.evaluate("T.Tensor.untyped_storage"))),
      states_(states),
      born_(interpreter.find("born")),
      finalized_(interpreter.find("finalized")),
      unraisable_(interpreter.find("unraisable")),
      live_impls_(interpreter.evaluate("T._live_impls")),
      live_wrappers_(interpreter.evaluate("T._live_wrappers")),
      left_behind_(interpreter.evaluate("T._left_behind")),
      is_hermetic_(interpreter.evaluate("T._is_hermetic")),
      collect_(interpreter.evaluate("gc.collect")),
      tracked_objects_(interpreter.evaluate("gc.get_objects")),
      referrers_(interpreter.evaluate("gc.get_referrers")),
      // Without functions for them, live wrappers are what the collector knows of, and set-up
      // takes all that it has made out of the collector's sight.
      baseline_(live_impls_ && live_wrappers_ ? live() : std::pair<long, long>()),
      bindings_(table.variable_count()) {
  auto* tensor_type = reinterpret_cast<PyObject*>(layout.base_type(Layout::Shape::kTensor));
  for (const Op& op : table.ops()) {
    int attribute = -1;
    // What the subject itself has is not for the program to keep.
    const std::string name(op.attribute);
    if (!name.empty() && !PyObject_HasAttrString(tensor_type, name.c_str())) {
      const auto known = std::find(attribute_names_.begin(), attribute_names_.end(), op.attribute);
      attribute = static_cast<int>(known - attribute_names_.begin());
      if (known == attribute_names_.end()) attribute_names_.push_back(op.attribute);
    }
    attribute_of_op_.push_back(attribute);
  }
  if (baseline_.first == kNoCount || baseline_.second == kNoCount) {
    throw StartError(
        "the module under test does not say what lives: T._live_impls() and"
        " T._live_wrappers() must return numbers");
  }
  CHECK(attribute_names_.size() <= 32, "the op table sets more attributes than there are bits");
}

void Judge::start(const Program& program) {
  verdict_ = Verdict();
  line_count_ = program.lines.size();
  hermetic_ = 0;
  made_cpp_cycle_ = false;
  unbind_all();
  lives_.clear();
  weaks_.clear();
  finalized_counts_.clear();
  swapped_finalized_ = false;
  born_shapes_.clear();
  finalized_seen_ = 0;
}

void Judge::before_line(std::size_t index, const Line& line) {
  const Op& op = table_.ops()[line.op];
  index_ = index;
  hermetic_now_ = (hermetic_ >> line.lane & 1) || op.has(Effect::kInHermetic);
  lane_now_ = line.lane;
  collects_now_ = op.has(Effect::kCollects);
  born_before_ = born_ ? PyList_GET_SIZE(born_) : 0;
}

void Judge::after_line(std::size_t, const Line& line, PyObject* raised) {
  if (raised) {
    check_exception(line, raised);
  } else {
    hermetic_ = hermetic_after(table_.ops()[line.op], line, hermetic_);
  }
  observe(line, raised != nullptr);
  refresh();
  forget_unwitnessed();
  check_finalizers();
  check_weakrefs();
  check_use_counts(line);
  check_unraisable();
  mark_states(line);
}

void Judge::after_drop() {
  index_ = line_count_;
  if (verdict_.found()) return;
  // From here on nothing is bound, and nothing may live.
  unbind_all();
  lives_.clear();
  check_reset();
  check_hermetic_left();
  check_unraisable();
  check_finalizers();
  if (!check_ledger()) return;
  check_never_finalized();
  check_after_drop_weakrefs();
}

void Judge::unbind_all() {
  std::fill(bindings_.begin(), bindings_.end(), Binding());
  wrappers_ = owners_ = 0;
}

void Judge::observe(const Line& line, bool raised) {
  const Op& op = table_.ops()[line.op];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Operand& operand = op.operands[i];
    if (operand.kind >= 0 && !table_.kinds()[operand.kind].is_variable()) continue;
    if (operand.use == Use::kUnbind) {
      if (executor_.value_of(line.operands[i])) continue;
      bindings_[line.operands[i]] = Binding();
      wrappers_ &= ~(VariableSet{1} << line.operands[i]);
      owners_ &= ~(VariableSet{1} << line.operands[i]);
    } else if (operand.letter == kOwnerLetter && operand.binds() && !raised) {
      bind_owner(line.operands[i], line.operands[1]);
    } else if (operand.binds() && !raised) {
      Operand bound = operand;
      // `t0.grad` and `t0.data` are attributes like any other when t0 names a storage.
      const bool of_tensor = op.operands.size() > 1 && op.operands[1].letter == 't';
      if (of_tensor && bindings_[line.operands[1]].shape != Layout::Shape::kTensor) {
        bound.use = Use::kBind;
      }
      bind(bound, line.operands[i]);
    }
  }
  if (raised) return;
  // A line about a tensor may have met a storage under its name.
  if (op.attribute == "grad" && bindings_[line.operands[0]].shape == Layout::Shape::kTensor) {
    note_cpp_cycle(bindings_[line.operands[0]].impl);
  }
  // A check of the prelude swaps tensors of its own.
  if (op.has(Effect::kSwaps) && !op.has(Effect::kChecks)) {
    note_swap(line.operands[0], line.operands[1]);
  }
  if (attribute_of_op_[line.op] >= 0) note_attribute(op, line);
  if (!op.operands.empty() && op.operands[0].letter == 'r') note_weakref(line, op);
}

void Judge::bind(const Operand& operand, int variable) {
  Binding& binding = bindings_[variable];
  const Binding before = binding;
  binding = Binding();
  wrappers_ &= ~(VariableSet{1} << variable);
  binding.object = executor_.value_of(variable);
  binding.lane = lane_now_;
  if (!binding.object || binding.object == Py_None) return;
  binding.shape = layout_.shape_of(binding.object);
  if (binding.shape == Layout::Shape::kOther) return;
  wrappers_ |= VariableSet{1} << variable;
  refresh(binding);
  if (operand.use == Use::kBind) {
    // Fetched from somewhere: it is what another name or a Life says that it is.
    if (binding.object == before.object) binding = before;
    for (int other = 0; other < table_.variable_count(); ++other) {
      if (other != variable && bindings_[other].object == binding.object) {
        binding = bindings_[other];
      }
    }
    const Life* life = life_of(binding.impl);
    if (life && life->wrapper == binding.object) {
      binding.mode = Mode::kNormal;
      binding.serial = life->serial;
    }
  } else {
    binding.mode = hermetic_now_ ? Mode::kHermetic : Mode::kNormal;
  }
  if (operand.use == Use::kMake) note_born(binding);
  if (operand.use == Use::kAsk && hermetic_now_) check_hermetic_wrap(variable);
  if (binding.mode == Mode::kNormal) know(variable, operand);
}

// `x0 = Owner(s0)`. That it lets go, on whichever thread, shows in its `_cdata`.
void Judge::bind_owner(int variable, int source) {
  Binding& binding = bindings_[variable];
  binding = Binding();
  binding.object = executor_.value_of(variable);
  binding.lane = lane_now_;
  binding.owned = bindings_[source].shape;
  owners_ |= VariableSet{1} << variable;
  refresh(binding);
}

void Judge::refresh(Binding& binding) const {
  const bool owner = binding.owned != Layout::Shape::kOther;
  binding.impl =
      owner ? layout_.owned_by(binding.object) : layout_.impl_of(binding.object, binding.shape);
  if ((owner ? binding.owned : binding.shape) != Layout::Shape::kTensor) return;
  binding.storage = layout_.storage_of(binding.impl);
  binding.grad = layout_.grad_of(binding.impl);
  binding.base = layout_.base_of(binding.impl);
}

// Any line may change what a tensor owns, under every name that it has.
void Judge::refresh() {
  for (VariableSet left = wrappers_ | owners_; left; left &= left - 1) {
    refresh(bindings_[std::countr_zero(left)]);
  }
}

// A normal wrapper is seen: it is a Life's, or begins one.
void Judge::know(int variable, const Operand& operand) {
  Binding& binding = bindings_[variable];
  if (!binding.impl) return;
  if (binding.shape == Layout::Shape::kStorage && !keeps_storages_) return;
  Life* life = life_of(binding.impl);
  if (!life || operand.use == Use::kMake) {
    forget(binding.impl);
    lives_.push_back(
        {binding.impl, binding.object, Py_TYPE(binding.object), 0, binding.serial, binding.shape});
    return;
  }
  if (life->wrapper != binding.object) {
    check_identity(variable, *life);
    life->wrapper = binding.object;
  }
  binding.serial = life->serial;
  check_kept(variable, *life);
}

void Judge::note_attribute(const Op& op, const Line& line) {
  const Binding& target = bindings_[line.operands[0]];
  const bool hermetic = op.attribute_of_storage ? hermetic_now_ : target.mode != Mode::kNormal;
  Life* life = life_of(op.attribute_of_storage ? target.storage : target.impl);
  if (life && !hermetic) life->attributes |= 1u << attribute_of_op_[line.op];
}

void Judge::forget_unwitnessed() {
  for (std::size_t i = lives_.size(); i-- > 0;) {
    if (!is_witnessed(lives_[i].impl)) forget(lives_[i].impl);
  }
}

void Judge::forget(const void* impl) {
  std::erase_if(lives_, [&](const Life& life) { return life.impl == impl; });
  for (Weak& weak : weaks_) weak.excused |= weak.impl == impl;
}

bool Judge::is_witnessed(const void* impl) const {
  for (VariableSet left = wrappers_ | owners_; left; left &= left - 1) {
    const Binding& binding = bindings_[std::countr_zero(left)];
    if (binding.impl == impl || binding.storage == impl) return true;
    if (binding.grad == impl || binding.base == impl) return true;
  }
  return false;
}

bool Judge::is_bound(const PyObject* object) const {
  return std::any_of(bindings_.begin(), bindings_.end(),
                     [&](const Binding& binding) { return binding.object == object; });
}

Judge::Life* Judge::life_of(const void* impl) {
  const auto life = std::find_if(lives_.begin(), lives_.end(),
                                 [&](const Life& known) { return known.impl == impl; });
  return impl && life != lives_.end() ? &*life : nullptr;
}

Judge::Memory Judge::memory() const {
  Memory memory;
  const auto put = [&](const auto&... values) { (memory.words.push_back(as_word(values)), ...); };
  for (const Binding& binding : bindings_) {
    put(binding.object, binding.impl, binding.storage, binding.grad, binding.shape, binding.owned,
        binding.mode, binding.serial);
    const bool owner = binding.owned != Layout::Shape::kOther;
    if (!binding.impl) continue;
    const bool tensor = (owner ? binding.owned : binding.shape) == Layout::Shape::kTensor;
    (tensor ? memory.tensors : memory.storages).push_back(binding.impl);
  }
  put(lives_.size());
  for (const Life& life : lives_) {
    put(life.impl, life.wrapper, std::hash<std::string_view>()(life.type->tp_name), life.attributes,
        life.serial);
  }
  put(weaks_.size());
  for (const Weak& weak : weaks_) {
    put(weak.variable, weak.reference, weak.kept.get(), weak.impl, weak.wrapper, weak.excused);
  }
  for (const int count : finalized_counts_) put(count);
  const auto [impls, wrappers] = live();
  put(impls - baseline_.first, wrappers - baseline_.second, hermetic_, made_cpp_cycle_,
      std::hash<std::string>()(verdict_.contract + verdict_.check));
  return memory;
}

// Life-cycle states guide the search where code is not instrumented: which op left how many owners,
// in which mode, and whether it met an object of another lane; and each combination of owners,
// Python references, mode and class that was reached.
void Judge::mark_states(const Line& line) {
  const Op& op = table_.ops()[line.op];
  std::size_t owners_most = 0;
  bool crosses = false;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i].kind >= 0 && !table_.kinds()[op.operands[i].kind].is_variable()) continue;
    const Binding& binding = bindings_[line.operands[i]];
    if (!binding.impl) continue;
    const std::size_t owners =
        std::min<std::uint32_t>(layout_.use_count_of(binding.impl).value_or(0), kOwners - 1);
    std::size_t state = static_cast<std::size_t>(binding.shape);
    state = state * kHermetics + hermetic_now_;
    state = state * kModes + static_cast<std::size_t>(binding.mode);
    state = state * kOwners + owners;
    state = state * kReferences + std::min<Py_ssize_t>(Py_REFCNT(binding.object), kReferences) - 1;
    state = state * kTypes + (Py_TYPE(binding.object) != layout_.base_type(binding.shape));
    states_[state] = 1;
    owners_most = std::max(owners_most, owners);
    crosses |= binding.lane != line.lane;
  }
  const std::size_t op_of_lane = crosses * table_.ops().size() + line.op;
  const std::size_t effect = (op_of_lane * kHermetics + hermetic_now_) * kOwners + owners_most;
  states_[kStateOfOp + effect % (kStateCounters - kStateOfOp)] = 1;
}

void Judge::note_cpp_cycle(const void* first) {
  std::vector<const void*> reached;
  const auto reach = [&](const void* impl) {
    const bool is_new = std::find(reached.begin(), reached.end(), impl) == reached.end();
    if (impl && is_new && reached.size() < kLinksMax) reached.push_back(impl);
  };
  reach(layout_.grad_of(first));
  for (std::size_t at = 0; at < reached.size(); ++at) {
    reach(layout_.grad_of(reached[at]));
    reach(layout_.base_of(reached[at]));
  }
  made_cpp_cycle_ |= std::find(reached.begin(), reached.end(), first) != reached.end();
}

std::string Judge::in_sight() const {
  std::ostringstream text;
  for (const Life& life : lives_) {
    if (!live_wrappers_) break;
    text << "    in sight  impl " << life.impl << "  wrapper " << life.wrapper << "  references "
         << layout_.references_to(life.wrapper);
    if (const auto owners = layout_.use_count_of(life.impl)) text << "  owners " << *owners;
    std::string names = "  names", holders = "  held by", weaks = "  weak";
    for (int variable = 0; variable < table_.variable_count(); ++variable) {
      const Binding& binding = bindings_[variable];
      const bool owner = binding.owned != Layout::Shape::kOther && binding.impl == life.impl;
      if (binding.object == life.wrapper) names += ' ' + name(variable);
      if (owner || binding.storage == life.impl || binding.grad == life.impl) {
        holders += ' ' + name(variable);
      }
    }
    for (const Weak& weak : weaks_) {
      if (weak.wrapper == life.wrapper) weaks += ' ' + name(weak.variable);
    }
    text << holders << names << weaks;
    if (life.serial >= 0) text << "  serial " << life.serial;
    text << '\n';
  }
  return text.str();
}

void Judge::report_error(const char* contract, const std::string& check, std::string error,
                         std::vector<std::string> shown) {
  if (verdict_.found()) return;
  verdict_ = {"exception", contract, check, std::move(error), "", index_, std::move(shown)};
}

void Judge::report(const char* contract, const char* check, std::string message,
                   std::vector<std::string> asserts) {
  if (verdict_.found()) return;
  verdict_ = {"assert", contract, check, std::move(message), "", index_, std::move(asserts)};
}

}  // namespace slotfuzz
