// Probing the offsets of layout.h.
#include "harness/engine/run/layout.h"

#include <malloc.h>

#include <algorithm>
#include <new>
#include <sstream>

#include "harness/engine/process/probe.h"

namespace slotfuzz {
namespace {

// No object that is probed is larger; the end of its allocation bounds the search as well.
constexpr std::size_t kProbeBytesMax = 1024;
// Of either kind; what memory held before is another in each.
constexpr int kFlagSamples = 16;

// Not instrumented: if the contract is broken the memory may be freed, and then the judge must go
// on to let the program itself show it.
template <typename T>
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) T read(
    const void* object, std::size_t offset) {
  return *reinterpret_cast<const volatile T*>(static_cast<const char*>(object) + offset);
}

// The same for a count that threads of C++ change at any time; any value that it had will do.
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) std::uint32_t read_count(
    const void* object, std::size_t offset) {
  const char* place = static_cast<const char*>(object) + offset;
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(place), __ATOMIC_RELAXED);
}

std::size_t words_in(const void* allocation) {
  const std::size_t bytes = malloc_usable_size(const_cast<void*>(allocation));
  return std::min(bytes, kProbeBytesMax) / sizeof(void*);
}

std::vector<std::uintptr_t> words_of(const void* object, std::size_t count) {
  std::vector<std::uintptr_t> words;
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(read<std::uintptr_t>(object, i * sizeof(void*)));
  }
  return words;
}

// The offset of the first word that has the value.
std::optional<std::size_t> find_word(const void* object, std::size_t count, const void* value) {
  const auto words = words_of(object, count);
  const auto found = std::find(words.begin(), words.end(), reinterpret_cast<std::uintptr_t>(value));
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin()) * sizeof(void*);
}

const void* cdata_of(const Ref& wrapper) {
  const Ref number(wrapper ? PyObject_GetAttrString(wrapper.get(), "_cdata") : nullptr);
  const void* address = number ? PyLong_AsVoidPtr(number.get()) : nullptr;
  PyErr_Clear();
  return address;
}

// The wrapper of a tensor's storage, as any release spells it.
Ref storage_wrapper_of(const Ref& tensor) {
  for (const char* name : {"untyped_storage", "_storage"}) {
    Ref storage(PyObject_CallMethod(tensor.get(), name, nullptr));
    if (storage) return storage;
    PyErr_Clear();
  }
  return {};
}

PyTypeObject* type_named(const Interpreter& interpreter, const char* name) {
  const Ref type(PyObject_GetAttrString(interpreter.subject(), name));
  if (!type || !PyType_Check(type.get())) {
    throw StartError(std::string("the subject has no type ") + name);
  }
  return reinterpret_cast<PyTypeObject*>(type.get());
}

}  // namespace

Layout::Layout(const Interpreter& interpreter)
    : storage_type_(type_named(interpreter, "UntypedStorage")),
      tensor_type_(type_named(interpreter, "Tensor")),
      cdata_(PyUnicode_InternFromString("_cdata")) {
  const SharedMemory memory(sizeof(Offsets));
  auto* found = new (memory.as<Offsets>()) Offsets();
  // A subject that dies in this cannot be looked at; its programs tell of it.
  ran_in_child([&] {
    probe(interpreter);
    *found = at_;
  });
  at_ = *found;
}

void Layout::probe(const Interpreter& interpreter) {
  probe_wrappers(interpreter);
  probe_grad(interpreter);
  probe_base(interpreter);
  probe_use_count(interpreter);
}

void Layout::probe_wrappers(const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  const Ref storage = storage_wrapper_of(tensor);
  const void* tensor_impl = cdata_of(tensor);
  const void* storage_impl = cdata_of(storage);
  if (!tensor_impl || !storage_impl) return;
  const auto words = [](const Ref& wrapper) {
    return static_cast<std::size_t>(Py_TYPE(wrapper.get())->tp_basicsize) / sizeof(void*);
  };
  at_.tensor_impl = find_word(tensor.get(), words(tensor), tensor_impl);
  at_.storage_impl = find_word(storage.get(), words(storage), storage_impl);
  at_.storage = find_word(tensor_impl, words_in(tensor_impl), storage_impl);
}

