// Observes a run: what the variables hold, and which impls are alive.
#include "harness/engine/judge/tracker.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

template <typename T>
std::uintptr_t as_word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else {
    return static_cast<std::uintptr_t>(value);
  }
}

// A number for a kind that is equal in each process.
std::uintptr_t number_of(const ImplKind* kind) { return kind ? kind->number + 1 : 0; }

// Whether the subject itself has the attribute: then P2 does not cover it.
bool is_of_subject(const Layout& layout, const std::string& attribute) {
  return std::any_of(layout.kinds().begin(), layout.kinds().end(), [&](const ImplKind& kind) {
    return PyObject_HasAttrString(reinterpret_cast<PyObject*>(kind.type), attribute.c_str()) != 0;
  });
}

}  // namespace

Tracker::Tracker(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
                 const Layout& layout)
    : executor_(executor),
      table_(table),
      layout_(layout),
      born_(interpreter.find("born")),
      finalized_(interpreter.find("finalized")),
      owner_kind_(table.find_kind(kOwnerKey)),
      weakref_kind_(table.find_kind(kWeakrefKey)),
      bindings_(table.variable_count()) {
  for (const ImplKind& kind : layout.kinds()) {
    operand_kinds_.push_back(table.find_kind(kind.row->key));
  }
  for (const Op& op : table.ops()) {
    int attribute = -1;
    if (!op.attribute.empty() && !is_of_subject(layout, std::string(op.attribute))) {
      const auto known = std::find(attribute_names_.begin(), attribute_names_.end(), op.attribute);
      attribute = static_cast<int>(known - attribute_names_.begin());
      if (known == attribute_names_.end()) attribute_names_.emplace_back(op.attribute);
    }
    attribute_of_op_.push_back(attribute);
  }
  CHECK(attribute_names_.size() <= 32, "the op table sets more attributes than there are bits");
}

void Tracker::start(const Program& program) {
  line_count_ = program.lines.size();
  hermetic_ = entered_ = 0;
  was_hermetic_ = false;
  cpp_cycles_ = CppCycles();
  named_.clear();
  unbind_all();
  lives_.clear();
  weaks_.clear();
  finalized_counts_.clear();
  swapped_finalized_ = false;
  born_kinds_.clear();
  finalized_seen_ = 0;
}

void Tracker::before_line(std::size_t index, const Line& line) {
  const Op& op = table_.ops()[line.op];
  seen_.index = index;
  seen_.in_hermetic = is_hermetic(line.lane) || table_.has(line, Effect::kInHermetic);
  was_hermetic_ |= seen_.in_hermetic;
  seen_.lane = line.lane;
  seen_.collected = table_.has(line, Effect::kCollects);
  seen_.asked_in_hermetic.reset();
  seen_.met_again.reset();
  born_before_ = born_count();
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i].binds() || op.operands[i].use == Use::kUnbind) {
      note_cpp_cycle_of(line.operands[i]);
    }
  }
}

void Tracker::after_line(const Line& line, bool raised) {
  if (!raised) {
    hermetic_ = hermetic_after(table_.ops()[line.op], line, hermetic_);
    entered_ = entered_after(table_.ops()[line.op], line, entered_);
  }
  observe(line, raised);
  refresh();
  forget_unwitnessed();
  note_finalizers();
  note_dead_weakrefs();
  if (seen_.index + 1 == line_count_) {
    for (int variable = 0; variable < table_.variable_count(); ++variable) {
      note_cpp_cycle_of(variable);
    }
  }
}

void Tracker::drop_all() {
  seen_.index = line_count_;
  unbind_all();
  lives_.clear();
}

void Tracker::unbind_all() {
  for (VariableSet left = bound_; left; left &= left - 1) {
    bindings_[std::countr_zero(left)] = Binding();
  }
  bound_ = wrappers_ = owners_ = 0;
}

void Tracker::unbind(int variable) {
  const VariableSet others = ~(VariableSet{1} << variable);
  bindings_[variable] = Binding();
  bound_ &= others;
  wrappers_ &= others;
  owners_ &= others;
}

// Any line may change what an impl owns, for every variable that leads to the impl.
void Tracker::refresh() {
  for_each_witness([this](int variable) { refresh(bindings_[variable]); });
}

