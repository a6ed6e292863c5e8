// Small numbers, and few that are at a limit. Numbers of rows stay small, because texts are many.

#include "targets/texts/random_document.h"

#include <algorithm>
#include <unordered_map>

#include "core/c10/shapes/layout.h"
#include "core/meta/fake_mode.h"
#include "targets/texts/grads_dropped.h"

namespace slotfuzz {
namespace {

using namespace slotcore;
using meta::Document;
using meta::MetaStorageDesc;
using meta::MetaTensorDesc;

constexpr size_t kRowsMax = 8;
constexpr int64_t kSizes[] = {0, 1, 2, 2, 3, 3, 4, 5, 7, 64, INT32_MAX, INT64_MAX};
constexpr int64_t kBytes[] = {0, 1, 4, 8, 16, 24, 32, 33, 64, INT64_MAX};
constexpr uint32_t kVersions[] = {0, 1, 2, 7, UINT32_MAX};
constexpr ScalarType kTypes[] = {
#define ROW(type, name) ScalarType::name,
    SLOTCORE_SCALAR_TYPES(ROW)
#undef ROW
};

template <class T, size_t N>
T any_of(const T (&values)[N], std::minstd_rand& random) {
  return values[random() % N];
}

template <class Rows>
auto& any_row(Rows& rows, std::minstd_rand& random) {
  return rows[random() % rows.size()];
}

int64_t any_place(size_t count, std::minstd_rand& random) {
  return static_cast<int64_t>(random() % count);
}

Dims any_dims(size_t rank, std::minstd_rand& random) {
  Dims dims;
  while (dims.size() < rank) dims.push_back(any_of(kSizes, random));
  return dims;
}

// Mostly adjacent elements, in some order of the dimensions.
void set_layout(MetaTensorDesc& row, std::minstd_rand& random) {
  size_t rank = random() % 4;
  row.size = any_dims(rank, random);
  if (random() % 4 == 0) {
    row.stride = any_dims(rank, random);
    return;
  }
  int64_t step = 1;
  row.stride = row.size;
  for (size_t i = rank; i-- > 0;) {
    row.stride[i] = step;
    if (row.size[i] > 1 && row.size[i] < 100) step *= row.size[i];
  }
  if (rank < 2 || random() % 2 == 0) return;
  std::swap(row.size[0], row.size[rank - 1]);
  std::swap(row.stride[0], row.stride[rank - 1]);
}

std::string any_digits(int64_t count, std::minstd_rand& random) {
  std::string digits;
  for (int64_t i = 0; i < count; i++) digits += "0123456789abcdef"[random() % 16];
  return digits;
}

void edit_storage(MetaStorageDesc& row, std::minstd_rand& random) {
  enum Edit { kBytesOf, kResizable, kDevice, kData, kEdits };
  switch (static_cast<Edit>(random() % kEdits)) {
    case kBytesOf: row.nbytes = {any_of(kBytes, random)}; return;
    case kResizable: row.resizable = !row.resizable; return;
    case kDevice: row.device = any_of(kDevices, random); return;
    case kData:
      if (row.nbytes.value <= 64) row.data = any_digits(2 * row.nbytes.value, random);
      return;
    case kEdits: break;
  }
  __builtin_unreachable();
}

void edit_tensor(Document& document, std::minstd_rand& random) {
  enum Edit {
    kType,
    kLayout,
    kOffset,
    kStorage,
    kBase,
    kCreation,
    kRequires,
    kLeaf,
    kConj,
    kNeg,
    kParameter,
    kGrad,
    kGroup,
    kVersion,
    kEdits
  };
  MetaTensorDesc& row = any_row(document.tensors, random);
  size_t tensors = document.tensors.size();
  switch (static_cast<Edit>(random() % kEdits)) {
    case kType: row.dtype = any_of(kTypes, random); return;
    case kLayout: set_layout(row, random); return;
    case kOffset: row.storage_offset = {any_of(kSizes, random)}; return;
    case kStorage: row.storage = {any_place(document.storages.size(), random)}; return;
    case kBase: row.base = {any_place(tensors, random)}; return;
    case kCreation: row.creation_meta = any_of(meta::kCreationMetas, random); return;
    case kRequires: row.requires_grad = !row.requires_grad; return;
    case kLeaf: row.is_leaf = !row.is_leaf; return;
    case kConj: row.is_conj = !row.is_conj; return;
    case kNeg: row.is_neg = !row.is_neg; return;
    case kParameter: row.is_parameter = !row.is_parameter; return;
    case kGrad: row.grad = {any_place(tensors, random)}; return;
    case kGroup: row.version_group = {any_place(tensors, random)}; return;
    case kVersion: row.version = any_of(kVersions, random); return;
    case kEdits: break;
  }
  __builtin_unreachable();
}

// Makes true what check() of desc_check.h asks for, apart from layouts.
void mend(Document& document) {
  auto device_of = [&](const MetaTensorDesc& row) {
    return document.storages[static_cast<size_t>(row.storage.place)].device;
  };
  for (MetaStorageDesc& row : document.storages) {
    bool fits = row.data && static_cast<int64_t>(row.data->size() / 2) == row.nbytes.value;
    if (!fits || row.device == Device::kMeta) row.data.reset();
  }
  auto tensor = [&](meta::TensorRef ref) -> MetaTensorDesc& {
    return document.tensors[static_cast<size_t>(ref.place)];
  };
  for (MetaTensorDesc& row : document.tensors) {
    if (row.base && (&tensor(row.base) == &row || device_of(tensor(row.base)) != device_of(row)))
      row.base = {};
    if (row.grad && (&tensor(row.grad) == &row || device_of(tensor(row.grad)) != device_of(row)))
      row.grad = {};
    if (!is_differentiable(row.dtype)) row.requires_grad = false;
    if (!is_complex(row.dtype)) row.is_conj = false;
  }
  std::unordered_map<int64_t, uint32_t> versions;
  for (MetaTensorDesc& row : document.tensors) {
    if (row.base && tensor(row.base).base) row.base = {};
    if (row.base) row.version_group = tensor(row.base).version_group;
    row.version = versions.try_emplace(row.version_group.value, row.version).first->second;
    bool requires_grad = row.requires_grad || (row.base && tensor(row.base).requires_grad);
    if (!requires_grad) row.is_leaf = true;
    if (!row.base) row.creation_meta = meta::CreationMeta::kDefault;
  }
}

meta::SizeExpr any_size(const meta::ShapeEnv& env, std::minstd_rand& random) {
  return env.simplify(env.symbol(static_cast<uint32_t>(random() % env.symbol_count())));
}

// Decides a few relations of two sizes, as a program does that asks for them.
void add_guards(meta::ShapeEnv& env, std::minstd_rand& random) {
  using Kind = meta::Relation::Kind;
  constexpr Kind kKinds[] = {Kind::kEqual, Kind::kNotEqual, Kind::kNotNegative};
  for (auto left = random() % 4; left-- > 0 && env.symbol_count() > 0;) {
    meta::SizeExpr a = any_size(env, random), b = any_size(env, random);
    meta::SizeExpr divisor{static_cast<int64_t>(2 + random() % 3)};
    if (random() % 2 == 0) a = a.floor_div(divisor);
    if (random() % 4 == 0) b = b.mod(divisor);
    if (random() % 4 == 0) a = a.max(b);
    if (random() % 4 == 0)
      a = a + meta::SizeExpr(env.hint(b) - env.hint(a));  // so that they are equal
    env.decide({a - b, any_of(kKinds, random)});
  }
}

}  // namespace

Document small_document() {
  Document document;
  document.storages.push_back({.nbytes = {8}});
  document.tensors.push_back({.size = {2}, .stride = {1}, .storage = {0}});
  document.roots.push_back({0});
  return document;
}

void edit(Document& document, std::minstd_rand& random) {
  enum Edit { kStorage, kAddTensor, kAddStorage, kRoot, kEdits };
  document.symbols = nullptr;
  if (random() % 2 == 0) {
    edit_tensor(document, random);
    return mend(document);
  }
  switch (static_cast<Edit>(random() % kEdits)) {
    case kStorage: edit_storage(any_row(document.storages, random), random); break;
    case kAddTensor:
      if (document.tensors.size() == kRowsMax) break;
      document.roots.push_back({static_cast<int64_t>(document.tensors.size())});
      document.tensors.push_back(any_row(document.tensors, random));
      break;
    case kAddStorage:
      if (document.storages.size() == kRowsMax) break;
      any_row(document.tensors, random).storage = {static_cast<int64_t>(document.storages.size())};
      document.storages.push_back(any_row(document.storages, random));
      break;
    case kRoot: any_row(document.roots, random) = {any_place(document.tensors.size(), random)};
    case kEdits: break;
  }
  mend(document);
}

Document with_symbols(const Document& document, std::minstd_rand& random) {
  auto env = std::make_shared<meta::SharedEnv>();
  auto mode = make_intrusive<meta::FakeMode>(env);
  auto kind = random() % 2 == 0 ? meta::SizeKind::kDuck : meta::SizeKind::kDynamic;
  auto fakes = mode->converter.convert(document, {.env = env, .kind = kind}).roots;
  GradsDropped dropped(fakes);
  add_guards(env->env, random);
  return *mode->describer.describe(fakes, {.keep_symbols = true});
}

}  // namespace slotfuzz
