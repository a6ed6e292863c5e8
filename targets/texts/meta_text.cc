// Hostile texts of descriptions (M6): the reader refuses them with a place, or what it has accepted
// is written, read and converted, and all of these agree. No Python, and no state but counts of
// live objects, which must come back.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <string_view>
#include <vector>

#include "core/c10/live_counts.h"
#include "core/meta/fake_mode.h"
#include "core/meta/text/desc_read.h"
#include "core/meta/text/desc_write.h"
#include "targets/texts/grads_dropped.h"
#include "targets/texts/hostile_text.h"
#include "targets/texts/random_document.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace slotfuzz {
namespace {

using namespace slotcore;

// What a run has looked at, printed at its end: a text that the reader refuses shows nothing of
// what is written and converted. Two documents with one bit of the table count as one, so the
// number of distinct ones is a lower bound.
class Counts {
 public:
  ~Counts() {
    std::cerr << texts_ << " texts, " << documents_ << " of them documents, at least " << distinct_
              << " distinct\n";
  }
  void add_text() { texts_++; }
  void add_document(std::string_view text) {
    documents_++;
    auto bit = seen_[std::hash<std::string_view>()(text) % seen_.size()];
    if (!bit) distinct_++;
    bit = true;
  }

 private:
  int64_t texts_ = 0, documents_ = 0, distinct_ = 0;
  std::vector<bool> seen_ = std::vector<bool>(int64_t{1} << 29);
};

Counts counts;

void expect(bool holds, std::string_view what, std::string_view text) {
  if (holds) return;
  std::cerr << what << ": " << text << '\n';
  std::abort();
}

// The flags of the tensors as those of their fakes, which have no class of a wrapper; a view with a
// node requires a gradient, which former writers left out.
void fill_as_fakes(meta::Document& document) {
  for (meta::MetaTensorDesc& row : document.tensors) {
    row.is_parameter = false;
    row.requires_grad = row.requires_grad || !row.is_leaf;
  }
}

// Without what a fake has not: bytes, symbols outside of a mode, and a class of a wrapper.
std::string on_meta(meta::Document document) {
  for (meta::MetaStorageDesc& row : document.storages) {
    row.device = Device::kMeta;
    row.data.reset();
  }
  fill_as_fakes(document);
  document.symbols = nullptr;
  return meta::dumps(document);
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
  GradsDropped dropped(fakes);
  auto described = mode->describer.describe(fakes, {.keep_symbols = true});
  for (meta::MetaStorageDesc& row : document.storages) row.data.reset();
  fill_as_fakes(document);
  expect(meta::dumps(*described) == meta::dumps(document), "M12: the fakes have another text",
         text);
}

void check_accepted(const meta::Document& document, std::string_view text) {
  std::string written = meta::dumps(document);
  counts.add_document(written);
  expect(meta::dumps(*meta::loads(written)) == written, "M12: what was written differs", text);
  meta::MetaConverter converter;
  auto fakes = converter.convert(document).roots;
  GradsDropped dropped(fakes);
  meta::MetaTensorDescriber describer;
  expect(on_meta(*describer.describe(fakes, {})) == on_meta(document), "M4: the fakes differ",
         text);
  expect(converter.convert(document).roots == fakes, "M3: converted again, other fakes", text);
  if (document.symbols) check_symbols(document, text);
}

void check(std::string_view text) {
  counts.add_text();
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

// A document near that of the text, or near a small one if the reader refuses the text.
meta::Document document_near(std::string_view text, std::minstd_rand& random) {
  try {
    if (random() % 4 != 0) return *meta::loads(text);
  } catch (const meta::DescError&) {
  }
  return small_document();
}

std::string edited_document(std::string_view text, std::minstd_rand& random) {
  meta::Document document = document_near(text, random);
  for (auto edits = 1 + random() % 6; edits-- > 0;) edit(document, random);
  std::string plain = meta::dumps(document);
  if (random() % 4 != 0) return plain;
  try {
    return meta::dumps(with_symbols(*meta::loads(plain), random));
  } catch (const meta::DescError&) {
  } catch (const std::runtime_error&) {
  }
  return plain;
}

}  // namespace
}  // namespace slotfuzz

// A text leaves nothing behind, so a small quarantine keeps all that the last ones freed. One of
// the default size would fill memory that is new to the process, which takes half of the time.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=4"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  slotfuzz::check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  random.discard(1);  // the first number of near seeds is near
  auto choice = random() % 8;
  if (choice == 0) return LLVMFuzzerMutate(data, size, size_max);
  std::string text(reinterpret_cast<const char*>(data), size);
  text = choice < 4 ? slotfuzz::edited_text(text, random) : slotfuzz::edited_document(text, random);
  if (text.size() > size_max) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