void Tracker::refresh(Binding& binding) const {
  const ImplKind* kind = binding.owned ? binding.owned : binding.kind;
  if (!kind) return;
  binding.impl =
      binding.owned ? layout_.owned_by(binding.object) : layout_.impl_of(binding.object, *kind);
  for (std::size_t edge = 0; edge < kind->edge_count; ++edge) {
    binding.owns[edge] = layout_.owned(binding.impl, *kind, edge);
  }
}

void Tracker::forget_unwitnessed() {
  for (std::size_t i = lives_.size(); i-- > 0;) {
    if (!is_witnessed(lives_[i].impl)) forget(lives_[i].impl);
  }
}

void Tracker::forget(const void* impl) {
  std::erase_if(lives_, [&](const Life& life) { return life.impl == impl; });
  for (Weak& weak : weaks_) weak.excused |= weak.impl == impl;
}

bool Tracker::is_witnessed(const void* impl) const {
  for (VariableSet left = wrappers_ | owners_; left; left &= left - 1) {
    const Binding& binding = bindings_[std::countr_zero(left)];
    if (binding.impl == impl || binding.owns_by_edge(impl)) return true;
  }
  return false;
}

bool Tracker::is_bound(const PyObject* object) const {
  return std::any_of(bindings_.begin(), bindings_.end(),
                     [&](const Binding& binding) { return binding.object == object; });
}

std::uint32_t Tracker::owners_of(const void* impl) const {
  std::array<const void*, kVariableMax> owners;
  std::uint32_t count = 0;
  for_each_witness([&](int variable) {
    const Binding& binding = bindings_[variable];
    const bool directly = binding.owned && binding.impl == impl;
    if (!directly && !binding.owns_by_edge(impl)) return;
    // An owner of a tensor does not count as another owner of what the tensor owns.
    const void* owner = directly ? binding.object : binding.impl;
    const auto seen = owners.begin() + count;
    if (std::find(owners.begin(), seen, owner) == seen) owners[count++] = owner;
  });
  return count;
}

Life* Tracker::life_of(const void* impl) {
  const auto life = std::find_if(lives_.begin(), lives_.end(),
                                 [&](const Life& known) { return known.impl == impl; });
  return impl && life != lives_.end() ? &*life : nullptr;
}

std::string Tracker::last_name_of(const void* address) const {
  const auto named = std::find_if(named_.rbegin(), named_.rend(), [&](const Named& one) {
    return one.object == address || one.impl == address;
  });
  return named == named_.rend() ? "" : table_.variable_name(named->variable);
}

int Tracker::finalized_count(long serial) const {
  const auto at = static_cast<std::size_t>(serial);
  return at < finalized_counts_.size() ? finalized_counts_[at] : 0;
}

const ImplKind* Tracker::kind_of_serial(long serial) const {
  const auto at = static_cast<std::size_t>(serial);
  return at < born_kinds_.size() ? born_kinds_[at] : nullptr;
}

void Tracker::remember(std::vector<std::uintptr_t>& words) const {
  const auto put = [&](const auto&... values) { (words.push_back(as_word(values)), ...); };
  for (const Binding& binding : bindings_) {
    put(binding.object, binding.impl, number_of(binding.kind), number_of(binding.owned),
        binding.mode, binding.serial);
    for (const void* owned : binding.owns) put(owned);
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
  put(hermetic_, entered_, cpp_cycles_.any);
}

std::string Tracker::describe() const {
  std::ostringstream text;
  for (const Life& life : lives_) {
    text << "    observed  impl " << life.impl << "  wrapper " << life.wrapper << "  references "
         << layout_.references_to(life.wrapper);
    if (const auto owners = layout_.use_count_of(life.impl, *life.kind)) {
      text << "  owners " << *owners;
    }
    std::string names = "  names", holders = "  held by", weaks = "  weak";
    for (int variable = 0; variable < table_.variable_count(); ++variable) {
      const Binding& binding = bindings_[variable];
      const std::string& name = table_.variable_name(variable);
      if (binding.object == life.wrapper) names += ' ' + name;
      if ((binding.owned && binding.impl == life.impl) || binding.owns_by_edge(life.impl)) {
        holders += ' ' + name;
      }
    }
    for (const Weak& weak : weaks_) {
      if (weak.wrapper == life.wrapper) weaks += ' ' + table_.variable_name(weak.variable);
    }
    text << holders << names << weaks;
    if (life.serial >= 0) text << "  serial " << life.serial;
    text << '\n';
  }
  return text.str();
}

}  // namespace slotfuzz
