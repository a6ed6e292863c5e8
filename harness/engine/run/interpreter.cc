// Starts CPython, imports the subject, runs the prelude.
#include "harness/engine/run/interpreter.h"

#include <marshal.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "harness/engine/check.h"
#include "harness/engine/process/probe.h"
#include "harness/engine/process/shared_memory.h"

namespace slotfuzz {
namespace {

void must(PyStatus status) {
  if (PyStatus_Exception(status)) throw StartError(std::string("Python: ") + status.err_msg);
}

// This binary's folder, if it contains the standard library, as on a machine without Python
// (ci/fuzz_build.sh). Otherwise empty, and CPython searches its install prefix.
std::string home_beside_program() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string version =
      std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
  const bool has_library = std::filesystem::exists(folder / "lib" / ("python" + version) / "os.py");
  return has_library ? folder.string() : std::string();
}

PyStatus configure(PyConfig& config) {
  const PyStatus named = PyConfig_SetBytesString(&config, &config.program_name, SLOTFUZZ_PYTHON);
  const std::string home = home_beside_program();
  if (PyStatus_Exception(named) || home.empty()) return named;
  return PyConfig_SetBytesString(&config, &config.home, home.c_str());
}

void start_python(const InterpreterOptions& options) {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.allocator = PYMEM_ALLOCATOR_MALLOC;
  before.utf8_mode = 1;
  must(Py_PreInitialize(&before));
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.use_hash_seed = 1;
  config.hash_seed = 0;
  config.install_signal_handlers = 0;
  config.write_bytecode = 0;
  // Importing `site` takes two thirds of an interpreter's start; `paths` has what it would find.
  config.site_import = 0;
  const PyStatus configured = configure(config);
  const PyStatus status =
      PyStatus_Exception(configured) ? configured : Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  must(status);
  PyObject* path = PySys_GetObject("path");
  for (const std::string& folder : options.paths) {
    const Ref text(PyUnicode_FromString(folder.c_str()));
    CHECK(text && PyList_Append(path, text.get()) == 0, "sys.path");
  }
}

// What scripts/compile_prelude.py has written.
constexpr std::string_view kPreludeCode[] = {
#include "prelude_code.inc"
};

// The code of each snippet of the prelude, in a list.
Ref prelude_code() {
  std::string all;
  for (const std::string_view part : kPreludeCode) all += part;
  Ref codes(PyMarshal_ReadObjectFromString(all.data(), static_cast<Py_ssize_t>(all.size())));
  CHECK(codes && PyList_Check(codes.get()), "code of the prelude: " << take_error());
  return codes;
}

// False if it raised.
bool run_code(PyObject* code, PyObject* names) {
  const Ref result(PyEval_EvalCode(code, names, names));
  return static_cast<bool>(result);
}

// What a probe said of an op: nothing yet, or why the op is masked; an empty text for no reason.
struct Answer {
  bool given = false;
  char why[160] = "";
};

void answer(const std::string& why, Answer& out) {
  std::size_t length = why.copy(out.why, sizeof out.why - 1);
  // No half of a character stays.
  while (length > 0 && (out.why[length - 1] & 0x80) != 0) --length;
  out.why[length] = '\0';
  out.given = true;
}

}  // namespace

std::string take_error() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owned_type(type), owned_value(value), owned_traceback(traceback);
  if (!type) return "no error";
  std::string text = reinterpret_cast<PyTypeObject*>(type)->tp_name;
  const Ref message(value ? PyObject_Str(value) : nullptr);
  const char* words = message ? PyUnicode_AsUTF8(message.get()) : nullptr;
  if (words && *words) text.append(": ").append(words);
  PyErr_Clear();
  return text;
}

