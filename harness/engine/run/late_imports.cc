// Compares sys.modules with the names that it had.
#include "harness/engine/run/late_imports.h"

#include <fstream>

namespace slotfuzz {

LateImports::LateImports(const Interpreter& interpreter, std::string file)
    : interpreter_(interpreter), file_(std::move(file)) {
  take_new();
  learn();
}

std::vector<std::string> LateImports::take_new() {
  std::vector<std::string> names;
  PyObject *name = nullptr, *module = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(PyImport_GetModuleDict(), &i, &name, &module);) {
    const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (text != nullptr && known_.insert(text).second) names.push_back(text);
    PyErr_Clear();
  }
  size_ = PyDict_Size(PyImport_GetModuleDict());
  return names;
}

void LateImports::note() {
  if (PyDict_Size(PyImport_GetModuleDict()) == size_) return;
  const std::vector<std::string> names = take_new();
  if (file_.empty()) return;
  std::string lines;
  for (const std::string& name : names) lines += name + '\n';
  // One write, since other processes append, too.
  std::ofstream(file_, std::ios::app | std::ios::binary) << lines << std::flush;
}

void LateImports::learn() {
  if (file_.empty()) return;
  std::ifstream file(file_, std::ios::binary);
  file.seekg(read_);
  bool is_new = false;
  for (std::string name; std::getline(file, name) && !file.eof();) {
    read_ += static_cast<long>(name.size()) + 1;
    if (!known_.insert(name).second) continue;
    is_new = true;
    // What a module has put into sys.modules need not have a name that can be imported.
    Ref(PyImport_ImportModule(name.c_str()));
    PyErr_Clear();
  }
  if (!is_new) return;
  take_new();
  interpreter_.freeze();
}

}  // namespace slotfuzz
