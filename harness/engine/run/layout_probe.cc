// Compares the memory of example objects with addresses that Python reports.
#include "harness/engine/run/layout_probe.h"

#include <malloc.h>

#include <algorithm>
#include <new>

#include "harness/engine/process/probe.h"
#include "harness/engine/process/shared_memory.h"
#include "harness/engine/run/peek.h"

namespace slotfuzz {
namespace {

// No probed object is larger; the end of its allocation also bounds the search.
constexpr std::size_t kProbeBytesMax = 1024;
// Samples with the flag and as many without it; stale memory differs between samples.
constexpr int kFlagSamples = 16;

std::size_t words_in(const void* allocation) {
  const std::size_t bytes = malloc_usable_size(const_cast<void*>(allocation));
  return std::min(bytes, kProbeBytesMax) / sizeof(void*);
}

template <typename T>
std::vector<T> values_of(const void* object, std::size_t count) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(peek<T>(object, i * sizeof(T)));
  return values;
}

// The offset of the first word that equals the value.
Offset find_word(const void* object, std::size_t count, const void* value) {
  const auto words = values_of<std::uintptr_t>(object, count);
  const auto found = std::find(words.begin(), words.end(), reinterpret_cast<std::uintptr_t>(value));
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin()) * sizeof(void*);
}

const void* cdata_of(PyObject* wrapper) {
  const Ref number(wrapper ? PyObject_GetAttrString(wrapper, "_cdata") : nullptr);
  const void* address = number ? PyLong_AsVoidPtr(number.get()) : nullptr;
  PyErr_Clear();
  return address;
}

class Prober {
 public:
  explicit Prober(const Interpreter& interpreter) : interpreter_(interpreter) {}

  void probe(std::span<ImplKind> kinds) const {
    for (ImplKind& kind : kinds) probe_wrapper(kind);
    for (ImplKind& kind : kinds) {
      probe_use_count(kind);
      for (std::size_t edge = 0; edge < kind.edge_count; ++edge) {
        probe_edge(kind, edge, kinds[kind.targets[edge]->number]);
      }
    }
  }

 private:
  Ref evaluate(std::string_view expression) const {
    return interpreter_.evaluate(std::string(expression));
  }
  // Calls the function FUNCTION of a row with ARGUMENT; returns null if it raises.
  Ref call(std::string_view function, PyObject* argument) const {
    const Ref callable = evaluate(function);
    Ref result(callable && argument ? PyObject_CallOneArg(callable.get(), argument) : nullptr);
    PyErr_Clear();
    return result;
  }

  void probe_wrapper(ImplKind& kind) const {
    const Ref wrapper = evaluate(kind.row->example);
    const void* impl = cdata_of(wrapper.get());
    if (!impl) return;
    const auto bytes = static_cast<std::size_t>(Py_TYPE(wrapper.get())->tp_basicsize);
    kind.at.impl = find_word(wrapper.get(), bytes / sizeof(void*), impl);
  }

  // The use count is the one 32-bit word of an impl that each further owner increments.
  void probe_use_count(ImplKind& kind) const {
    const Ref pair = evaluate(kind.row->counted);
    if (!pair || !PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2) return;
    const void* impl = cdata_of(PyTuple_GET_ITEM(pair.get(), 0));
    if (!impl) return;
    const std::size_t count = words_in(impl) * 2;
    const auto one_more = [&] {
      Ref owner(PyObject_CallNoArgs(PyTuple_GET_ITEM(pair.get(), 1)));
      PyErr_Clear();
      return owner;
    };
    const auto first = values_of<std::uint32_t>(impl, count);
    const Ref owner = one_more();
    const auto second = values_of<std::uint32_t>(impl, count);
    const Ref another = one_more();
    const auto third = values_of<std::uint32_t>(impl, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (second[i] == first[i] + 1 && third[i] == second[i] + 1) {
        kind.at.use_count = i * sizeof(std::uint32_t);
        return;
      }
    }
  }

