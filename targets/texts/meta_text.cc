// Hostile texts of descriptions (M6): the reader refuses them with a place, or what it has accepted
// is written, read and converted, and all of these agree. No Python, and no state but counts of
// live objects, which must come back.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

#include "core/c10/live_counts.h"
#include "core/meta/fake_mode.h"
#include "core/meta/text/desc_read.h"
#include "core/meta/text/desc_write.h"
#include "targets/texts/hostile_text.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace slotfuzz {
namespace {

using namespace slotcore;

void expect(bool holds, std::string_view what, std::string_view text) {
  if (holds) return;
  std::cerr << what << ": " << text << '\n';
  std::abort();
}

// Without what a fake has not: bytes, symbols outside of a mode, and a class of a wrapper.
std::string on_meta(meta::Document document) {
  for (meta::MetaStorageDesc& row : document.storages) {
    row.device = Device::kMeta;
    row.data.reset();
  }
  for (meta::MetaTensorDesc& row : document.tensors) row.is_parameter = false;
  document.symbols = nullptr;
  return meta::dumps(document);
}

// Fakes own their grads in circles that only this can break.
void drop_grads(const std::vector<autograd::TensorPtr>& roots) {
  std::vector<autograd::TensorPtr> found = roots;
  while (!found.empty()) {
    autograd::TensorPtr one = std::move(found.back());
    found.pop_back();
    if (one->base()) found.push_back(one->base());
    if (autograd::AutogradMeta* data = autograd::meta_of(*one); data != nullptr) {
      if (auto grad = data->gradient.exchange(nullptr)) found.push_back(std::move(grad));
    }
  }
}

// In a mode with the environment, fakes have the expressions, and describing them decides nothing.
void check_symbols(meta::Document document, std::string_view text) {
  auto env = std::make_shared<meta::SharedEnv>();
  env->env = document.symbols->env;
  auto mode = make_intrusive<meta::FakeMode>(env);
  auto fakes =
      mode->converter
          .convert(document, {.env = env, .kind = meta::SizeKind::kDynamic, .is_documents = true})
          .roots;
  auto described = mode->describer.describe(fakes, {.keep_symbols = true});
  for (meta::MetaStorageDesc& row : document.storages) row.data.reset();
  for (meta::MetaTensorDesc& row : document.tensors) row.is_parameter = false;
  expect(meta::dumps(*described) == meta::dumps(document), "M12: the fakes have another text",
         text);
  drop_grads(fakes);
}

void check_accepted(const meta::Document& document, std::string_view text) {
  std::string written = meta::dumps(document);
  expect(meta::dumps(*meta::loads(written)) == written, "M12: what was written differs", text);
  meta::MetaConverter converter;
  auto fakes = converter.convert(document).roots;
  meta::MetaTensorDescriber describer;
  expect(on_meta(*describer.describe(fakes, {})) == on_meta(document), "M4: the fakes differ",
         text);
  expect(converter.convert(document).roots == fakes, "M3: converted again, other fakes", text);
  drop_grads(fakes);
  if (document.symbols) check_symbols(document, text);
}

void check(std::string_view text) {
  int64_t tensors = live_tensors.value(), storages = live_storages.value();
  int64_t entries = live_table_entries.value();
  try {
    check_accepted(*meta::loads(text), text);
  } catch (const meta::DescError& error) {
    const std::string& pointer = error.pointer();
    expect(pointer.empty() || pointer.front() == '/', "M6: no JSON pointer", text);
  }
  bool is_clean = live_tensors.value() == tensors && live_storages.value() == storages &&
                  live_table_entries.value() == entries;
  expect(is_clean, "P5: something lives on", text);
}

}  // namespace
}  // namespace slotfuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  slotfuzz::check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  random.discard(1);  // the first number of near seeds is near
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, size_max);
  std::string text =
      slotfuzz::edited_text(std::string(reinterpret_cast<const char*>(data), size), random);
  if (text.size() > size_max) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
