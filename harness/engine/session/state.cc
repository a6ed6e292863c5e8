// Walks the graph of state.h and hashes it.
#include "harness/engine/session/state.h"

#include <dlfcn.h>
#include <malloc.h>
#include <structmember.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "harness/engine/check.h"
#include "harness/engine/run/peek.h"

// Only AddressSanitizer's runtime defines this.
extern "C" int __asan_address_is_poisoned(const volatile void* address);

namespace slotfuzz {
namespace {

using Word = std::uintptr_t;

// No impl is larger.
constexpr std::size_t kImplBytesMax = 1024;
// Words in this range may be addresses: counts and sizes are below, and counts with a high bit are
// above.
constexpr Word kAddressMin = Word{1} << 44;
constexpr Word kAddressMax = Word{1} << 48;
// Replaces an address that points to no node, and the contents of freed memory.
constexpr Word kElsewhere = 0x9e3779b97f4a7c15;
constexpr Word kFreed = 0xc2b2ae3d27d4eb4f;

bool is_freed([[maybe_unused]] const void* memory) {
  if constexpr (__has_feature(address_sanitizer)) return __asan_address_is_poisoned(memory);
  return false;
}

Word word_at(const void* memory, std::size_t index) {
  return peek<Word>(memory, index * sizeof(Word));
}

// Variables and functions of mapped binaries: their addresses mean the same in each run.
bool is_static(Word address) {
  Dl_info info;
  return dladdr(reinterpret_cast<const void*>(address), &info) != 0;
}

class Hash {
 public:
  void put(Word word) {
    value_ ^= word + kElsewhere + (value_ << 6) + (value_ >> 2);
    value_ *= 0xff51afd7ed558ccd;
    value_ ^= value_ >> 32;
  }
  void put(std::string_view words) { put(std::hash<std::string_view>()(words)); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

// Collects the nodes in the order of discovery, then hashes them.
class Graph {
 public:
  Graph(const Layout& layout, PyObject* tracked) : layout_(layout), tracked_(tracked) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tracked); ++i) {
      fresh_.insert(PyList_GET_ITEM(tracked, i));
    }
  }

  void add(PyObject* object) {
    if (!object || !is_node(object) || !order_.try_emplace(object, nodes_.size()).second) return;
    nodes_.push_back({object, object, {}});
  }
  // Adds the impl and all that it owns, however long the chain.
  void add_impl(const void* first, const ImplKind& first_kind) {
    std::vector<std::pair<const void*, const ImplKind*>> left = {{first, &first_kind}};
    while (!left.empty()) {
      const auto [impl, kind] = left.back();
      left.pop_back();
      if (!impl || !order_.try_emplace(impl, nodes_.size()).second) continue;
      nodes_.push_back({impl, nullptr, {}});
      for (std::size_t edge = 0; edge < kind->edge_count && !is_freed(impl); ++edge) {
        left.emplace_back(layout_.owned(impl, *kind, edge), kind->targets[edge]);
      }
    }
  }

