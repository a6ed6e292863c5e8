// TensorImpl: sizes and strides over a storage, which it owns together with other tensors. If it is
// a view, it also owns the tensor that it is a view of. What autograd knows of it is in
// core/autograd and owned through AutogradMetaInterface.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/c10/shapes/layout.h"
#include "core/c10/storage_impl.h"
#include "core/c10/tensor/autograd_meta_interface.h"
#include "core/c10/tensor/scalar_type.h"

namespace slotcore {

// The number of in-place writes to the elements. All tensors that share the elements share one
// counter: a tensor, its views, and the tensors that were detached from them.
class VersionCounter final : public intrusive_ptr_target {
 public:
  explicit VersionCounter(uint32_t count = 0) noexcept : count_(count) {}
  // Relaxed: a count orders nothing; the GIL orders the writers of elements.
  void bump() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  uint32_t value() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> count_;
};

// How the numbers are read: as stored, conjugated, negated, or both.
struct ValueBits {
  bool conj = false;
  bool neg = false;

  bool operator==(const ValueBits&) const noexcept = default;
};

// All that a tensor is but for what autograd knows of it.
struct TensorParts {
  intrusive_ptr<StorageImpl> storage;
  SymLayout layout;
  ScalarType type = ScalarType::float32;
  ValueBits bits;
  intrusive_ptr<TensorImpl> base;  // not a view; or null
  intrusive_ptr<VersionCounter> version;
};

// What a fake with symbols has instead of a layout in ints.
class ExtraMeta {
 public:
  explicit ExtraMeta(const SymLayout& layout) : layout(layout) {}

  const SymLayout layout;
  // Decides each symbol in it. The answer stays, as the guards do.
  const Layout& specialized() const;

 private:
  mutable std::mutex mutex_;  // an environment decides under it
  mutable std::optional<Layout> ints_;
};

// How many elements of a fake are not zero: a number that only the data has, as the mode named it.
// core/meta/nonzero.h has the rules.
struct NonzeroCount {
  SymInt count;
  uint32_t version;  // of the elements: a write ends it
  uint64_t writes;   // of the storage: so does one by another alias
};

class TensorImpl final : public intrusive_ptr_target {
 public:
  // A contiguous tensor over a new, resizable, zero-filled storage.
  TensorImpl(const Dims& sizes, ScalarType type, const Place& place = {});
  // A tensor over `storage`. An element that lies outside is an error only when it is touched,
  // because a storage may shrink at any time. Throws what check_layout() throws.
  TensorImpl(intrusive_ptr<StorageImpl> storage, const Layout& layout, ScalarType type);
  TensorImpl(intrusive_ptr<StorageImpl> storage, const SymLayout& layout, ScalarType type);
  // A tensor of these parts, for which sizes with symbols are known to be sizes. A view may be on
  // another storage than its base. Throws as above.
  explicit TensorImpl(TensorParts parts);
  ~TensorImpl() override;

  impl::PyObjectSlot* pyobj_slot() noexcept override { return &slot_; }

  const intrusive_ptr<StorageImpl>& storage() const noexcept { return storage_; }
  // Decides what is symbolic: an operation that has no rule for symbols takes the sizes of the
  // example, and guards say so.
  const Layout& layout() const { return extra_ == nullptr ? layout_ : extra_->specialized(); }
  const Dims& sizes() const { return layout().sizes; }
  const Dims& strides() const { return layout().strides; }
  int64_t offset() const { return layout().offset; }
  int64_t numel() const { return extra_ == nullptr ? numel_ : element_count(sizes()); }
  size_t dim() const noexcept {
    return extra_ == nullptr ? layout_.sizes.size() : extra_->layout.sizes.size();
  }
  // Whether the layout, or the size of the storage, has symbols.
  bool is_symbolic() const noexcept { return extra_ != nullptr || storage_->is_symbolic(); }
  // Decides nothing.
  SymLayout sym_layout() const { return extra_ == nullptr ? symbolic(layout_) : extra_->layout; }
  ScalarType type() const noexcept { return type_; }
  // That of its storage. A tensor never gets a storage at another place.
  const Place& place() const noexcept { return storage_->place(); }
  Device device() const noexcept { return place().device; }
  bool is_fake() const noexcept { return static_cast<bool>(place().mode); }
  bool is_contiguous() const;

  // The tensor that this is a view of, which is never a view itself; or null.
  const intrusive_ptr<TensorImpl>& base() const noexcept { return base_; }
  VersionCounter& version() const noexcept { return *version_; }
  // Counts a write of the elements.
  void note_write() const noexcept {
    version_->bump();
    storage_->note_write();
  }
  const intrusive_ptr<VersionCounter>& version_counter() const noexcept { return version_; }

  ValueBits bits() const noexcept { return bits_; }
  void set_bits(ValueBits bits) noexcept { bits_ = bits; }