Interpreter::Interpreter(const InterpreterOptions& options, const Weights& weights) {
  start_python(options);
  subject_ = Ref(PyImport_ImportModule(options.module.c_str()));
  if (!subject_) throw StartError("cannot import " + options.module + ": " + take_error());
  names_ = Ref(PyDict_New());
  CHECK(PyDict_SetItemString(names(), "__builtins__", PyEval_GetBuiltins()) == 0, "builtins");
  CHECK(PyDict_SetItemString(names(), "T", subject()) == 0, "T");
  for (const char* name : {"gc", "weakref"}) {
    const Ref module(PyImport_ImportModule(name));
    CHECK(module && PyDict_SetItemString(names(), name, module.get()) == 0, name);
  }
  snippets_ = prelude_snippets();
  const Ref codes = prelude_code();
  CHECK(PyList_GET_SIZE(codes.get()) == static_cast<Py_ssize_t>(snippets_.size()),
        "the prelude has " << snippets_.size() << " snippets and code of another number");
  for (std::size_t i = 0; i < snippets_.size(); ++i) {
    PyObject* code = PyList_GET_ITEM(codes.get(), static_cast<Py_ssize_t>(i));
    // A snippet that raises leaves its names undefined, which masks the ops that use them.
    if (snippets_[i].is_for(options.module, weights) && !run_code(code, names())) PyErr_Clear();
  }
  for (const Snippet& snippet : read_snippets(options.snippets)) {
    const std::string source = snippet.text + "\n";
    const Ref code(Py_CompileString(source.c_str(), "prelude.py", Py_file_input));
    if (!code || !run_code(code.get(), names()))
      throw StartError(snippet.sentence + ": " + take_error());
    snippets_.push_back(snippet);
  }
}

Ref Interpreter::evaluate(const std::string& expression) const {
  const Ref code(Py_CompileString(expression.c_str(), "probe", Py_eval_input));
  Ref result(code ? PyEval_EvalCode(code.get(), names(), names()) : nullptr);
  if (!result) PyErr_Clear();
  return result;
}

std::string Interpreter::refusal(const std::string& expression) const {
  const Ref code(Py_CompileString(expression.c_str(), "probe", Py_eval_input));
  const Ref result(code ? PyEval_EvalCode(code.get(), names(), names()) : nullptr);
  return result ? "" : take_error();
}

std::vector<std::string> Interpreter::masked_ops(const OpTable& table,
                                                 const Weights& weights) const {
  const std::vector<Op>& ops = table.ops();
  const SharedMemory memory(ops.size() * sizeof(Answer));
  Answer* answers = memory.as<Answer>();
  const bool is_ours = static_cast<bool>(evaluate("T._preservation"));
  std::size_t begin = 0;
  const auto try_ops = [&] {
    for (std::size_t op = begin; op < ops.size(); ++op) {
      const bool is_drawn = weights.of(ops[op].theme) > 0;
      // A probe that a bug lets raise would hide what the op checks.
      const bool is_there = ops[op].needs.empty() || (is_ours && ops[op].certain);
      answer(!is_drawn ? "not drawn by this target" : is_there ? "" : refusal(ops[op].needs),
             answers[op]);
    }
  };
  while (status_of_child(try_ops) != 0) {
    const auto died = std::find_if(answers + begin, answers + ops.size(),
                                   [](const Answer& one) { return !one.given; });
    begin = static_cast<std::size_t>(died - answers) + 1;
    const Op& op = ops[begin - 1];
    answer("the process that tried it died", *died);
    std::cerr << "slotfuzz: " << op.name << " is left out: the process that tried `" << op.needs
              << "` died\n";
  }
  std::vector<std::string> masked;
  for (std::size_t op = 0; op < ops.size(); ++op) masked.emplace_back(answers[op].why);
  return masked;
}

std::vector<std::pair<std::string, PyObject*>> Interpreter::prelude_lists() const {
  std::vector<std::pair<std::string, PyObject*>> lists;
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(names(), &at, &name, &value);) {
    if (PyList_CheckExact(value)) lists.emplace_back(PyUnicode_AsUTF8(name), value);
  }
  return lists;
}

bool Interpreter::has_notes(const std::string& name) {
  return name == "born" || name == "finalized" || name == "unraisable";
}

void Interpreter::freeze() const {
  for (const char* call : {"gc.disable()", "gc.collect()", "gc.freeze()"}) {
    CHECK(evaluate(call), call << ": " << take_error());
  }
}

}  // namespace slotfuzz