void Layout::probe_grad(const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  const Ref grad = interpreter.evaluate("T.ones(1)");
  const void* impl = cdata_of(tensor);
  const void* grad_impl = cdata_of(grad);
  if (!impl || !grad_impl) return;
  const auto before = words_of(impl, words_in(impl));
  if (PyObject_SetAttrString(tensor.get(), "grad", grad.get()) != 0) {
    PyErr_Clear();
    return;
  }
  at_.grad = find_word(impl, words_in(impl), grad_impl);
  if (at_.grad) return;
  // Not in the impl: then in a block that came to be when .grad was set.
  const auto after = words_of(impl, before.size());
  for (std::size_t i = 0; i < after.size() && !at_.grad; ++i) {
    if (before[i] != 0 || after[i] == 0) continue;
    const void* block = reinterpret_cast<const void*>(after[i]);
    at_.grad_block = i * sizeof(void*);
    at_.grad = find_word(block, words_in(block), grad_impl);
  }
  if (PyObject_SetAttrString(tensor.get(), "grad", Py_None) == 0) at_.undefined = grad_of(impl);
  PyErr_Clear();
}

void Layout::probe_base(const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  const Ref view(PyObject_CallMethod(tensor.get(), "view", "i", -1));
  const Ref base(view ? PyObject_GetAttrString(view.get(), "_base") : nullptr);
  PyErr_Clear();
  const void* base_impl = cdata_of(tensor);
  const void* impl = cdata_of(view);
  if (!impl || base.get() != tensor.get()) return;
  at_.base = find_word(impl, words_in(impl), base_impl);
  if (at_.base) return;
  const auto words = words_of(impl, words_in(impl));
  const auto plain = words_of(base_impl, words_in(base_impl));
  for (std::size_t i = 0; i < std::min(words.size(), plain.size()) && !at_.base; ++i) {
    if (plain[i] != 0 || words[i] == 0) continue;
    const void* block = reinterpret_cast<const void*>(words[i]);
    at_.base_block = i * sizeof(void*);
    at_.base_block_bytes = malloc_usable_size(const_cast<void*>(block));
    at_.base = find_word(block, words_in(block), base_impl);
  }
  if (!find_base_flag(interpreter)) at_.base = std::nullopt;
}

// A view without a base, such as torch's detach() makes, has the same block: the flag is the byte
// next to the base that tells them apart, every time. True also when nothing else has the block.
bool Layout::find_base_flag(const Interpreter& interpreter) {
  if (!at_.base) return false;
  std::vector<bool> possible(at_.base_block_bytes, true);
  for (int sample = 0; sample < 2 * kFlagSamples; ++sample) {
    const bool is_view = sample % 2 == 0;
    const Ref other = interpreter.evaluate(is_view ? "T.ones(1).view(-1)" : "T.ones(1).detach()");
    const void* impl = cdata_of(other);
    if (!impl) return !is_view;
    const void* block = read<const void*>(impl, *at_.base_block);
    if (!block) return !is_view;
    const std::size_t bytes = malloc_usable_size(const_cast<void*>(block));
    if (bytes < at_.base_block_bytes) return !is_view;
    for (std::size_t at = 0; at < at_.base_block_bytes; ++at) {
      if (read<std::uint8_t>(block, at) != is_view) possible[at] = false;
    }
  }
  for (std::size_t at = 0; at < at_.base_block_bytes; ++at) {
    const auto distance = [&](std::size_t from) {
      return from < *at_.base ? *at_.base - from : from - *at_.base;
    };
    if (possible[at] && (!at_.base_flag || distance(at) < distance(*at_.base_flag)))
      at_.base_flag = at;
  }
  return at_.base_flag.has_value();
}