  // Null for a tensor that autograd has never touched.
  AutogradMetaInterface* autograd_meta() const noexcept { return autograd_meta_.get(); }
  void set_autograd_meta(std::unique_ptr<AutogradMetaInterface> meta) noexcept {
    autograd_meta_ = std::move(meta);
  }
  // A view requires a gradient as soon as its base does.
  bool requires_grad() const noexcept {
    return (autograd_meta_ != nullptr && autograd_meta_->requires_grad()) ||
           (base_ && base_->requires_grad());
  }
  // Null for none.
  intrusive_ptr<TensorImpl> grad() const noexcept {
    return autograd_meta_ == nullptr ? nullptr : autograd_meta_->grad();
  }
  // The version at which the graph of a view was right; see Note [Views and in-place operations] in
  // core/autograd/history.h. Relaxed: a mutex there orders the writers.
  uint32_t view_version() const noexcept { return view_version_.load(std::memory_order_relaxed); }
  void set_view_version(uint32_t version) noexcept {
    view_version_.store(version, std::memory_order_relaxed);
  }

  // How many of the weak references are entries of tables of core/meta. Relaxed: orders nothing.
  uint32_t table_entries() const noexcept { return table_entries_.load(std::memory_order_relaxed); }
  void change_table_entries(int count) noexcept {
    table_entries_.fetch_add(static_cast<uint32_t>(count), std::memory_order_relaxed);
  }

  // The environment's mutex guards it. Another storage or layout ends it.
  std::unique_ptr<NonzeroCount>& nonzero_count() noexcept { return nonzero_count_; }

  // The first element. Throws what check_reach() throws, and NoDataError without bytes.
  void* checked_data() const;
  // Throws runtime_error when an element lies outside of the storage.
  void check_reach() const;
  // The address of the first element, for information: nothing is checked.
  void* data() const;

  // Changes the storage and the layout, and grows the storage if the layout reaches beyond its end.
  // Returns the former storage; the caller drops it where user code may run. Throws runtime_error,
  // also for a storage at another place, and what resize() throws; then nothing has changed.
  [[nodiscard]] intrusive_ptr<StorageImpl> exchange_storage(intrusive_ptr<StorageImpl> storage,
                                                            const Layout& layout);
  // Takes over storage, layout, type and bits of `other`, and keeps the rest. Returns the former
  // storage. Throws runtime_error when this tensor requires a gradient and the type has none, and
  // when `other` is at another place.
  [[nodiscard]] intrusive_ptr<StorageImpl> exchange_data(const TensorImpl& other);
  // Changes the number of elements, contiguous from the same offset; grows the storage if
  // necessary. Throws as exchange_storage.
  void resize(const Dims& sizes);

  // A new tensor over the same storage, of the same type and bits, with nothing else of this
  // tensor.
  intrusive_ptr<TensorImpl> alias_data() const;
  // The same, but shares the version counter.
  intrusive_ptr<TensorImpl> detach() const;
  // The same, but reads the bytes as `type`. Throws what check_layout() throws.
  template <class Int>
  intrusive_ptr<TensorImpl> detach_as(const BasicLayout<Int>& layout, ScalarType type) const;
  // A view: it shares the version counter and owns this tensor or its base. Throws what
  // check_layout() throws.
  template <class Int>
  intrusive_ptr<TensorImpl> make_view(const BasicLayout<Int>& layout) {
    return make_view(layout, type_);
  }
  // The same, but reads the bytes as `type`.
  template <class Int>
  intrusive_ptr<TensorImpl> make_view(const BasicLayout<Int>& layout, ScalarType type);

 protected:
  void release_resources() noexcept override;

 private:
  void init(const SymLayout& layout);

  intrusive_ptr<StorageImpl> storage_;
  intrusive_ptr<TensorImpl> base_;
  intrusive_ptr<VersionCounter> version_ = make_intrusive<VersionCounter>();
  impl::PyObjectSlot slot_;
  Layout layout_;  // empty with extra_
  int64_t numel_ = 0;
  std::shared_ptr<const ExtraMeta> extra_;  // null without symbols: plain tensors pay one branch
  std::unique_ptr<NonzeroCount> nonzero_count_;  // null for most
  ScalarType type_;
  ValueBits bits_;
  std::atomic<uint32_t> view_version_{0};
  std::atomic<uint32_t> table_entries_{0};
  std::unique_ptr<AutogradMetaInterface> autograd_meta_;
};

// What `rule` gives for the layouts of the tensors: in SymInts if one of them has symbols.
template <class Rule, class... Tensors>
auto with_layouts(Rule rule, const Tensors&... tensors) {
  return (tensors.is_symbolic() || ...) ? rule(tensors.sym_layout()...) : rule(tensors.layout()...);
}

}  // namespace slotcore
