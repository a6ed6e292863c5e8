// The walk from tensor to tensor. It is a queue, so a circle or a chain of a million grads needs no
// stack (M17).

#include "core/meta/describer.h"

#include <unordered_map>
#include <vector>

#include "core/autograd/history.h"
#include "core/meta/sizes/shared_env.h"

namespace slotcore::meta {
namespace {

std::string hexadecimal(const StorageImpl& storage) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * storage.nbytes());
  const auto* bytes = static_cast<const unsigned char*>(storage.data());
  for (size_t i = 0; i < storage.nbytes(); i++) {
    text.push_back(kDigits[bytes[i] >> 4]);
    text.push_back(kDigits[bytes[i] & 15]);
  }
  return text;
}

// Owns each tensor that it has found: a count that goes from 1 to 2 may wait for the GIL, so
// references are taken here, where no mutex is held.
class Walk {
 public:
  explicit Walk(const MetaTensorDescriber::Options& options) : options_(options) {}

  void run(std::span<const TensorPtr> roots) {
    for (const TensorPtr& root : roots) document->roots.push_back(visit(root));
    for (size_t i = 0; i < tensors.size(); i++) describe(i);
    if (env_) set_numbers();
  }

  std::shared_ptr<Document> document = std::make_shared<Document>();
  std::deque<TensorPtr> tensors;
  std::deque<intrusive_ptr<StorageImpl>> storages;

 private:
  TensorRef visit(const TensorPtr& tensor) {
    if (!tensor) return {};
    auto [place, is_new] = place_of(tensor.get(), tensors.size());
    if (is_new) tensors.push_back(tensor);
    return {place};
  }

  StorageRef visit_storage(const intrusive_ptr<StorageImpl>& storage) {
    auto [place, is_new] = place_of(storage.get(), storages.size());
    if (is_new) {
      storages.push_back(storage);
      MetaStorageDesc& row = document->storages.emplace_back();
      if (options_.keep_symbols) {
        row.nbytes.value =
            number_of(storage->sym_nbytes(), {SizePlace::Table::kStorages, place, "nbytes"});
      } else {
        row.nbytes.value = static_cast<int64_t>(storage->nbytes());
      }
      row.resizable = storage->resizable();
      row.device = storage->place().device;
      if (options_.copy_data && storage->place().has_bytes()) row.data = hexadecimal(*storage);
    }
    return {place};
  }

  // The place of an object, which is `next` if it is new. Not inlined, as unguided.txt names it.
  [[gnu::noinline]] std::pair<int64_t, bool> place_of(const intrusive_ptr_target* object,
                                                      size_t next) {
    auto [found, is_new] = places_.try_emplace(object, next);
    return {found->second, is_new};
  }

  void describe(size_t place) {
    TensorPtr tensor = tensors[place];
    MetaTensorDesc& row = document->tensors.emplace_back();
    row.dtype = tensor->type();
    if (options_.keep_symbols && tensor->is_symbolic()) {
      describe_layout(row, static_cast<int64_t>(place), tensor->sym_layout());
    } else {
      row.size = tensor->sizes();
      row.stride = tensor->strides();
      row.storage_offset = {tensor->offset()};
    }
    row.storage = visit_storage(tensor->storage());
    row.base = visit(tensor->base());
    if (const autograd::AutogradMeta* meta = autograd::meta_of(*tensor); meta != nullptr) {
      row.creation_meta = meta->creation_meta;
      row.requires_grad = meta->requires_grad();
    }
    row.is_leaf = autograd::is_leaf_unchanged(*tensor);
    // A stale view gets its node, and so requires a gradient itself, when it is asked for.
    row.requires_grad = row.requires_grad || !row.is_leaf;
    row.is_conj = tensor->bits().conj;
    row.is_neg = tensor->bits().neg;
    row.is_parameter = options_.is_parameter(*tensor);
    row.version = tensor->version().value();
    row.grad = visit(tensor->grad());
  }

