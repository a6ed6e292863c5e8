// What hits is the largest set of entries that are equal and refer to each other: circles of grads
// allow no order in which to decide one after the other.

#include "core/meta/conversion.h"

#include <atomic>

#include "core/autograd/history.h"

namespace slotcore::meta {
namespace {

uint64_t next_number() noexcept {
  // Relaxed: only the value matters. 0 is no number.
  static constinit std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

MetaStorageDesc without_bytes(MetaStorageDesc row) {
  row.data.reset();
  return row;
}

MetaTensorDesc without_references(MetaTensorDesc row) {
  row.storage = {};
  row.base = row.grad = {};
  return row;
}

template <class Item>
void lock_item(Item& item) {
  if (item.entry) item.fake = item.entry->fake.lock();
}

template <class Item>
void keep_if(Item& item, bool is_equal) {
  item.is_hit = item.fake && is_equal;
  item.number = item.is_hit ? item.entry->description.number : next_number();
  // A fake that does not hit is dropped when the attempt ends, where no mutex is held.
}

}  // namespace

Conversion::~Conversion() {
  if (is_put_in_) return;
  for (const TensorItem& item : tensors_) {
    if (item.is_hit || !item.fake || autograd::meta_of(*item.fake) == nullptr) continue;
    auto grad = autograd::meta_of(*item.fake)->gradient.exchange(nullptr);
  }
}

bool Conversion::run(const MetaConverter::Use& use) {
  look_up();
  lock();
  decide();
  if (symbols_.is_documents) {
    take_expressions();
  } else if (symbols_.env) {
    make_symbols();
  }
  build();
  if (use) use(result());
  return put_in();
}

MetaConverter::Converted Conversion::result() const {
  MetaConverter::Converted result;
  for (TensorRef root : document_.roots)
    result.roots.push_back(tensors_[static_cast<size_t>(root.place)].fake);
  for (size_t i = 0; i < tensors_.size(); i++) {
    const MetaTensorDesc& row = document_.tensors[i];
    if (!tensors_[i].is_hit && (row.is_parameter || row.grad))
      result.to_wrap.push_back({tensors_[i].fake, row.is_parameter});
  }
  return result;
}

void Conversion::look_up() {
  std::lock_guard guard(converter_.mutex_);
  changes_ = converter_.changes_;
  for (const MetaStorageDesc& row : document_.storages)
    storages_.emplace_back().entry = converter_.storages_.find({document_.source, row.id.value});
  for (const MetaTensorDesc& row : document_.tensors) {
    tensors_.emplace_back().entry = converter_.tensors_.find({document_.source, row.id.value});
    VersionItem& group = version_of(row);
    group.version = row.version;
    group.entry = converter_.versions_.find({document_.source, row.version_group.value});
  }
}

void Conversion::lock() {
  for (StorageItem& item : storages_) lock_item(item);
  for (auto& [group, item] : versions_) lock_item(item);
  for (TensorItem& item : tensors_) lock_item(item);
}

void Conversion::decide() {
  for (size_t i = 0; i < storages_.size(); i++) {
    StorageItem& item = storages_[i];
    keep_if(item, item.entry && item.entry->description.kind == symbols_.kind &&
                      item.entry->description.row == without_bytes(document_.storages[i]));
  }
  for (auto& [group, item] : versions_)
    keep_if(item, item.entry && item.entry->description.version == item.version);
  for (size_t i = 0; i < tensors_.size(); i++) {
    const MetaTensorDesc& row = document_.tensors[i];
    TensorItem& item = tensors_[i];
    keep_if(item, item.entry && item.entry->description.kind == symbols_.kind &&
                      item.entry->description.row == without_references(row) &&
                      item.entry->description.storage == storage_of(row).number &&
                      item.entry->description.version == version_of(row).number);
  }
  decide_tensors();
}

void Conversion::decide_tensors() {
  std::vector<std::vector<size_t>> users(tensors_.size());
  std::vector<size_t> suspects;
  for (size_t i = 0; i < tensors_.size(); i++) {
    for (TensorRef ref : {document_.tensors[i].base, document_.tensors[i].grad}) {
      if (ref) users[static_cast<size_t>(ref.place)].push_back(i);
    }
    suspects.push_back(i);
  }
  while (!suspects.empty()) {
    size_t place = suspects.back();
    suspects.pop_back();
    TensorItem& item = tensors_[place];
    if (!item.is_hit || refers_as_before(place)) continue;
    keep_if(item, false);
    suspects.insert(suspects.end(), users[place].begin(), users[place].end());
  }
}

bool Conversion::refers_as_before(size_t place) const {
  const TensorMemo& memo = tensors_[place].entry->description;
  return leads_to(document_.tensors[place].base, memo.base) &&
         leads_to(document_.tensors[place].grad, memo.grad);
}

bool Conversion::leads_to(TensorRef ref, uint64_t number) const {
  if (!ref) return number == 0;
  const TensorItem& item = tensors_[static_cast<size_t>(ref.place)];
  return item.is_hit && item.number == number;
}

void Conversion::build() {
  for (size_t i = 0; i < storages_.size(); i++) {
    if (storages_[i].is_hit) continue;
    const MetaStorageDesc& row = document_.storages[i];
    SymInt nbytes = symbols_.env ? sym_nbytes_.at(i) : SymInt(row.nbytes.value);
    storages_[i].fake = make_intrusive<StorageImpl>(nbytes, place_of(row), row.resizable);
  }
  for (auto& [group, item] : versions_) {
    if (!item.is_hit) item.fake = make_intrusive<VersionCounter>(item.version);
  }
  for (bool views : {false, true}) {
    for (size_t i = 0; i < tensors_.size(); i++) {
      bool is_view = static_cast<bool>(document_.tensors[i].base);
      if (!tensors_[i].is_hit && is_view == views) build_tensor(i);
    }
  }
  build_grads();
}

Place Conversion::place_of(const MetaStorageDesc& row) const {
  impl::TorchDispatchMode* mode = converter_.mode_;
  if (mode == nullptr) return Device::kMeta;
  return {row.device, impl::ModePtr::retain(mode)};
}

void Conversion::build_tensor(size_t place) {
  const MetaTensorDesc& row = document_.tensors[place];
  TensorPtr base = row.base ? tensors_[static_cast<size_t>(row.base.place)].fake : nullptr;
  auto fake = make_intrusive<TensorImpl>(TensorParts{.storage = storage_of(row).fake,
                                                     .layout = layout_of(place),
                                                     .type = row.dtype,
                                                     .bits = {row.is_conj, row.is_neg},
                                                     .base = std::move(base),
                                                     .version = version_of(row).fake});
  // Former writers left out that a view requires a gradient whose node a write of its base renewed.
  bool requires_grad = row.requires_grad || !row.is_leaf;
  autograd::set_flags(*fake, requires_grad, row.is_leaf, row.creation_meta);
  if (row.grad) autograd::materialize_meta(*fake);
  tensors_[place].fake = std::move(fake);
}

void Conversion::build_grads() {
  for (size_t i = 0; i < tensors_.size(); i++) {
    TensorRef grad = document_.tensors[i].grad;
    if (tensors_[i].is_hit || !grad) continue;
    auto former = autograd::meta_of(*tensors_[i].fake)
                      ->gradient.exchange(tensors_[static_cast<size_t>(grad.place)].fake);
  }
}

bool Conversion::put_in() {
  // Made before the mutex is taken, and dropped after it: they hold what they replace.
  decltype(converter_.storages_)::Entries storages;
  decltype(converter_.versions_)::Entries versions;
  decltype(converter_.tensors_)::Entries tensors;
  uint64_t source = document_.source;
  auto add = [&](auto& entries, int64_t id, const auto& item, auto memo) {
    if (!item.is_hit) entries.try_emplace({source, id}, item.fake, std::move(memo));
  };
  for (size_t i = 0; i < storages_.size(); i++) {
    const MetaStorageDesc& row = document_.storages[i];
    add(storages, row.id.value, storages_[i],
        StorageMemo{without_bytes(row), storages_[i].number, symbols_.kind});
  }
  for (const auto& [group, item] : versions_)
    add(versions, group, item, VersionMemo{item.version, item.number});
  for (size_t i = 0; i < tensors_.size(); i++) {
    const MetaTensorDesc& row = document_.tensors[i];
    add(tensors, row.id.value, tensors_[i],
        TensorMemo{without_references(row), tensors_[i].number, storage_of(row).number,
                   version_of(row).number, number_of(row.base), number_of(row.grad),
                   symbols_.kind});
  }
  std::lock_guard guard(converter_.mutex_);
  if (converter_.changes_ != changes_) return false;
  converter_.storages_.reserve(storages.size());
  converter_.versions_.reserve(versions.size());
  converter_.tensors_.reserve(tensors.size());
  if (inputs_) inputs_->keep();  // nothing below throws
  if (!storages.empty() || !versions.empty() || !tensors.empty()) converter_.changes_++;
  converter_.storages_.put(storages);
  converter_.versions_.put(versions);
  converter_.tensors_.put(tensors);
  is_put_in_ = true;
  return true;
}

Conversion::StorageItem& Conversion::storage_of(const MetaTensorDesc& row) {
  return storages_[static_cast<size_t>(row.storage.place)];
}

Conversion::VersionItem& Conversion::version_of(const MetaTensorDesc& row) {
  return versions_[row.version_group.value];
}

uint64_t Conversion::number_of(TensorRef ref) const {
  return ref ? tensors_[static_cast<size_t>(ref.place)].number : 0;
}

}  // namespace slotcore::meta
