// Asks the collector for objects, and the subject for what they own in C++.
#include "harness/engine/owners/references.h"

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// The words of `_owned_by_cpp()` for the references between an impl and its wrapper.
constexpr std::string_view kImplLink = "impl", kHermeticLink = "hermetic", kWrapperLink = "wrapper";

References::By by_of(std::string_view link) {
  if (link == kImplLink) return References::By::kWrapper;
  if (link == kHermeticLink) return References::By::kHermeticWrapper;
  return link == kWrapperLink ? References::By::kImpl : References::By::kCpp;
}

int append(PyObject* object, void* targets) {
  static_cast<std::vector<PyObject*>*>(targets)->push_back(object);
  return 0;
}

std::optional<std::size_t> found_in(const std::unordered_map<std::size_t, std::size_t>& map,
                                    std::size_t key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

References::References(PyObject* tracked, const Layout& layout) {
  add_objects(tracked, layout);
  const std::size_t objects = things_.size();
  for (std::size_t i = 0; i < objects; ++i) {
    if (things_[i].owns_in_cpp) {
      add_listed(i, layout);
    } else {
      add_reported(i);
    }
  }
  // Last: the calls above took references, and have dropped them.
  for (Thing& thing : things_) {
    if (thing.object) thing.count = static_cast<std::uint32_t>(Py_REFCNT(thing.object));
  }
}

std::optional<std::size_t> References::wrapper_of(std::size_t impl) const {
  return found_in(wrapper_of_, impl);
}

std::optional<std::size_t> References::impl_of(std::size_t wrapper) const {
  return found_in(impl_of_, wrapper);
}

std::optional<std::size_t> References::slot_of(std::size_t wrapper) const {
  return found_in(slot_of_, wrapper);
}

void References::pair(std::size_t impl, std::size_t wrapper) {
  wrapper_of_[impl] = wrapper;
  slot_of_[wrapper] = impl;
}

std::size_t References::met(const void* address) {
  const auto [at, is_new] = at_.emplace(address, things_.size());
  if (is_new) {
    things_.push_back({address, nullptr, "", 0});
    edges_.emplace_back();
  }
  return at->second;
}

void References::add_objects(PyObject* tracked, const Layout& layout) {
  const Ref all(PyObject_CallNoArgs(tracked));
  CHECK(all && PyList_Check(all.get()), "gc.get_objects: " << take_error());
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all.get()); ++i) {
    PyObject* object = PyList_GET_ITEM(all.get(), i);
    Thing& thing = things_[met(object)];
    thing.object = object;
    thing.name = Py_TYPE(object)->tp_name;
    thing.owns_in_cpp = layout.kind_of(object) || layout.is_other_owner(object);
  }
}

// Several objects may lead to one impl, whose edges count once.
void References::add_listed(std::size_t from, const Layout& layout) {
  const auto rows = layout.owned_by_cpp(things_[from].object);
  CHECK(rows, "an object that owns in C++ does not say what");
  std::unordered_map<const void*, bool> is_new;
  for (const Layout::CppReference& row : *rows) {
    if (!is_new.contains(row.owner)) is_new[row.owner] = edges_[met(row.owner)].empty();
  }
  for (const Layout::CppReference& row : *rows) {
    // An object that the collector does not track is in no cycle.
    if (row.references == 0 && !at_.contains(row.owned)) continue;
    const std::size_t owner = met(row.owner), owned = met(row.owned);
    Thing& thing = things_[owned];
    if (row.references > 0) {
      thing.name = row.name;
      thing.count = row.references;
      thing.is_in_cycle |= row.is_in_cycle;
    }
    if (!is_new[row.owner]) continue;
    const bool is_python = things_[owner].object && row.references == 0;
    const By by = is_python ? By::kPython : by_of(row.link);
    edges_[owner].push_back({owned, by, row.link});
    if (by == By::kWrapper) pair(owned, owner);
    if (by == By::kImpl) {
      pair(owner, owned);
      // A preserved wrapper owns no impl, so no other row may say what the impl's count is.
      PyObject* wrapper = things_[owned].object;  // null if it is of another interpreter
      const ImplKind* kind = wrapper ? layout.kind_of(wrapper) : nullptr;
      if (things_[owner].count == 0 && kind) {
        things_[owner].count = layout.use_count_of(things_[owner].address, *kind).value_or(0);
        things_[owner].name = kind->name();
      }
    }
    if (by == By::kWrapper || by == By::kHermeticWrapper) impl_of_[owner] = owned;
  }
  impl_count_ = 0;
  // A wrapper of another interpreter is no impl, and its references are not counted.
  for (const Thing& thing : things_) impl_count_ += thing.object == nullptr && thing.count > 0;
}

// What its class reports to the collector.
void References::add_reported(std::size_t from) {
  PyObject* object = things_[from].object;
  const traverseproc traverse = Py_TYPE(object)->tp_traverse;
  if (!traverse) return;
  std::vector<PyObject*> targets;
  traverse(object, &append, &targets);
  for (PyObject* target : targets) {
    const auto at = at_.find(target);
    if (at != at_.end()) edges_[from].push_back({at->second, By::kPython});
  }
}

}  // namespace slotfuzz