// The use count is the one 32-bit word of a storage that each further owner raises by one.
void Layout::probe_use_count(const Interpreter& interpreter) {
  const Ref tensor = interpreter.evaluate("T.ones(1)");
  const Ref storage = storage_wrapper_of(tensor);
  const void* impl = cdata_of(storage);
  if (!impl) return;
  const std::size_t count = words_in(impl) * 2;
  const auto halves = [&] {
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(read<std::uint32_t>(impl, i * 4));
    return values;
  };
  const auto first = halves();
  const Ref view(PyObject_CallMethod(tensor.get(), "view", "i", -1));
  const auto second = halves();
  const Ref another(PyObject_CallMethod(tensor.get(), "view", "i", -1));
  const auto third = halves();
  for (std::size_t i = 0; i < count; ++i) {
    if (second[i] == first[i] + 1 && third[i] == second[i] + 1) {
      at_.use_count = i * 4;
      return;
    }
  }
}

Layout::Shape Layout::shape_of(PyObject* object) const {
  if (PyObject_TypeCheck(object, storage_type_)) return Shape::kStorage;
  return PyObject_TypeCheck(object, tensor_type_) ? Shape::kTensor : Shape::kOther;
}

const void* Layout::impl_of(PyObject* wrapper, Shape shape) const {
  const Offset& offset = shape == Shape::kStorage ? at_.storage_impl : at_.tensor_impl;
  const void* impl = offset ? read<const void*>(wrapper, *offset) : nullptr;
  return impl == at_.undefined ? nullptr : impl;
}

const void* Layout::storage_of(const void* tensor_impl) const {
  return at_.storage && tensor_impl ? read<const void*>(tensor_impl, *at_.storage) : nullptr;
}

const void* Layout::grad_of(const void* tensor_impl) const {
  if (!at_.grad || !tensor_impl) return nullptr;
  const void* block =
      at_.grad_block ? read<const void*>(tensor_impl, *at_.grad_block) : tensor_impl;
  const void* grad = block ? read<const void*>(block, *at_.grad) : nullptr;
  return grad == at_.undefined ? nullptr : grad;
}

const void* Layout::base_of(const void* tensor_impl) const {
  if (!at_.base || !tensor_impl) return nullptr;
  if (!at_.base_block) return read<const void*>(tensor_impl, *at_.base);
  const void* block = read<const void*>(tensor_impl, *at_.base_block);
  if (!block || malloc_usable_size(const_cast<void*>(block)) < at_.base_block_bytes) return nullptr;
  if (at_.base_flag && read<std::uint8_t>(block, *at_.base_flag) != 1) return nullptr;
  return read<const void*>(block, *at_.base);
}

std::optional<std::uint32_t> Layout::use_count_of(const void* impl) const {
  if (!at_.use_count || !impl) return std::nullopt;
  return read_count(impl, *at_.use_count);
}

bool Layout::is_borrowing(PyObject* wrapper, Shape shape) const {
  // torch's MaybeOwned: the flag stands in front of the pointer. What was cleared borrows nothing.
  const Offset& offset = shape == Shape::kStorage ? at_.storage_impl : at_.tensor_impl;
  return impl_of(wrapper, shape) && *offset > sizeof(PyObject) &&
         read<std::uint8_t>(wrapper, sizeof(PyObject)) == 1;
}

Py_ssize_t Layout::references_to(const PyObject* wrapper) const {
  return read<decltype(PyObject::ob_refcnt)>(wrapper, offsetof(PyObject, ob_refcnt));
}

const void* Layout::owned_by(PyObject* owner) const {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);  // of the line, if it raised
  const Ref address(PyObject_GetAttr(owner, cdata_.get()));
  const void* impl = address ? PyLong_AsVoidPtr(address.get()) : nullptr;
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  return impl;
}

std::string Layout::describe() const {
  std::ostringstream text;
  const auto put = [&](const char* name, const Offset& offset) {
    text << name << ' ' << (offset ? std::to_string(*offset) : "-") << "  ";
  };
  put("storage impl", at_.storage_impl);
  put("tensor impl", at_.tensor_impl);
  put("storage", at_.storage);
  put("grad block", at_.grad_block);
  put("grad", at_.grad);
  put("base block", at_.base_block);
  put("base", at_.base);
  put("base flag", at_.base_flag);
  put("use count", at_.use_count);
  return text.str();
}

}  // namespace slotfuzz
