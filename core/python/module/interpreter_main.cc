// slotpython: python3, with slotcore built in and allocations that a sanitizer can see.

#include <Python.h>
#include <unistd.h>

extern "C" PyObject* PyInit_slotcore();
extern "C" PyObject* PyInit_slotcore_c10();

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// CPython never frees its singletons, so there is no leak check. The exit code distinguishes a
// report from errors of Python itself. CPython's own code is not instrumented, so freed memory is
// overwritten: it must not look alive to that code.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=0:exitcode=86:"
         "max_free_fill_size=256:free_fill_byte=221";
}
#endif
#if __has_feature(thread_sanitizer)
// A child that a script forks may start threads.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif
#endif

namespace {

int fail(PyStatus status) {
  if (PyStatus_IsExit(status)) return status.exitcode;
  Py_ExitStatusException(status);
}

PyStatus configure(PyConfig* config, int argc, char** argv) {
  PyStatus status = PyConfig_SetBytesArgv(config, argc, argv);
  if (PyStatus_Exception(status)) return status;
#ifdef __linux__
  // By default CPython would use the first python3 in PATH as sys.executable.
  char path[4096];
  if (Py_ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1); length > 0) {
    path[length] = '\0';
    status = PyConfig_SetBytesString(config, &config->executable, path);
  }
#endif
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // Set in code, because CPython ignores PYTHONMALLOC under -I. With its default allocator
  // AddressSanitizer would see CPython's arenas instead of single objects.
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  preconfig.allocator = PYMEM_ALLOCATOR_MALLOC;
  PyStatus status = Py_PreInitializeFromBytesArgs(&preconfig, argc, argv);
  if (PyStatus_Exception(status)) return fail(status);

  PyImport_AppendInittab("slotcore", &PyInit_slotcore);
  PyImport_AppendInittab("slotcore_c10", &PyInit_slotcore_c10);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  status = configure(&config, argc, argv);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) return fail(status);
  return Py_RunMain();
}
