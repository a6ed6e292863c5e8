// A third kind of impl: a Python type with `_cdata`, an impl in separate memory, and a count of
// live objects. The engine knows it by one row only.
#pragma once

#include <string_view>
#include <vector>

#include "harness/engine/check.h"
#include "harness/engine/judge/judge.h"
#include "tests/engine/session_fixture.h"

namespace slotfuzz {

// A node owns a tensor and another node by addresses in its impl, as a C++ object would. From here
// on the program line `Sub(1)` makes a node.
inline constexpr const char* kNodeType = R"(
import ctypes
allocate = ctypes.CDLL(None).calloc
allocate.restype = ctypes.c_void_p

class Node(ctypes.Structure):
    _fields_ = [("_cdata", ctypes.c_void_p)]
    live = 0

    def __init__(self):
        self._cdata, self.held = allocate(4, 8), []
        Node.live += 1

    def __del__(self):
        Node.live -= 1

    def count(self, change):
        ctypes.c_uint32.from_address(self._cdata).value += change

    def point(self, word, one):
        ctypes.c_void_p.from_address(self._cdata + 8 * word).value = one._cdata

    def set_owner(self, tensor):
        self.held.append(Owner(tensor))
        self.point(1, tensor)

    def set_other(self, node):
        self.held.append(node)
        node.count(1)
        self.point(2, node)

    def nbytes(self):
        return 0

    owner, other = property(None, set_owner), property(None, set_other)
    live_nodes = staticmethod(lambda: Node.live)

Sub = lambda size: Node()
)";

inline std::vector<ImplKindRow> rows_with_nodes() {
  std::vector<ImplKindRow> rows(impl_kind_rows().begin(), impl_kind_rows().end());
  rows.push_back(
      {.name = "node",
       .check_prefix = "node ",
       .key = "p",
       .type = "Node",
       .example = "Node()",
       .counted = "(lambda one: (one, lambda: one.count(1)))(Node())",
       .preserved_if = "",
       .edges = {{.name = "variable",
                  .kind = "tensor",
                  .attribute = "",
                  .link = "lambda one: (lambda t: (one.set_owner(t), (one, t))[1])(T.ones(1))",
                  .unlink = "",
                  .lookalike = ""},
                 {.name = "next",
                  .kind = "node",
                  .attribute = "",
                  .link = "lambda one: (lambda n: (one.set_other(n), (one, n))[1])(Node())",
                  .unlink = "",
                  .lookalike = ""}},
       .graph = "",
       .owned = "",
       .other_owners = {},
       .clear = "",
       .released = {},
       .wrap_again = "",
       .empty = "",
       .counts = {{"nodes", "Node.live_nodes"}}});
  return rows;
}

// Creates the type, and a judge that has its row.
struct JudgeOfNodes {
  JudgeOfNodes() : rows(rows_with_nodes()) {
    PyObject* names = test_session().interpreter.names();
    CHECK(Ref(PyRun_String(kNodeType, Py_file_input, names, names)), take_error());
    Session& session = test_session();
    layout.emplace(session.interpreter, rows);
    judge.emplace(session.interpreter, session.executor, session.table, *layout, states);
  }

  const std::vector<ImplKindRow> rows;
  std::uint8_t states[kStateCounters] = {};
  std::optional<Layout> layout;
  std::optional<Judge> judge;
};

}  // namespace slotfuzz