  void probe_edge(ImplKind& kind, std::size_t edge, ImplKind& target) const {
    const ImplEdge& row = kind.row->edges[edge];
    EdgePlace& at = kind.at.edges[edge];
    const Ref one = evaluate(kind.row->example);
    const void* plain = cdata_of(one.get());
    if (!plain) return;
    const auto before = values_of<std::uintptr_t>(plain, words_in(plain));
    const Ref pair = call(row.link, one.get());
    if (!pair || !PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2) return;
    PyObject* owner = PyTuple_GET_ITEM(pair.get(), 0);
    const void* impl = cdata_of(owner);
    const void* owned = cdata_of(PyTuple_GET_ITEM(pair.get(), 1));
    if (!impl || !owned) return;
    at.word = find_word(impl, words_in(impl), owned);
    if (!at.word) {
      const void* block = find_in_block(at, impl, before, owned);
      if (block && !row.lookalike.empty()) {
        at.block_bytes = malloc_usable_size(const_cast<void*>(block));
        if (!find_flag(kind, edge)) at.word = std::nullopt;
      }
    }
    if (!at.word || row.unlink.empty() || !call(row.unlink, owner)) return;
    const void* block = at.block ? peek<const void*>(impl, *at.block) : impl;
    if (block) target.at.undefined = peek<const void*>(block, *at.word);
  }

  // The block was allocated with the edge. Returns null if no block leads to the owned impl.
  static const void* find_in_block(EdgePlace& at, const void* impl,
                                   const std::vector<std::uintptr_t>& before, const void* owned) {
    const auto after = values_of<std::uintptr_t>(impl, std::min(words_in(impl), before.size()));
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (before[i] != 0 || after[i] == 0) continue;
      const void* block = reinterpret_cast<const void*>(after[i]);
      at.block = i * sizeof(void*);
      at.word = find_word(block, words_in(block), owned);
      if (at.word) return block;
    }
    return nullptr;
  }

  // A lookalike has the same block. The flag is the byte nearest to the edge that is 1 in all
  // samples with the edge and 0 in all others. Returns true also when nothing else has the block.
  bool find_flag(ImplKind& kind, std::size_t edge) const {
    const ImplEdge& row = kind.row->edges[edge];
    EdgePlace& at = kind.at.edges[edge];
    std::vector<bool> possible(at.block_bytes, true);
    for (int sample = 0; sample < 2 * kFlagSamples; ++sample) {
      const bool has_edge = sample % 2 == 0;
      const Ref one = evaluate(kind.row->example);
      const Ref made = call(has_edge ? row.link : row.lookalike, one.get());
      const void* impl = cdata_of(has_edge && made ? PyTuple_GET_ITEM(made.get(), 0) : made.get());
      if (!impl) return !has_edge;
      const void* block = peek<const void*>(impl, *at.block);
      if (!block) return !has_edge;
      const std::size_t bytes = malloc_usable_size(const_cast<void*>(block));
      if (bytes < at.block_bytes) return !has_edge;
      for (std::size_t byte = 0; byte < at.block_bytes; ++byte) {
        if (peek<std::uint8_t>(block, byte) != has_edge) possible[byte] = false;
      }
    }
    for (std::size_t byte = 0; byte < at.block_bytes; ++byte) {
      const auto distance = [&](std::size_t from) {
        return from < *at.word ? *at.word - from : from - *at.word;
      };
      if (possible[byte] && (!at.flag || distance(byte) < distance(*at.flag))) at.flag = byte;
    }
    return at.flag.has_value();
  }

  const Interpreter& interpreter_;
};

}  // namespace

void probe_places(const Interpreter& interpreter, std::span<ImplKind> kinds) {
  const SharedMemory memory(sizeof(KindPlaces) * kImplKindsMax);
  auto* found = memory.as<KindPlaces>();
  for (std::size_t i = 0; i < kinds.size(); ++i) new (found + i) KindPlaces();
  status_of_child([&] {
    Prober(interpreter).probe(kinds);
    for (std::size_t i = 0; i < kinds.size(); ++i) found[i] = kinds[i].at;
  });
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i].at = found[i];
}

}  // namespace slotfuzz