  void describe_layout(MetaTensorDesc& row, int64_t place, const SymLayout& layout) {
    constexpr auto kTable = SizePlace::Table::kTensors;
    for (size_t i = 0; i < layout.sizes.size(); i++) {
      auto dim = static_cast<int64_t>(i);
      row.size.push_back(number_of(layout.sizes[i], {kTable, place, "size", dim}));
      row.stride.push_back(number_of(layout.strides[i], {kTable, place, "stride", dim}));
    }
    row.storage_offset = {number_of(layout.offset, {kTable, place, "storage_offset"})};
  }

  // 0 for an expression, which set_numbers() replaces.
  int64_t number_of(const SymInt& size, const SizePlace& place) {
    if (!size.is_symbolic()) return size.value();
    if (!env_) env_ = env_of(size);
    exprs_.emplace(place, expr_of(env_, size));
    return 0;
  }

  // At one moment for all of them, since another thread may decide something.
  void set_numbers() {
    auto symbols = std::make_shared<SymbolicSizes>();
    {
      std::lock_guard lock(env_->mutex);
      symbols->env = env_->env;
    }
    for (auto& [place, expr] : exprs_) {
      SizeExpr simple = symbols->env.simplify(std::move(expr));
      number_at(*document, place) = symbols->env.hint(simple);
      if (!simple.is_constant()) symbols->exprs.emplace(place, std::move(simple));
    }
    if (!symbols->exprs.empty()) document->symbols = std::move(symbols);
  }

  const MetaTensorDescriber::Options& options_;
  EnvPtr env_;  // of all symbols
  std::map<SizePlace, SizeExpr> exprs_;
  // Tensors and storages: one address is one object.
  std::unordered_map<const intrusive_ptr_target*, int64_t> places_;
};

}  // namespace

// Removes what one call has added to the tables, unless all goes well, or another call may have
// given the same ids (M14). Made and dropped without the mutex, and begun with it.
class MetaTensorDescriber::Undo {
 public:
  explicit Undo(MetaTensorDescriber& describer) : describer_(describer) {}
  ~Undo() {
    if (is_done) return;
    std::lock_guard lock(describer_.mutex_);
    if (describer_.calls_ != call_) return;
    describer_.tensors_.remove_since(tensors_);
    describer_.storages_.remove_since(storages_);
    describer_.versions_.remove_since(versions_);
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  void begin() noexcept {
    call_ = ++describer_.calls_;
    tensors_ = describer_.tensors_.next_id();
    storages_ = describer_.storages_.next_id();
    versions_ = describer_.versions_.next_id();
  }

  bool is_done = false;

 private:
  MetaTensorDescriber& describer_;
  uint64_t call_ = 0;
  int64_t tensors_ = 0, storages_ = 0, versions_ = 0;
};

MetaTensorDescriber::DocumentPtr MetaTensorDescriber::describe(std::span<const TensorPtr> roots,
                                                               const Options& options,
                                                               const Use& use) {
  Walk walk(options);
  walk.run(roots);
  walk.document->source = source_;
  Undo undo(*this);
  {
    std::lock_guard lock(mutex_);
    undo.begin();
    for (size_t i = 0; i < walk.tensors.size(); i++) {
      MetaTensorDesc& row = walk.document->tensors[i];
      row.id = {tensors_.id_of(walk.tensors[i])};
      row.version_group = {versions_.id_of(walk.tensors[i]->version_counter())};
    }
    for (size_t i = 0; i < walk.storages.size(); i++)
      walk.document->storages[i].id = {storages_.id_of(walk.storages[i])};
  }
  if (use) use(walk.document);
  undo.is_done = true;
  return walk.document;
}

void MetaTensorDescriber::sweep() {
  std::lock_guard lock(mutex_);
  tensors_.sweep();
  storages_.sweep();
  versions_.sweep();
}

MetaTensorDescriber::Sizes MetaTensorDescriber::sizes() const {
  std::lock_guard lock(mutex_);
  return {tensors_.size(), storages_.size()};
}

}  // namespace slotcore::meta
