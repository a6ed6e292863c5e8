// A tensor without a Python interpreter is asked for a property that Python code may decide. c10
// means to throw, but dereferences the null tag to build the message. libtorch 1.13.1 and 2.6.0.
//   clang++ -std=c++20 load_untagged.cc -lc10 -o load_untagged && ./load_untagged
// Prints "the error that is meant" and exits with 0 if c10 is fixed; else a segmentation fault.
// Shows: load: sanitizer SEGV, signal

#include <c10/core/TensorImpl.h>

#include <cstdio>

int main() {
  auto tensor = c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                     caffe2::TypeMeta::Make<float>(),
                                                     c10::optional<c10::Device>(c10::kCPU));
  tensor->set_python_custom_device(true);
  try {
    tensor->device();  // load_pyobj_interpreter: (*pyobj_interpreter_.load())->name()
  } catch (const c10::Error&) {
    std::puts("the error that is meant");
    return 0;
  }
  return 1;
}