  // Adds all that the nodes reach, and then unreachable objects, which the collector may find.
  void explore() {
    std::size_t explored = 0;
    const auto go_on = [&] {
      for (; explored < nodes_.size(); ++explored) {
        if (nodes_[explored].object) follow(explored);
      }
    };
    go_on();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tracked_); ++i) {
      // No cycle is made of tuples alone, and CPython makes tuples of keywords when it needs them.
      if (PyTuple_CheckExact(PyList_GET_ITEM(tracked_, i))) continue;
      add(PyList_GET_ITEM(tracked_, i));
      go_on();
    }
  }

  void put_all(Hash& hash) const {
    // The collector finalizes dead objects in the order of its lists.
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tracked_); ++i) {
      const auto node = order_.find(PyList_GET_ITEM(tracked_, i));
      if (node != order_.end()) hash.put(node->second);
    }
    for (const Node& node : nodes_) {
      if (is_freed(node.memory)) {
        hash.put(kFreed);
      } else if (node.object) {
        put_object(hash, node);
      } else {
        const std::size_t bytes = malloc_usable_size(const_cast<void*>(node.memory));
        put_memory(hash, node.memory, 0, std::min(bytes, kImplBytesMax) / sizeof(Word));
      }
    }
  }

  // Hashes a value: a node by its number, anything else by its contents, address or type.
  void put(Hash& hash, PyObject* object) const {
    if (!object) return hash.put(Word{0});
    if (const auto node = order_.find(object); node != order_.end()) return hash.put(node->second);
    if (PyLong_CheckExact(object)) {
      put_word(hash, PyLong_AsUnsignedLongLongMask(object));
    } else if (PyUnicode_CheckExact(object)) {
      hash.put(static_cast<Word>(PyObject_Hash(object)));
    } else if (PyObject_GC_IsTracked(object) || PyType_Check(object) || object == Py_None) {
      hash.put(reinterpret_cast<Word>(object));
    } else {
      hash.put(Py_TYPE(object)->tp_name);
    }
  }
  void put_word(Hash& hash, Word word) const {
    const auto node = order_.find(reinterpret_cast<const void*>(word));
    if (node != order_.end()) {
      hash.put(node->second);
    } else {
      const bool address = word >= kAddressMin && word < kAddressMax;
      hash.put(address && !is_static(word) ? kElsewhere : word);
    }
  }

 private:
  struct Node {
    const void* memory;
    // Null for an impl.
    PyObject* object;
    std::vector<PyObject*> referents;
  };

  // Whether the object was created since set-up. The collector does not track tuples and dicts of
  // plain values; an object that it tracks and does not list is older than set-up.
  bool is_node(PyObject* object) const {
    if (fresh_.contains(object) || is_freed(object)) return true;
    if (PyObject_GC_IsTracked(object)) return false;
    return PyTuple_CheckExact(object) || PyDict_CheckExact(object) ||
           layout_.kind_of(object) != nullptr;
  }

  void follow(std::size_t index) {
    PyObject* object = nodes_[index].object;
    if (is_freed(object)) return;
    std::vector<PyObject*> referents;
    const auto visit = [](PyObject* referent, void* list) {
      static_cast<std::vector<PyObject*>*>(list)->push_back(referent);
      return 0;
    };
    if (traverseproc traverse = Py_TYPE(object)->tp_traverse) traverse(object, visit, &referents);
    if (const ImplKind* kind = layout_.kind_of(object)) {
      // A wrapper that C++ shares hides its attributes from the collector.
      follow_attributes(object, referents);
      add_impl(layout_.impl_of(object, *kind), *kind);
    }
    for (PyObject* referent : referents) add(referent);
    nodes_[index].referents = std::move(referents);
  }

  static void follow_attributes(PyObject* object, std::vector<PyObject*>& referents) {
    if (Py_TYPE(object)->tp_dictoffset != 0) {
      const Ref attributes(PyObject_GenericGetDict(object, nullptr));
      CHECK(attributes, "__dict__: " << take_error());
      referents.push_back(attributes.get());
    }
    for (PyTypeObject* type = Py_TYPE(object); type; type = type->tp_base) {
      for (PyMemberDef* member = type->tp_members; member && member->name; ++member) {
        if (member->type != T_OBJECT_EX) continue;
        const char* place = reinterpret_cast<const char*>(object) + member->offset;
        referents.push_back(reinterpret_cast<PyObject*>(word_at(place, 0)));
      }
    }
  }

  void put_object(Hash& hash, const Node& node) const {
    hash.put(Py_TYPE(node.object)->tp_name);
    if (fresh_.contains(node.object)) hash.put(static_cast<Word>(Py_REFCNT(node.object)));
    hash.put(node.referents.size());
    for (PyObject* referent : node.referents) put(hash, referent);
    // A dict counts its changes in a word of its memory.
    if (PyDict_CheckExact(node.object)) return;
    const auto bytes = static_cast<std::size_t>(Py_TYPE(node.object)->tp_basicsize);
    put_memory(hash, node.object, sizeof(PyObject) / sizeof(Word), bytes / sizeof(Word));
  }

  void put_memory(Hash& hash, const void* memory, std::size_t begin, std::size_t end) const {
    hash.put(end);
    for (std::size_t i = begin; i < end; ++i) put_word(hash, word_at(memory, i));
  }

  const Layout& layout_;
  PyObject* tracked_;
  std::unordered_set<const void*> fresh_;
  std::vector<Node> nodes_;
  std::unordered_map<const void*, std::size_t> order_;
};

// The objects that the collector tracks, in the order in which a full collection visits them: it
// appends the younger generations to the oldest.
Ref tracked_in_order(PyObject* get_objects) {
  Ref all(PyList_New(0));
  CHECK(all, "list");
  PyObject_GC_UnTrack(all.get());
  for (const int generation : {2, 0, 1}) {
    const Ref some(PyObject_CallFunction(get_objects, "i", generation));
    CHECK(some && PyList_Check(some.get()), "gc.get_objects: " << take_error());
    const Py_ssize_t end = PyList_GET_SIZE(all.get());
    CHECK(PyList_SetSlice(all.get(), end, end, some.get()) == 0, "list");
  }
  return all;
}

}  // namespace

StateReader::StateReader(const Interpreter& interpreter, const Executor& executor,
                         const OpTable& table, const Layout& layout, const Judge& judge)
    : interpreter_(interpreter),
      executor_(executor),
      table_(table),
      layout_(layout),
      judge_(judge),
      tracked_objects_(interpreter.evaluate("gc.get_objects")),
      is_hermetic_(interpreter.evaluate("T._is_hermetic")) {
  // CPython creates a tuple or two in the first call of a function.
  read();
}

std::uint64_t StateReader::read() const {
  CHECK(!PyErr_Occurred(), "a state with an error set");
  Hash hash;
  if (is_hermetic_) {
    const Ref hermetic(PyObject_CallNoArgs(is_hermetic_.get()));
    hash.put(hermetic.get() == Py_True);
  }
  const Ref tracked = tracked_in_order(tracked_objects_.get());
  std::vector<PyObject*> roots;
  for (int variable = 0; variable < table_.variable_count(); ++variable) {
    roots.push_back(executor_.value_of(variable));
  }
  for (const auto& [name, list] : interpreter_.prelude_lists()) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      roots.push_back(PyList_GET_ITEM(list, i));
    }
    roots.push_back(nullptr);
  }
  const Judge::Memory memory = judge_.memory();
  Graph graph(layout_, tracked.get());
  for (PyObject* root : roots) graph.add(root);
  for (const auto& [impl, kind] : memory.impls) graph.add_impl(impl, *kind);
  graph.explore();
  graph.put_all(hash);
  for (PyObject* root : roots) graph.put(hash, root);
  for (const std::uintptr_t word : memory.words) graph.put_word(hash, word);
  return hash.value();
}

}  // namespace slotfuzz
