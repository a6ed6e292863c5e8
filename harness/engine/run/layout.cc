// Reads memory at the offsets of layout.h.
#include "harness/engine/run/layout.h"

#include <algorithm>
#include <sstream>

#include "harness/engine/check.h"
#include "harness/engine/run/layout_probe.h"
#include "harness/engine/run/peek.h"

namespace slotfuzz {
namespace {

PyTypeObject* type_of(const Interpreter& interpreter, std::string_view expression) {
  const Ref type = interpreter.evaluate(std::string(expression));
  if (!type || !PyType_Check(type.get())) {
    throw StartError("the subject has no type " + std::string(expression));
  }
  return reinterpret_cast<PyTypeObject*>(type.get());
}

// Those that the subject has. Its module keeps them.
std::vector<PyTypeObject*> types_among(const Interpreter& interpreter,
                                       const std::vector<OtherOwner>& owners) {
  std::vector<PyTypeObject*> types;
  for (const OtherOwner& owner : owners) {
    const Ref type = interpreter.evaluate(std::string(owner.type));
    if (type && PyType_Check(type.get())) {
      types.push_back(reinterpret_cast<PyTypeObject*>(type.get()));
    }
  }
  return types;
}

bool is_of_type(PyObject* object, const std::vector<PyTypeObject*>& types) {
  return std::any_of(types.begin(), types.end(),
                     [&](PyTypeObject* type) { return PyObject_TypeCheck(object, type); });
}

}  // namespace

std::optional<std::size_t> ImplKind::edge_named(std::string_view name) const {
  for (std::size_t edge = 0; edge < edge_count; ++edge) {
    if (row->edges[edge].name == name) return edge;
  }
  return std::nullopt;
}

Layout::Layout(const Interpreter& interpreter, std::span<const ImplKindRow> rows)
    : cdata_(PyUnicode_InternFromString("_cdata")) {
  CHECK(rows.size() <= kImplKindsMax, rows.size() << " kinds of impls");
  for (const ImplKindRow& row : rows) {
    CHECK(row.edges.size() <= kImplEdgesMax, row.name << ": " << row.edges.size() << " edges");
    const bool is_preserved =
        row.preserved_if.empty() || interpreter.evaluate(std::string(row.preserved_if));
    kinds_.push_back({.row = &row,
                      .number = kinds_.size(),
                      .type = type_of(interpreter, row.type),
                      .other_owners = types_among(interpreter, row.other_owners),
                      .is_preserved = is_preserved,
                      .at = {},
                      .targets = {},
                      .edge_count = row.edges.size()});
  }
  for (ImplKind& kind : kinds_) {
    for (std::size_t edge = 0; edge < kind.edge_count; ++edge) {
      kind.targets[edge] = &kind_named(kind.row->edges[edge].kind);
    }
  }
  probe_places(interpreter, kinds_);
}

const ImplKind* Layout::kind_of(PyObject* object) const {
  for (const ImplKind& kind : kinds_) {
    if (PyObject_TypeCheck(object, kind.type)) return &kind;
  }
  return nullptr;
}

const ImplKind& Layout::kind_named(std::string_view name) const {
  const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                 [&](const ImplKind& one) { return one.name() == name; });
  CHECK(kind != kinds_.end(), "no kind of impl is called " << name);
  return *kind;
}

bool Layout::is_borrowing(PyObject* wrapper, const ImplKind& kind) const {
  // torch's MaybeOwned: the flag precedes the pointer. A cleared wrapper borrows nothing.
  return impl_of(wrapper, kind) && *kind.at.impl > sizeof(PyObject) &&
         peek<std::uint8_t>(wrapper, sizeof(PyObject)) == 1;
}

std::optional<std::vector<Layout::CppReference>> Layout::owned_by_cpp(PyObject* object) const {
  const ImplKind* kind = kind_of(object);
  for (const ImplKind& one : kinds_) {
    if (!kind && is_of_type(object, one.other_owners)) kind = &one;
  }
  if (!kind || kind->row->owned.empty()) return std::nullopt;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);  // the line's error, if it raised
  const Ref method(PyObject_GetAttrString(object, std::string(kind->row->owned).c_str()));
  const Ref list(method ? PyObject_CallNoArgs(method.get()) : nullptr);
  PyErr_Restore(type, value, traceback);
  if (!method) return std::nullopt;
  std::vector<CppReference> references;
  for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list.get()); ++i) {
    const auto cell = [&](Py_ssize_t at) {
      return PyTuple_GET_ITEM(PyList_GET_ITEM(list.get(), i), at);
    };
    references.push_back({PyLong_AsVoidPtr(cell(0)), PyUnicode_AsUTF8(cell(1)),
                          PyLong_AsVoidPtr(cell(2)), PyUnicode_AsUTF8(cell(3)),
                          static_cast<std::uint32_t>(PyLong_AsUnsignedLong(cell(4))),
                          cell(5) == Py_True});
  }
  return references;
}

bool Layout::is_other_owner(PyObject* object) const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [&](const ImplKind& kind) { return is_of_type(object, kind.other_owners); });
}

Py_ssize_t Layout::references_to(const PyObject* wrapper) const {
  return peek<decltype(PyObject::ob_refcnt)>(wrapper, offsetof(PyObject, ob_refcnt));
}

const void* Layout::owned_by(PyObject* owner) const {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);  // the line's error, if it raised
  const Ref address(PyObject_GetAttr(owner, cdata_.get()));
  const void* impl = address ? PyLong_AsVoidPtr(address.get()) : nullptr;
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  return impl;
}

std::string Layout::describe() const {
  std::ostringstream text;
  const auto put = [&](std::string_view owner, std::string_view part, const Offset& offset) {
    text << owner << ' ' << part << ' ' << (offset ? std::to_string(*offset) : "-") << "  ";
  };
  for (const ImplKind& kind : kinds_) {
    put(kind.name(), "impl", kind.at.impl);
    put(kind.name(), "use count", kind.at.use_count);
    for (std::size_t edge = 0; edge < kind.edge_count; ++edge) {
      const std::string name =
          std::string(kind.name()) + '.' + std::string(kind.row->edges[edge].name);
      put(name, "block", kind.at.edges[edge].block);
      put(name, "word", kind.at.edges[edge].word);
      put(name, "flag", kind.at.edges[edge].flag);
    }
  }
  return text.str();
}

}  // namespace slotfuzz
